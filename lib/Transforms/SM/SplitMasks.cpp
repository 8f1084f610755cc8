//===- SplitMasks.cpp - Iterations without masks --------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Spread.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSplitMasks = "mk-sm-split-masks";

namespace {
/// base + slope * j, where j is the induction variable of a loop and base a
/// value outside of it (null: 0).
struct Linear {
  Value base;
  int64_t constant = 0;
  int64_t slope = 0;
};

class Splitter : mk::IndexMath {
public:
  explicit Splitter(scf::ForOp loop) : mk::IndexMath{OpBuilder(loop), loop.getLoc()}, loop(loop) {}

  void run();

private:
  Value addTo(Value a, Value c) { return a && c ? add(a, c) : a ? a : c; }
  Value scale(Value a, int64_t factor) { return a && factor != 1 ? mul(a, index(factor)) : a; }
  std::optional<Linear> analyse(Value value);
  Linear combine(Linear x, int64_t a, Linear y, int64_t c);
  /// The first iteration in which a constraint may not hold for a whole tile;
  /// nothing if that cannot be said (a remark says why), all of them if it always holds.
  std::optional<Value> firstMasked(mk::MaskOp mask);

  scf::ForOp loop;
};
} // namespace

Linear Splitter::combine(Linear x, int64_t a, Linear y, int64_t c) {
  return {addTo(scale(x.base, a), scale(y.base, c)), x.constant * a + y.constant * c,
          x.slope * a + y.slope * c};
}

std::optional<Linear> Splitter::analyse(Value value) {
  if (value == loop.getInductionVar())
    return Linear{{}, 0, 1};
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Linear{{}, *constant, 0};
  if (loop.isDefinedOutsideOfLoop(value))
    return Linear{value, 0, 0};
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Linear> x = analyse(op->getOperand(0));
  std::optional<Linear> y = analyse(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return combine(*x, 1, *y, 1);
  if (isa<arith::SubIOp>(op))
    return combine(*x, 1, *y, -1);
  auto isConstant = [](const Linear &l) { return !l.base && !l.slope; };
  if (isConstant(*y))
    return combine(*x, y->constant, {}, 0);
  if (isConstant(*x))
    return combine(*y, x->constant, {}, 0);
  return std::nullopt;
}

std::optional<Value> Splitter::firstMasked(mk::MaskOp mask) {
  IntegerSet set = mask.getSet();
  auto tile = cast<RankedTensorType>(mask.getType());
  Value end = loop.getUpperBound();
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    SmallVector<int64_t> flat; // dims, symbols, constant
    if (set.isEq(i)) {
      missed(mask, kSplitMasks) << "has an equation, which holds for no whole tile";
      return std::nullopt;
    }
    if (failed(getFlattenedAffineExpr(set.getConstraint(i), set.getNumDims(), set.getNumSymbols(),
                                      &flat)) ||
        flat.size() != set.getNumDims() + set.getNumSymbols() + 1) {
      missed(mask, kSplitMasks) << "has a constraint with divisions or remainders: write it with "
                                   "sums and constant factors";
      return std::nullopt;
    }
    // The least value over the elements of the tile.
    Linear least{{}, flat.back(), 0};
    for (unsigned d = 0; d < set.getNumDims(); ++d)
      least.constant += std::min<int64_t>(flat[d], 0) * (tile.getDimSize(d) - 1);
    for (auto [s, symbol] : llvm::enumerate(mask.getSymbols())) {
      int64_t factor = flat[set.getNumDims() + s];
      if (!factor)
        continue;
      std::optional<Linear> linear = analyse(symbol);
      if (!linear) {
        missed(mask, kSplitMasks) << "depends on a number that is no sum of multiples of the "
                                     "loop's variable and of values outside of it";
        return std::nullopt;
      }
      least = combine(least, 1, *linear, factor);
    }
    if (least.slope > 0) {
      missed(mask, kSplitMasks) << "leaves more of a tile the further the loop goes; only its last "
                                   "iterations can be split off: go through the loop from its end";
      return std::nullopt;
    }
    Value base = addTo(least.base, index(least.constant));
    Value limit;
    if (least.slope == 0) {
      Value holds = cmp(arith::CmpIPredicate::sge, base, index(0));
      limit = select(holds, loop.getUpperBound(), loop.getLowerBound());
    } else {
      // base + slope * j >= 0 up to j = floor(base / -slope).
      Value last = arith::FloorDivSIOp::create(b, loc, base, index(-least.slope));
      limit = add(last, index(1));
    }
    end = min(end, limit);
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
  SmallVector<mk::MaskOp> copies(whole.getBody()->getOps<mk::MaskOp>());
  for (mk::MaskOp mask : copies) {
    mask.replaceAllUsesWith(mask.getSource());
    mask.erase();
  }
  loop.setLowerBound(middle);
  loop.getInitArgsMutable().assign(whole.getResults());
}

void mk_sm::splitMasks(ModuleOp module) {
  for (scf::ForOp loop : getDotLoops(module))
    Splitter(loop).run();
}
