//===- Loops.cpp - What the SM level's passes ask of loops ----------------===//
#include "Loops.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

SmallVector<scf::ForOp> mk_sm::getDotLoops(ModuleOp module) {
  SmallVector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) {
    auto partition = loop->getParentOfType<PartitionOp>();
    if (!partition || partition.getKind() != PartitionKind::Consumer)
      return;
    bool dots = false, nested = false;
    for (Operation &op : *loop.getBody()) {
      dots |= isa<MmaOp>(op);
      op.walk([&](Operation *inner) {
        nested |= isa<LoopLikeOpInterface>(inner) || (isa<MmaOp>(inner) && inner != &op);
      });
    }
    if (dots && !nested)
      loops.push_back(loop);
  });
  return loops;
}

bool mk_sm::stores(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<mk::StoreOp, mk_sm::StoreOp>);
}

SmallVector<scf::ForOp> mk_sm::getPlainLoops(ModuleOp module) {
  SmallVector<scf::ForOp> loops;
  module.walk([&](PartitionOp partition) {
    if (partition.getKind() != PartitionKind::Consumer)
      return;
    partition.walk([&](scf::ForOp loop) {
      auto holdsBack = [&](Operation *op) {
        bool isPlain =
            isMemoryEffectFree(op) ||
            isa<mk::LoadOp, memref::LoadOp, mk::StoreOp, mk_sm::StoreOp, scf::YieldOp>(op);
        return op != loop && (op->getNumRegions() || isa<MmaOp>(op) || !isPlain);
      };
      if (loop.getInductionVar().getType().isIndex() && !mk::holdsAny(loop, holdsBack))
        loops.push_back(loop);
    });
  });
  return loops;
}

bool mk_sm::computesBetweenDots(scf::ForOp loop) {
  auto isFragmentWork = [](Operation &op) {
    return !isa<MmaOp, MmaFenceOp, MmaWaitOp, scf::YieldOp>(op) &&
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  };
  return llvm::any_of(*loop.getBody(), isFragmentWork) &&
         llvm::range_size(loop.getBody()->getOps<MmaOp>()) >= 2;
}

bool mk_sm::isZero(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         isa<FloatType>(elements.getElementType()) && elements.getSplatValue<APFloat>().isPosZero();
}

Value mk_sm::skipFence(Value value) {
  if (auto fence = value.getDefiningOp<MmaFenceOp>())
    return fence.getFragments()[cast<OpResult>(value).getResultNumber()];
  return value;
}

MmaWaitOp mk_sm::getFullWait(Value value, unsigned &result) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto wait = dyn_cast<MmaWaitOp>(use.getOwner());
  if (!wait || wait.getPending() != 0 || wait->getBlock() != value.getParentBlock())
    return {};
  result = use.getOperandNumber();
  return wait;
}

bool mk_sm::onlyReads(Operation *op) {
  if (isMemoryEffectFree(op) || isa<mk::LoadOp, memref::LoadOp>(op))
    return true;
  return isa<MmaOp, MmaFenceOp, MmaWaitOp, WaitOp, TileOp, ReadOp, ReleaseOp>(op);
}

bool mk_sm::isRemainder(scf::ForOp loop) {
  return llvm::any_of(loop->getUsers(), llvm::IsaPred<scf::ForOp>) ||
         llvm::any_of(loop.getInitArgs(),
                      [](Value init) { return init.getDefiningOp<scf::ForOp>() != nullptr; });
}

bool mk_sm::hasRoomToKeep(scf::ForOp loop) {
  mk::SmAttr sm = mk::getSm(loop);
  int64_t bytes = 0;
  for (auto ring : loop->getParentOfType<PartitionOp>()->getParentRegion()->getOps<CreateRingOp>())
    bytes += ring.getResult().getType().getSlotBytes(sm.getChunk());
  return (sm.getThresholds().getBusySlots() + 1) * bytes <= sm.getShared();
}

Value mk_sm::hasIterations(OpBuilder &b, scf::ForOp loop) {
  return arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(),
                               loop.getUpperBound());
}

scf::IfOp mk_sm::branchOnIterations(OpBuilder &b, scf::ForOp loop) {
  auto branch = scf::IfOp::create(b, loop.getLoc(), loop.getResultTypes(), hasIterations(b, loop),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loop.getLoc(), loop.getInitArgs());
  b.setInsertionPointToEnd(branch.thenBlock());
  return branch;
}

//===----------------------------------------------------------------------===//
// Loads for a later iteration
//===----------------------------------------------------------------------===//

/// Adds what `value` is computed from in the body; false if that is more than the number of
/// the iteration, and scalars.
static bool addScalars(Value value, const Counted &loop, llvm::SetVector<Operation *> &slice) {
  Region &body = loop.loop->getRegion(0);
  if (value.getParentRegion() != &body)
    return !body.isAncestor(value.getParentRegion());
  if (llvm::is_contained(loop.counters, value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || isa<RankedTensorType>(value.getType()))
    return false;
  // Loads of items are done for those that exist: what these divide by is no 0.
  if (!isPure(op) && !(isa<ItemsOp>(loop.loop) && isMemoryEffectFree(op)))
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!addScalars(operand, loop, slice))
      return false;
  slice.insert(op);
  return true;
}

int64_t mk_sm::countRegisters(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  int64_t elements = tile ? getNumElements(tile) : 1;
  // Neighbours share a register, which others do not.
  auto blocked = tile ? dyn_cast_or_null<BlockedAttr>(tile.getEncoding()) : BlockedAttr();
  if (blocked && blocked.getVector() == 1)
    return elements * llvm::divideCeil(tile.getElementTypeBitWidth(), 32);
  int64_t bits = type.isIndex() || !getElementTypeOrSelf(type).isIntOrFloat()
                     ? 64
                     : getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return llvm::divideCeil(std::max<int64_t>(elements, 1) * std::max<int64_t>(bits, 8), 32);
}

int64_t mk_sm::countOver(scf::ForOp loop) {
  int64_t registers = 0;
  for (Operation *in = loop; !isa<PartitionOp>(in); in = in->getParentOp()) {
    auto isUsedLater = [&](Operation *user) {
      Operation *top = in->getBlock()->findAncestorOpInBlock(*user);
      return top && user != loop && (top == in || in->isBeforeInBlock(top));
    };
    auto count = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()) && llvm::any_of(value.getUsers(), isUsedLater))
        registers += countRegisters(value.getType());
    };
    llvm::for_each(in->getBlock()->getArguments(), count);
    for (Operation &op : llvm::make_range(in->getBlock()->begin(), in->getIterator()))
      if (!op.hasTrait<OpTrait::ConstantLike>())
        llvm::for_each(op.getResults(), count);
  }
  return registers;
}

int64_t mk_sm::countFree(scf::ForOp loop) {
  mk::RegisterReserveAttr reserve = mk::getSm(loop).getRegisters().getReserve();
  return int64_t(loop->getParentOfType<PartitionOp>().getRegisters()) - reserve.getScalars() -
         reserve.getIdle() - countOver(loop);
}

/// Whether the op loads what no other item writes.
static bool isOwn(Operation *op) {
  auto load = dyn_cast<mk::LoadOp>(op);
  return load && load.getOwn();
}

SmallVector<Operation *> mk_sm::getEarlyLoads(Counted loop, int64_t most, bool nothingIsWritten,
                                              function_ref<void(Operation *, StringRef)> giveUp,
                                              function_ref<bool(Operation *)> isWanted) {
  SmallVector<Operation *> loads;
  int64_t registers = 0;
  for (Operation &op : *loop.getBody()) {
    Value source = isa<mk::LoadOp>(op)       ? cast<mk::LoadOp>(op).getSource()
                   : isa<memref::LoadOp>(op) ? cast<memref::LoadOp>(op).getMemRef()
                                             : Value();
    // What the loop only carries on is for a later iteration already.
    bool used = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user->getBlock() != loop.getBody() || !user->hasTrait<OpTrait::IsTerminator>();
    });
    if (!source || !used || (isWanted && !isWanted(&op)))
      continue;
    llvm::SetVector<Operation *> slice;
    int64_t more = countRegisters(op.getResult(0).getType());
    auto tile = dyn_cast<mk::LoadOp>(op);
    bool isWritten = tile ? !mk::readsNeverWritten(tile) : !mk::isNeverWritten(source);
    if (!nothingIsWritten && isWritten && !isOwn(&op)) {
      giveUp(&op, "its buffer may be written meanwhile; load it in front of the loop");
    } else if (!llvm::all_of(op.getOperands(),
                             [&](Value operand) { return addScalars(operand, loop, slice); })) {
      giveUp(&op, "its place does not follow from the iteration alone; compute it from that");
    } else if (registers + more > most) {
      giveUp(&op, "with other loads it takes too many registers to be carried; load it in front of "
                  "the loop, or let fewer rows be a tile");
    } else {
      registers += more;
      loads.push_back(&op);
    }
  }
  return loads;
}

SmallVector<Value> mk_sm::loadEarly(OpBuilder &b, const Counted &loop, ArrayRef<Operation *> loads,
                                    ValueRange counters) {
  llvm::SetVector<Operation *> slice;
  for (Operation *load : loads) {
    for (Value operand : load->getOperands())
      addScalars(operand, loop, slice);
    slice.insert(load);
  }
  IRMapping map;
  map.map(ValueRange(loop.counters), counters);
  for (Operation *op : slice)
    b.clone(*op, map);
  return llvm::map_to_vector(loads,
                             [&](Operation *load) { return map.lookup(load->getResult(0)); });
}

SmallVector<Value> mk_sm::loadEarlyIf(OpBuilder &b, Value condition, const Counted &loop,
                                      ArrayRef<Operation *> loads, ArrayRef<Value> iterations) {
  size_t each = loop.counters.size();
  auto choice = scf::IfOp::create(
      b, loop.loop->getLoc(), condition,
      [&](OpBuilder &inner, Location loc) {
        SmallVector<Value> values;
        for (size_t i = 0; i != iterations.size(); i += each)
          llvm::append_range(values, loadEarly(inner, loop, loads, iterations.slice(i, each)));
        scf::YieldOp::create(inner, loc, values);
      },
      [&](OpBuilder &inner, Location loc) {
        SmallVector<Value> zeros;
        for (size_t i = 0; i != iterations.size(); i += each)
          for (Operation *load : loads)
            zeros.push_back(arith::ConstantOp::create(
                inner, loc, cast<TypedAttr>(inner.getZeroAttr(load->getResult(0).getType()))));
        scf::YieldOp::create(inner, loc, zeros);
      });
  return SmallVector<Value>(choice.getResults());
}
