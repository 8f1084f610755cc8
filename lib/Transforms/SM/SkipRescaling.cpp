//===- SkipRescaling.cpp - Sums whose factors are mostly one --------------===//
//
// Sums that follow a running maximum are scaled whenever it grows, which after the first
// turns is seldom: the factors of nearly all rows are one then. (FlashAttention-4 calls it
// conditional rescaling.) Nothing is approximated: x * 1 is x.
//
// In front of the loop the sum is zero. It stays so where the factor is known to be a number, as
// two to the power of what a maximum has grown by is.
//
// Where such a sum is the result of dots in flight, warps wait for these as late as there.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSkipRescaling = "mk-sm-skip-rescaling";

/// The factors of rows or columns by which an op scales an accumulator in f32; null if it does not.
static mk::BroadcastOp getFactors(arith::MulFOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !type.getElementType().isF32() || !isa_and_nonnull<MmaAttr>(type.getEncoding()))
    return {};
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<mk::BroadcastOp>())
      if (auto source = dyn_cast<RankedTensorType>(broadcast.getSource().getType());
          source && source.getEncoding() ==
                        SliceAttr::get(op.getContext(), broadcast.getDims()[0], type.getEncoding()))
        return broadcast;
  return {};
}

/// The wait for matrix ops whose only result `rescale` scales, where the work in between can be
/// done while they run; null if there is none. Warpgroups that take turns fill the tensor cores
/// while the other one works, and wait early: the order in which they come is kept so.
static MmaWaitOp getWaitBefore(RescaleOp rescale) {
  auto wait = rescale.getSource().getDefiningOp<MmaWaitOp>();
  if (!wait || wait.getPending() != 0 || wait->getBlock() != rescale->getBlock() ||
      wait.getFragments().size() != 1 || !wait.getResult(0).hasOneUse() ||
      !rescale->getBlock()->getOps<TurnWaitOp>().empty())
    return {};
  for (Operation *op = wait->getNextNode(); op != rescale; op = op->getNextNode())
    if (!isa<ReleaseOp>(op) && !isPure(op))
      return {};
  return wait;
}

/// Slots that are given back in front of `rescale` were those of its matrix ops.
static void waitLate(RescaleOp rescale, MmaWaitOp wait) {
  Operation *last = rescale;
  for (Operation *op = wait->getNextNode(), *next; op != rescale; op = next) {
    next = op->getNextNode();
    if (isa<ReleaseOp>(op)) {
      op->moveAfter(last);
      last = op;
    }
  }
  passed(rescale, kSkipRescaling) << "waits for its dots behind the work on others";
  rescale.getSourceMutable().assign(wait.getFragments()[0]);
  rescale.setInFlight(true);
  wait.erase();
}

static Value skipDefer(Value value) {
  auto defer = value.getDefiningOp<DeferOp>();
  return defer ? defer.getSource() : value;
}

/// A finite number that is the same everywhere.
static std::optional<APFloat> getNumber(Value value) {
  DenseFPElementsAttr all;
  if (!matchPattern(skipDefer(value), m_Constant(&all)) || !all.isSplat())
    return std::nullopt;
  auto number = all.getSplatValue<APFloat>();
  return number.isFinite() ? std::optional(number) : std::nullopt;
}

/// Whether a value is known to be `least` or more, and no NaN: the greater one of that and another.
static bool isAtLeast(Value value, const APFloat &least) {
  auto choice = skipDefer(value).getDefiningOp<arith::SelectOp>();
  auto compare =
      choice ? skipDefer(choice.getCondition()).getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OGT ||
      skipDefer(compare.getLhs()) != skipDefer(choice.getTrueValue()))
    return false;
  std::optional<APFloat> bound = getNumber(compare.getRhs()),
                         other = getNumber(choice.getFalseValue());
  return bound && other && *bound >= least && *other >= least;
}

/// Whether factors are known to lie between zero and one.
static bool isShare(Value factors) {
  auto power = skipDefer(factors).getDefiningOp<math::Exp2Op>();
  auto difference =
      power ? skipDefer(power.getOperand()).getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  std::optional<APFloat> from = difference ? getNumber(difference.getLhs()) : std::nullopt;
  return from && isAtLeast(difference.getRhs(), *from);
}

void mk_sm::skipRescaling(arith::MulFOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto isCarried = [&](Value value) { return llvm::is_contained(loop.getRegionIterArgs(), value); };
  mk::BroadcastOp factors = getFactors(op);
  if (!factors)
    return;
  if (Value tile = op.getLhs() == factors.getResult() ? op.getRhs() : op.getLhs();
      isZero(tile) && isShare(factors.getSource())) {
    passed(op, kSkipRescaling) << "is left out, since the sum is still zero";
    op.replaceAllUsesWith(tile);
    op.erase();
    if (factors->use_empty())
      factors.erase();
    return;
  }
  if (!loop)
    return;
  if (!llvm::is_contained(loop.getYieldedValues(), op.getResult())) {
    if (llvm::any_of(op->getOperands(), isCarried))
      missed(op, kSkipRescaling)
          << "multiplies in each iteration: what it gives is used there, and "
             "only what the loop carries on as it is may be left out";
    return;
  }
  int64_t least = mk::getSm(op).getThresholds().getGuardedElements();
  int64_t count = getNumElements(cast<RankedTensorType>(op.getType()));
  if (count < least) {
    missed(op, kSkipRescaling) << remark::add(
        "multiplies in each turn: a thread has {0} elements, and looking at "
        "factors pays from {1} on",
        count, least);
    return;
  }
  passed(op, kSkipRescaling) << "is left out by warps whose factors are one";
  OpBuilder b(op);
  Value tile = op.getLhs() == factors.getResult() ? op.getRhs() : op.getLhs();
  auto rescale = RescaleOp::create(b, op.getLoc(), op.getType(), tile, factors.getSource(),
                                   factors.getDims()[0], /*in_flight=*/false);
  op.replaceAllUsesWith(rescale.getResult());
  op.erase();
  if (factors->use_empty())
    factors.erase();
  if (MmaWaitOp wait = getWaitBefore(rescale))
    waitLate(rescale, wait);
}
