//===- Pressure.cpp - How many registers the tiles of a block take --------===//
#include "Pressure.h"
#include "Loops.h"
#include "mkernel/Analysis/OnlyStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mk_sm;

bool mk_sm::isTileRead(Operation *op) {
  auto read = dyn_cast_or_null<ReadOp>(op);
  return read && cast<RankedTensorType>(read.getType()).getRank() == 2;
}

bool mk_sm::isByElements(Operation *op) {
  bool elementwise = isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  if (auto transpose = dyn_cast<mk::TransposeOp>(op))
    elementwise = isThreadLocal(transpose);
  return (elementwise || isa<mk::BroadcastOp, mk::LoadOp>(op) || isTileRead(op)) &&
         op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
         !op->use_empty() && !isa<arith::ConstantOp>(op);
}

static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op);
}

Operation *mk_sm::findLoad(Operation *op) {
  while (op && isConversion(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<mk::LoadOp>(op) || isTileRead(op) ? op : nullptr;
}

Operation *mk_sm::findOnlyUser(Operation *op) {
  if (op->getNumResults() != 1 || !op->hasOneUse() ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return nullptr;
  Operation *from = findLoad(op);
  Operation *user = *op->user_begin();
  if (!from || user->getBlock() != op->getBlock() || from->getBlock() != op->getBlock())
    return nullptr;
  if (isConversion(user))
    return findOnlyUser(user);
  bool elementwise = isa<arith::ArithDialect, math::MathDialect>(user->getDialect());
  return elementwise && user->getNumResults() == 1 ? user : nullptr;
}

/// Of a tile whose rows are all alike a thread has each column once.
static int64_t countOf(Value value) {
  auto tile = cast<RankedTensorType>(value.getType());
  int64_t registers = countRegisters(tile);
  auto load = dyn_cast_or_null<mk::LoadOp>(findLoad(value.getDefiningOp()));
  if (!load || !load.getSpread())
    return registers;
  auto layout = cast<BlockedAttr>(tile.getEncoding());
  int64_t elements = getNumElements(tile), columns = tile.getDimSize(1);
  int64_t own = std::max<int64_t>(layout.getVector(), columns / int64_t(layout.getThreads()));
  return llvm::divideCeil(registers * std::min(own, elements), elements);
}

namespace {
/// Which tiles of a block are there whole, and until when.
class Lifetimes {
public:
  explicit Lifetimes(Block &block) : block(block), onlyStores(isByElements) {
    int64_t at = 0;
    for (Operation &op : block)
      places[&op] = at++;
  }

  /// The place of the last op for which the value has to be there: one that takes it, or what is
  /// made of it there an element at a time.
  int64_t findEnd(Value value) {
    if (auto it = ends.find(value); it != ends.end())
      return it->second;
    int64_t end = -1;
    for (Operation *user : value.getUsers()) {
      Operation *in = block.findAncestorOpInBlock(*user);
      if (!in)
        continue;
      end = std::max(end, places.lookup(in));
      if (in == user && isNeverWhole(in))
        end = std::max(end, findEnd(in->getResult(0)));
    }
    return ends[value] = end;
  }

  bool isNeverWhole(Operation *op) {
    return isByElements(op) && !isa<mk::LoadOp>(op) && (findOnlyUser(op) || onlyStores.find(op));
  }

  /// Those that are there behind `op`; with what it makes itself.
  int64_t countBehind(Operation &op, ArrayRef<Value> whole) {
    int64_t registers = 0, at = places.lookup(&op);
    for (Value value : whole)
      if (value.getDefiningOp() == &op || findEnd(value) > at)
        registers += countOf(value);
    return registers;
  }

private:
  Block &block;
  OnlyStores onlyStores;
  llvm::DenseMap<Operation *, int64_t> places;
  llvm::DenseMap<Value, int64_t> ends;
};
} // namespace

int64_t mk_sm::countPressure(Block &block) {
  Lifetimes lifetimes(block);
  SmallVector<Value> whole;
  auto add = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      whole.push_back(value);
  };
  llvm::for_each(block.getArguments(), add);
  int64_t most = 0;
  for (Operation &op : block) {
    if (!isa<arith::ConstantOp, tensor::SplatOp>(op) && !lifetimes.isNeverWhole(&op))
      llvm::for_each(op.getResults(), add);
    int64_t inside = 0;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        inside = std::max(inside, countPressure(inner));
    most = std::max(most, lifetimes.countBehind(op, whole) + inside);
  }
  return most;
}
