//===- MarkInnerStores.cpp - Stores whose leading indices exist -----------===//
//
// What a loop counts up to is known here, where loops are what the author wrote: expanded, an
// index is what divisions of an item's number leave.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Shows that an index lies in one dimension of an argument.
class Extent {
public:
  Extent(KernelOp kernel, unsigned arg, unsigned dim)
      : kernel(kernel), arg(arg), dim(dim), number(kernel.getArgExtent(arg, dim)) {}

  /// Whether `index` is 0 or more, and less than the extent.
  bool holds(Value index);

private:
  /// Whether `bound` is at most the extent.
  bool isAtLeast(Value bound);
  bool isAtLeast(int64_t bound) { return number && bound <= *number; }
  /// Whether the extent is that of this dimension of the kernel, for all ranks the same.
  bool isDim(unsigned d);
  /// Whether it is the extent that is asked for, of an argument that is divided as this one.
  bool isSameAs(memref::DimOp size);
  /// Whether a loop's index is divided by what is a factor of its end, and the rest is at most the
  /// extent.
  bool isQuotientBelow(arith::DivUIOp op);

  KernelOp kernel;
  unsigned arg, dim;
  std::optional<int64_t> number;
};
} // namespace

/// The axes of more than one rank among which a dimension of an argument is divided.
static SmallVector<Attribute> getAxes(KernelOp kernel, unsigned arg, unsigned dim) {
  SmallVector<Attribute> axes;
  MeshOp mesh = kernel.getMeshOp();
  if (ArrayAttr split = kernel.getArgSplit(arg); !split.empty())
    for (Attribute name : cast<ArrayAttr>(split[dim]))
      if (mesh.getAxis(mesh.findAxis(cast<StringAttr>(name).getValue())).getSize() != 1)
        axes.push_back(name);
  return axes;
}

bool Extent::isDim(unsigned d) {
  return kernel.getArgShape(arg).getResult(dim) == getAffineDimExpr(d, kernel.getContext()) &&
         getAxes(kernel, arg, dim).empty();
}

bool Extent::isSameAs(memref::DimOp size) {
  auto source = dyn_cast<BlockArgument>(size.getSource());
  std::optional<int64_t> index = size.getConstantIndex();
  if (!source || !index)
    return false;
  unsigned other = source.getArgNumber() - kernel.getNumDims();
  return kernel.getArgShape(other).getResult(*index) == kernel.getArgShape(arg).getResult(dim) &&
         getAxes(kernel, other, *index) == getAxes(kernel, arg, dim);
}

bool Extent::isAtLeast(Value bound) {
  if (std::optional<int64_t> constant = getConstantIntValue(bound))
    return isAtLeast(*constant);
  if (auto argument = dyn_cast<BlockArgument>(bound))
    return argument.getOwner() == &kernel.getBody().front() &&
           argument.getArgNumber() < kernel.getNumDims() && isDim(argument.getArgNumber());
  Operation *op = bound.getDefiningOp();
  if (auto size = dyn_cast<memref::DimOp>(op))
    return isSameAs(size);
  if (isa<arith::MinUIOp, arith::MinSIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) { return isAtLeast(operand); });
  return false;
}

bool Extent::isQuotientBelow(arith::DivUIOp op) {
  Value end = getLoopEnd(op.getLhs());
  if (!end)
    return false;
  std::optional<int64_t> number = getConstantIntValue(end),
                         divisor = getConstantIntValue(op.getRhs());
  if (number && divisor && *number >= 0 && *divisor > 0)
    return isAtLeast(llvm::divideCeil(*number, *divisor));
  auto product = end.getDefiningOp<arith::MulIOp>();
  return product && ((product.getLhs() == op.getRhs() && isAtLeast(product.getRhs())) ||
                     (product.getRhs() == op.getRhs() && isAtLeast(product.getLhs())));
}

bool Extent::holds(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0 && isAtLeast(*constant + 1);
  if (isa<BlockArgument>(index)) {
    Value end = getLoopEnd(index);
    return end && isAtLeast(end);
  }
  MeshOp mesh = kernel.getMeshOp();
  return llvm::TypeSwitch<Operation *, bool>(index.getDefiningOp())
      .Case([&](CoordOp op) {
        return isAtLeast(mesh.getAxis(mesh.findAxis(op.getAxis())).getSize());
      })
      .Case([&](RankOp) { return isAtLeast(mesh.getNumRanks()); })
      .Case([&](arith::MinUIOp op) { return holds(op.getLhs()) || holds(op.getRhs()); })
      .Case([&](arith::RemUIOp op) { return isAtLeast(op.getRhs()) || holds(op.getLhs()); })
      .Case([&](arith::DivUIOp op) { return isQuotientBelow(op) || holds(op.getLhs()); })
      .Case(
          [&](arith::SelectOp op) { return holds(op.getTrueValue()) && holds(op.getFalseValue()); })
      .Default(false);
}

void mk::markInnerStores(StoreOp store) {
  auto arg = dyn_cast<BlockArgument>(store.getDest());
  KernelOp kernel = getKernel(store);
  int64_t lead =
      store.getOffsets().size() - cast<RankedTensorType>(store.getTile().getType()).getRank();
  // Another rank may have more or fewer rows.
  if (!lead || !arg || store.getPeer())
    return;
  for (int64_t d = 0; d != lead; ++d)
    if (!Extent(kernel, arg.getArgNumber() - kernel.getNumDims(), d).holds(store.getOffsets()[d])) {
      mk_sm::missed(store, "mk-mark-inner-stores")
          << remark::add("checks whether index {0} exists: let it be that of a loop that ends with "
                         "the extent, a coordinate, or what a remainder by the extent leaves",
                         d);
      return;
    }
  store.setInside(true);
}
