//===- Structure.cpp - What needs no sizes --------------------------------===//
#include "Verify.h"
#include "mkernel/Analysis/Resources.h"

using namespace mlir;
using namespace mlir::mk;

llvm::SetVector<Value> mlir::mk::findRaised(Operation *scope) {
  llvm::SetVector<Value> raised;
  scope->walk([&](Operation *op) {
    Value signal;
    if (auto put = dyn_cast<PutOp>(op))
      signal = put.getSignal();
    else if (auto store = dyn_cast<StoreOp>(op))
      signal = store.getSignal();
    else if (auto raise = dyn_cast<SignalOp>(op))
      signal = raise.getSignal();
    if (signal)
      raised.insert(signal);
  });
  return raised;
}

static LogicalResult verifyReleasers(KernelOp kernel) {
  llvm::SetVector<Value> raised = findRaised(kernel);
  // Queues are filled.
  kernel.walk([&](PushOp push) { raised.insert(push.getQueue()); });
  LogicalResult result = success();
  kernel.walk(
      [&](Operation *op) {
        if (auto wait = dyn_cast<WaitOp>(op)) {
          auto signals = wait.getSignal().getDefiningOp<SignalsOp>();
          IntegerAttr count;
          bool none = matchPattern(wait.getCount(), m_Constant(&count)) && count.getInt() <= 0;
          if (!signals || none || raised.contains(wait.getSignal()))
            return;
          result = wait.emitOpError()
                   << "never returns: no put, store or signal of the kernel raises signal '"
                   << signals.getName() << "'; raise it where what is waited for is done";
        } else if (auto loop = dyn_cast<ForeachItemOp>(op)) {
          auto queue = loop.getQueue().getDefiningOp<QueueOp>();
          IntegerAttr count;
          bool none = matchPattern(loop.getCount(), m_Constant(&count)) && count.getInt() <= 0;
          if (!queue || none || raised.contains(loop.getQueue()))
            return;
          result = loop.emitOpError() << "waits for records for ever: nothing is pushed to queue '"
                                      << queue.getName() << "'; push one for each that is counted";
        }
      });
  return result;
}

/// Whether something between the two lets the later see what the earlier did,
/// as far as this block can tell.
static bool mayOrder(Operation *op) { return holds<WaitOp, CountOp, ForeachItemOp>(op); }

namespace {
/// A load or a store that certainly touches what is at its offsets.
struct Place {
  Operation *op;
  Value buffer;
  SmallVector<Value> offsets;
  bool write;
};
} // namespace

static std::optional<Place> findPlace(Operation *op) {
  auto at = [&](Value buffer, ValueRange offsets, bool write) {
    return Place{op, buffer, SmallVector<Value>(offsets), write};
  };
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return at(store.getMemRef(), store.getIndices(), true);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return at(load.getMemRef(), load.getIndices(), false);
  if (auto store = dyn_cast<StoreOp>(op); store && !store.getPeer() && store.getValid().empty())
    return at(store.getDest(), store.getOffsets(), true);
  if (auto load = dyn_cast<LoadOp>(op); load && load.getValid().empty() && !load.getRows())
    return at(load.getSource(), load.getOffsets(), false);
  return std::nullopt;
}

/// A load behind a store of the same block, to the same place for certain.
static LogicalResult verifyBlock(Block &block) {
  SmallVector<Place> stores;
  for (Operation &op : block) {
    if (mayOrder(&op))
      stores.clear();
    std::optional<Place> place = findPlace(&op);
    if (!place)
      continue;
    if (place->write) {
      stores.push_back(*place);
      continue;
    }
    for (const Place &store : stores)
      if (store.buffer == place->buffer && store.offsets == place->offsets) {
        InFlightDiagnostic error =
            op.emitOpError()
            << "reads what this CTA stored before, and a store is not ordered before a later load: "
               "signal behind the store and wait before the load, or use the tile itself";
        error.attachNote(store.op->getLoc()) << "stored here";
        return error;
      }
  }
  return success();
}

/// Results would be whatever was there.
static void warnOfUnwritten(KernelOp kernel) {
  llvm::SmallDenseSet<unsigned> written;
  kernel.walk([&](Operation *op) {
    if (Value buffer = getWritten(op))
      written.insert_range(getPossibleArgs(kernel, buffer));
  });
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    if (kernel.getArgKind(i) == ArgKind::Out && !written.contains(i))
      emitWarning(kernel.getKernelArg(i).getLoc())
          << "argument '" << cast<StringAttr>(kernel.getArgNames()[i]).getValue()
          << "' is an output that nothing stores: store it, or leave it out";
}

LogicalResult mlir::mk::verifyStructure(KernelOp kernel) {
  warnOfUnwritten(kernel);
  if (failed(verifyReleasers(kernel)))
    return failure();
  return failure(
      kernel.walk([](Block *block) { return WalkResult(verifyBlock(*block)); }).wasInterrupted());
}
