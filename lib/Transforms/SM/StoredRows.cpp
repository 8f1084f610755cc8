//===- StoredRows.cpp - How many rows of a tile are stored ----------------===//
#include "StoredRows.h"
#include "mkernel/Analysis/Multiples.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Of any number where it is a constant factor.
static bool isMultiple(Value index, int64_t number) {
  auto product = index.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor =
      product ? getConstantIntValue(product.getRhs()) : std::optional<int64_t>();
  return (factor && *factor % number == 0) ||
         (llvm::isPowerOf2_64(number) && mk::isMultipleOf(index, number));
}

bool StoredRows::addStore(Value dest, ValueRange offsets, ValueRange valid, unsigned rank) {
  auto argument = dyn_cast<BlockArgument>(dest);
  if (!argument || !isa<mk::KernelOp>(argument.getOwner()->getParentOp()))
    return false;
  unsigned dim = offsets.size() - rank;
  stores.push_back({dest, offsets[dim], dim, valid.empty() ? Value() : valid.front()});
  return true;
}

bool StoredRows::follow(ValueRange values) {
  return llvm::all_of(values, [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return false;                      // no rows
    return !seen.insert(value).second || // around a loop
           llvm::all_of(value.getUses(), [&](OpOperand &use) { return follow(use); });
  });
}

bool StoredRows::follow(OpOperand &use) {
  unsigned number = use.getOperandNumber();
  auto rankOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()).getRank(); };
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<mk::StoreOp, StoreOp>([&](auto store) {
        return !store.getPeer() && addStore(store.getDest(), store.getOffsets(), store.getValid(),
                                            rankOf(store.getTile()));
      })
      .Case([&](MmaOp mma) { return !mma.getTransposeA() && followResult(mma.getResult()); })
      .Case([&](MmaWaitOp wait) { return followResult(wait.getResult(number)); })
      .Case([&](MmaFenceOp fence) { return followResult(fence.getResult(number)); })
      .Case([&](mk::ReduceOp reduce) {
        return reduce.getAxis() == 1 && followResult(reduce.getResult());
      })
      .Case([&](mk::BroadcastOp broadcast) {
        return llvm::equal(broadcast.getDims(), ArrayRef<int64_t>(1)) &&
               followResult(broadcast.getResult());
      })
      .Case<mk::MaskOp, PartialSumOp, DeferOp, RescaleOp>(
          [&](auto op) { return followResult(op.getResult()); })
      .Case([&](scf::ForOp loop) {
        unsigned i = number - loop.getNumControlOperands();
        return follow({loop.getRegionIterArg(i), loop.getResult(i)});
      })
      .Case([&](scf::YieldOp yield) {
        Operation *parent = yield->getParentOp();
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          return follow({loop.getRegionIterArg(number), loop.getResult(number)});
        return isa<scf::IfOp>(parent) && followResult(parent->getResult(number));
      })
      .Default([&](Operation *op) {
        return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
               followResult(op->getResult(0));
      });
}

bool StoredRows::areAll() const {
  return llvm::all_of(stores, [&](const Store &store) {
    auto argument = cast<BlockArgument>(store.dest);
    auto kernel = cast<mk::KernelOp>(argument.getOwner()->getParentOp());
    std::optional<int64_t> extent =
        kernel.getArgExtent(argument.getArgNumber() - kernel.getNumDims(), store.dim);
    return !store.valid && extent && *extent % rows == 0 && isMultiple(store.offset, rows);
  });
}

bool StoredRows::endInside() const {
  return llvm::all_of(stores, [](const Store &store) { return store.valid != nullptr; });
}

bool StoredRows::isKnownAt(Operation *op) const {
  DominanceInfo dominance;
  return llvm::all_of(stores, [&](const Store &store) {
    return dominance.properlyDominates(store.valid ? store.valid : store.offset, op);
  });
}

Value StoredRows::count(OpBuilder &b, Location loc) const {
  Value most;
  for (const Store &store : stores) {
    Value count = store.valid;
    if (!count) {
      Value extent = memref::DimOp::create(b, loc, store.dest, store.dim);
      count = arith::SubIOp::create(b, loc, extent, store.offset);
    }
    most = most ? Value(arith::MaxSIOp::create(b, loc, most, count)) : count;
  }
  return most ? most : Value(arith::ConstantIndexOp::create(b, loc, 0));
}
