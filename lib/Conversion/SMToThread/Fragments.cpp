//===- Fragments.cpp - Ops on what a thread holds of a tile ---------------===//
#include "Lowerings.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static void lowerMask(MaskOp op, PartitionBuilder &p) {
  SmallVector<Value> source = p.elements(op.getSource()), symbols = p.scalars(op.getSymbols());
  Value thread = p.readThreadInPartition();
  p.set(op,
        mk_thread::MaskElementsOp::create(p, TypeRange(ValueRange(source)), source, op.getType(),
                                          op.getSet(), symbols, p.scalar(op.getOtherwise()), thread)
            .getResults());
}

/// What follows from the thread, and a constant: no element needs a register of its own.
static void lowerIota(IotaOp op, PartitionBuilder &p) {
  auto type = cast<RankedTensorType>(op.getType());
  mk_thread::Places places(p, type, p.readThreadInPartition());
  SmallVector<Value> numbers;
  for (int64_t i = 0, e = getNumElements(type); i != e; ++i) {
    mk_thread::Place place = places.at(i);
    Value index = add(p, place.base[op.getAxis()], place.offset[op.getAxis()]);
    numbers.push_back(resize(p, index, type.getElementType()));
  }
  p.set(op, numbers);
}

static void lowerRescale(RescaleOp op, PartitionBuilder &p) {
  SmallVector<Value> factors = p.elements(op.getFactors()), source = p.elements(op.getSource());
  p.set(op, mk_thread::ScaleElementsOp::create(p, TypeRange(ValueRange(source)), source,
                                               op.getSource().getType(), factors, op.getAxis(),
                                               op.getInFlight())
                .getResults());
}

/// A quotient or remainder of indices that fit into a word: a fraction of the instructions of a
/// division of 64 bits, in front of an item's first copy. Null for other ops.
static Value divideWords(Operation *op, PartitionBuilder &p) {
  auto isWord = [&](Value value) {
    std::optional<ConstantIntRanges> range = p.info.findRange(value);
    return range && range->umax().ule(UINT32_MAX);
  };
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op) || !op->getResult(0).getType().isIndex() ||
      !llvm::all_of(op->getOperands(), isWord))
    return {};
  auto [x, y] = std::pair(resize(p, p.scalar(op->getOperand(0)), p.i32),
                          resize(p, p.scalar(op->getOperand(1)), p.i32));
  Value result = isa<arith::DivUIOp>(op) ? Value(p.createOrFold<arith::DivUIOp>(x, y))
                                         : p.createOrFold<arith::RemUIOp>(x, y);
  return resize(p, result, p.i64);
}

LogicalResult sm::lowerElementwise(Operation *op, PartitionBuilder &p) {
  if (!mk_thread::hasCode(op))
    return refuse(op);
  if (isa<RankedTensorType>(op->getResult(0).getType()))
    p.setFragment(op, [&] {
      OperationState state(p.getLoc(), op->getName(), p.scalars(op->getOperands()),
                           op->getResultTypes(), op->getAttrs());
      return p.create(state);
    });
  else if (Value result = divideWords(op, p))
    p.set(op->getResult(0), result);
  else
    p.set(op->getResult(0), mk_thread::compute(p, op, p.scalars(op->getOperands())));
  return success();
}

void sm::populateFragmentLowerings(LoweringTable &table) {
  table.add(
      lowerMask, lowerIota, lowerRescale,
      // What they say the ops say that make the tile, and take it (setFragment, StoreFragmentOp).
      [](DeferOp op, PartitionBuilder &p) {
        p.set(op, p.scalar(op.getSource()));
        if (auto ahead = int32_t(op.getAhead()))
          mk_thread::LoadAheadOp::create(p, llvm::to_vector(llvm::seq<int32_t>(0, ahead)),
                                         p.scalar(op.getSource()));
      },
      [](MaterializeOp op, PartitionBuilder &p) { p.set(op, p.scalar(op.getSource())); },
      [](ReadOp op, PartitionBuilder &p) {
        auto type = cast<RankedTensorType>(op.getFragment().getType());
        auto first = cast<StagedType>(op.getTiles().front().getType()).getTile();
        p.setFragment(op, [&] {
          Value thread = type.getRank() == 1 ? p.partitionThread : p.readThreadInPartition();
          return mk_thread::ReadElementsOp::create(
              p, getElementTypes(type),
              llvm::to_vector(llvm::seq<int32_t>(0, getNumElements(type))), type,
              p.scalars(op.getTiles()), first.getShape().back(), thread);
        });
      },
      [](ub::PoisonOp op, PartitionBuilder &p) {
        Type type = getRegisterType(getElementTypeOrSelf(op.getType()));
        auto tile = dyn_cast<RankedTensorType>(op.getType());
        p.set(op,
              SmallVector<Value>(tile ? getNumElements(tile) : 1, LLVM::PoisonOp::create(p, type)));
      },
      [](tensor::SplatOp op, PartitionBuilder &p) {
        p.set(op, SmallVector<Value>(getNumElements(op.getType()), p.scalar(op.getInput())));
      });
}
