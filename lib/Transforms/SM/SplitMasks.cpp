//===- SplitMasks.cpp - Iterations without masks --------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "MaskLimits.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Spread.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSplitMasks = "mk-sm-split-masks";

namespace {
class Splitter : MaskLimits {
public:
  using MaskLimits::MaskLimits;
  void run();

private:
  /// The first iteration in which a constraint may not hold for a whole tile;
  /// nothing if that cannot be said (a remark says why), all of them if it always holds.
  std::optional<Value> firstMasked(mk::MaskOp mask);
};
} // namespace

std::optional<Value> Splitter::firstMasked(mk::MaskOp mask) {
  auto tile = cast<RankedTensorType>(mask.getType());
  // Where it is least.
  auto element = [&](unsigned d, int64_t factor) {
    return Linear{{}, std::min<int64_t>(factor, 0) * (tile.getDimSize(d) - 1), 0};
  };
  auto giveUp = [&](StringRef why) { missed(mask, kSplitMasks) << why.str(); };
  Value end = loop.getUpperBound();
  for (unsigned i = 0; i < mask.getSet().getNumConstraints(); ++i) {
    std::optional<Value> first = findFirstBroken(mask, i, element, giveUp);
    if (!first)
      return std::nullopt;
    end = min(end, *first);
  }
  return end;
}

void Splitter::run() {
  SmallVector<mk::MaskOp> masks;
  for (Operation &op : *loop.getBody())
    if (auto mask = dyn_cast<mk::MaskOp>(op); mask && !mk::isSpread(mask)) // else it costs nothing
      masks.push_back(mask);
  if (masks.empty())
    return;
  if (getConstantIntValue(loop.getStep()) != 1) {
    missed(loop, kSplitMasks) << "has masks in a loop whose step is not 1: count iterations";
    return;
  }
  // Arithmetic of a loop that is not split after all is dead, and dropped later.
  Value middle = loop.getUpperBound();
  for (mk::MaskOp mask : masks) {
    std::optional<Value> end = firstMasked(mask);
    if (!end)
      return;
    middle = min(middle, *end);
  }
  middle = max(middle, loop.getLowerBound());

  passed(loop, kSplitMasks) << remark::add(
      "is split into iterations without masks and some with {0}", masks.size());
  IRMapping mapping;
  auto whole = cast<scf::ForOp>(b.clone(*loop, mapping));
  whole.setUpperBound(middle);
  // Others, which cost nothing, stay: nobody has asked when these hold.
  for (mk::MaskOp mask : masks) {
    auto copy = mapping.lookup(mask.getResult()).getDefiningOp<mk::MaskOp>();
    copy.replaceAllUsesWith(copy.getSource());
    copy.erase();
  }
  loop.setLowerBound(middle);
  loop.getInitArgsMutable().assign(whole.getResults());
}

void mk_sm::splitMasks(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    Splitter(loop).run();
}
