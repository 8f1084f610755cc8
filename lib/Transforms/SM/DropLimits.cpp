//===- DropLimits.cpp - Whole boxes where the rest of a tile is dropped ---===//
//
// A tile that a dot multiplies comes by the copy engine, which knows no end but the argument's.
// Rows behind a `valid` become rows or columns of a product; where these are never seen, since
// every store ends at the same number or a mask replaces them, they need no zeros. What lies along
// the dimension that a dot sums over is always seen: nothing times a NaN is zero.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kDropLimits = "mk-sm-drop-limits";

namespace {
/// Follows what lies behind index `limit` of a dimension of a tile.
class PaddingUses {
public:
  explicit PaddingUses(Value limit) : limit(limit) {}

  /// Whether nothing of it is seen by any user of the tile.
  bool isDropped(Value tile, int64_t dim) {
    if (!seen.insert({tile, dim}).second)
      return true; // around a loop
    return llvm::all_of(tile.getUses(), [&](OpOperand &use) { return isDropped(use, dim); });
  }

private:
  bool isDropped(OpOperand &use, int64_t dim);
  bool isDropped(mk::DotOp dot, unsigned operand, int64_t dim);
  bool isDropped(mk::MaskOp mask, int64_t dim);
  bool isYieldDropped(Operation *parent, unsigned number, int64_t dim);

  Value limit;
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
};
} // namespace

bool PaddingUses::isDropped(mk::DotOp dot, unsigned operand, int64_t dim) {
  if (operand == 2)
    return isDropped(dot.getResult(), dim);
  bool transposed = operand ? dot.getTransposeB() : dot.getTransposeA();
  // The left one is M x K, the right one K x N.
  bool isSummed = (dim == (operand ? 0 : 1)) != transposed;
  return !isSummed && isDropped(dot.getResult(), operand);
}

/// Whether the mask keeps nothing with an index of `limit` or more: a constraint says limit - 1 -
/// index >= 0.
bool PaddingUses::isDropped(mk::MaskOp mask, int64_t dim) {
  IntegerSet set = mask.getSet();
  MLIRContext *context = mask.getContext();
  for (auto [s, symbol] : llvm::enumerate(mask.getSymbols())) {
    if (symbol != limit)
      continue;
    AffineExpr end = getAffineSymbolExpr(s, context) - 1 - getAffineDimExpr(dim, context);
    for (unsigned i = 0; i != set.getNumConstraints(); ++i)
      if (!set.isEq(i) &&
          simplifyAffineExpr(set.getConstraint(i) - end, set.getNumDims(), set.getNumSymbols()) ==
              getAffineConstantExpr(0, context))
        return true;
  }
  return isDropped(mask.getResult(), dim);
}

bool PaddingUses::isYieldDropped(Operation *parent, unsigned number, int64_t dim) {
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return isDropped(loop.getRegionIterArg(number), dim) && isDropped(loop.getResult(number), dim);
  return isa<scf::IfOp>(parent) && isDropped(parent->getResult(number), dim);
}

bool PaddingUses::isDropped(OpOperand &use, int64_t dim) {
  unsigned number = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case([&](mk::DotOp dot) { return isDropped(dot, number, dim); })
      .Case([&](mk::MaskOp mask) { return isDropped(mask, dim); })
      .Case([&](mk::StoreOp store) {
        return !store.getValid().empty() && store.getValid()[dim] == limit;
      })
      .Case([&](mk::ReduceOp reduce) {
        int64_t axis = reduce.getAxis();
        return axis != dim && isDropped(reduce.getResult(), dim - (axis < dim));
      })
      .Case([&](mk::BroadcastOp broadcast) {
        ArrayRef<int64_t> added = broadcast.getDims();
        int64_t to = -1;
        for (int64_t kept = -1; kept != dim; kept += !llvm::is_contained(added, to))
          ++to;
        return isDropped(broadcast.getResult(), to);
      })
      .Case([&](mk::TransposeOp transpose) { return isDropped(transpose.getResult(), 1 - dim); })
      .Case([&](scf::ForOp loop) {
        return isYieldDropped(loop, number - loop.getNumControlOperands(), dim);
      })
      .Case([&](scf::YieldOp yield) { return isYieldDropped(yield->getParentOp(), number, dim); })
      .Default([&](Operation *op) {
        return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
               isDropped(op->getResult(0), dim);
      });
}

static bool isMultiplied(OpOperand &use) {
  return isa<mk::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
}

void mk_sm::dropLimits(mk::LoadOp load) {
  // Other tiles are loaded by threads, which know where one ends.
  // Of gathered rows, those that are not valid are not looked up, so their limit stays.
  if (load->use_empty() || load.getRows() ||
      !(load.getStaged() || llvm::all_of(load->getUses(), isMultiplied)))
    return;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
  OpBuilder b(load);
  for (auto [d, end] : llvm::enumerate(load.getValid())) {
    if (std::optional<int64_t> number = getConstantIntValue(end); number && *number >= shape[d])
      continue;
    if (!PaddingUses(end).isDropped(load.getResult(), d)) {
      analysis(load, kDropLimits) << remark::add(
          "is written over behind the end of dimension {0}, where that is not its argument's: its "
          "product shows what lies there",
          int64_t(d));
      continue;
    }
    passed(load, kDropLimits) << remark::add(
        "is loaded whole along dimension {0}: nothing of its product is seen behind its end",
        int64_t(d));
    load.getValidMutable()[d].set(arith::ConstantIndexOp::create(b, load.getLoc(), shape[d]));
  }
}
