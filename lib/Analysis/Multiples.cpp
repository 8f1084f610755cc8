//===- Multiples.cpp - What an index is a multiple of ---------------------===//
//
// Powers of two alone: such a one divides a sum, a product or a difference also where that wraps
// around.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Multiples.h"

#include "mkernel/Dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// How many times two divides a value.
class Twos {
public:
  using Known = llvm::function_ref<std::optional<int64_t>(Value)>;

  /// Without `known` a value that nothing is known of may be odd.
  explicit Twos(Known known = nullptr) : known(known) {}

  unsigned of(Value value) {
    // Shared terms are looked at once for each use.
    if (++visited > kMostVisited)
      return 0;
    if (std::optional<int64_t> number = getConstantIntValue(value))
      return ofNumber(*number);
    if (known)
      if (std::optional<int64_t> number = known(value))
        return ofNumber(*number);
    // A value that a loop carries is divided by what divides its first value and what each turn
    // adds: the value itself does not limit that.
    if (!open.insert(value).second)
      return kAll;
    unsigned twos = isa<BlockArgument>(value) ? ofArgument(cast<BlockArgument>(value))
                                              : ofResult(cast<OpResult>(value));
    open.erase(value);
    return twos;
  }

private:
  static constexpr unsigned kAll = 63, kMostVisited = 1000;

  static unsigned ofNumber(int64_t number) {
    return number ? llvm::countr_zero(uint64_t(number)) : kAll;
  }
  unsigned ofAll(ValueRange values) {
    unsigned least = kAll;
    for (Value value : values)
      least = std::min(least, of(value));
    return least;
  }

  unsigned ofUnknown() const { return known ? kAll : 0; }
  unsigned ofExtent(std::optional<int64_t> extent) const {
    return extent ? ofNumber(*extent) : ofUnknown();
  }

  unsigned ofArgument(BlockArgument value) {
    if (auto kernel = dyn_cast<KernelOp>(value.getOwner()->getParentOp()))
      return ofExtent(kernel.getDimSize(value.getArgNumber()));
    Operation *parent = value.getOwner()->getParentOp();
    // What counts items or turns takes all values.
    if (isa<ForeachOp>(parent) || (isa<FoldOp>(parent) && value.getArgNumber() == 0))
      return 0;
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return ofUnknown();
    if (value == loop.getInductionVar())
      return ofAll({loop.getLowerBound(), loop.getStep()});
    return ofAll({loop.getTiedLoopInit(value)->get(), loop.getTiedLoopYieldedValue(value)->get()});
  }

  unsigned ofResult(OpResult value) {
    unsigned i = value.getResultNumber();
    return llvm::TypeSwitch<Operation *, unsigned>(value.getOwner())
        .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp,
              arith::MaxUIOp, arith::RemSIOp, arith::RemUIOp, arith::IndexCastOp,
              arith::IndexCastUIOp>([&](Operation *op) { return ofAll(op->getOperands()); })
        .Case([&](arith::MulIOp op) { return std::min(of(op.getLhs()) + of(op.getRhs()), kAll); })
        .Case([&](arith::SelectOp op) {
          return ofAll({op.getTrueValue(), op.getFalseValue()});
        })
        .Case([&](scf::IfOp op) {
          return ofAll({op.thenYield().getOperand(i), op.elseYield().getOperand(i)});
        })
        .Case([&](scf::ForOp op) {
          return ofAll({op.getInits()[i], op.getYieldedValues()[i]});
        })
        .Case([&](memref::DimOp op) {
          auto kernel = op->getParentOfType<KernelOp>();
          auto buffer = dyn_cast<BlockArgument>(op.getSource());
          std::optional<int64_t> d = op.getConstantIndex();
          if (!kernel || !buffer || buffer.getOwner() != &kernel.getBody().front() || !d ||
              *d < 0 || *d >= cast<MemRefType>(buffer.getType()).getRank())
            return ofUnknown();
          return ofExtent(kernel.getArgExtent(buffer.getArgNumber() - kernel.getNumDims(), *d));
        })
        .Default(ofUnknown());
  }

  Known known;
  llvm::SmallPtrSet<Value, 16> open;
  unsigned visited = 0;
};
} // namespace

bool mk::isMultipleOf(Value index, int64_t number) {
  return Twos().of(index) >= unsigned(llvm::countr_zero(uint64_t(number)));
}

bool mk::isProbablyMultipleOf(Value index, int64_t number,
                              llvm::function_ref<std::optional<int64_t>(Value)> known) {
  return Twos(known).of(index) >= unsigned(llvm::countr_zero(uint64_t(number)));
}
