//===- ExpandSignals.cpp - Signals here, across links and networks --------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
namespace abi = ::mkernel::abi;

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

/// Some commands, each of which has room for 16 bits of the amount.
static void sendSignal(RaiseOp op, Emitter &e) {
  int64_t amount = op.getAmount(), most = UINT16_MAX;
  CountCommandsOp::create(e, llvm::divideCeil(amount, most), op.getCta());
  FenceOp::create(e, MemScope::Sys);
  Value slot = add(e, readParam(e, op.getArray() + abi::kSignalSlot), op.getElement());
  Value flags = e.c32(MK_CMD_HAS_SIGNAL | (op.getStrong() ? MK_CMD_STRONG : 0)), none = e.c64(0);
  if (op.getTeam())
    flags = or_(e, flags, op.getTeam());
  for (int64_t left = amount; left > 0; left -= most)
    CommandOp::create(e, int64_t(MK_CMD_SIGNAL), flags, op.getPeer(), op.getCta(), none, none,
                      e.c32(0), slot, std::min(left, most), *op.getReport(), op.getSpanAttr());
}

static void raise(RaiseOp op, Emitter &e) {
  Value here = add(e, readParam(e, op.getArray()), shl(e, op.getElement(), 2));
  auto reach = [&](Value address) {
    MemOrder order = op.getRelaxed() ? MemOrder::Relaxed : MemOrder::Release;
    ifFine(e,
           [&] { ReduceAddOp::create(e, order, op.getScope(), address, e.c32(op.getAmount())); });
  };
  if (!op.getPeer())
    return reach(here);
  Value heap = heapOf(e, op.getPeer());
  auto across = [&] { reach(add(e, sub(e, here, heapOf(e, ownRank(e))), heap)); };
  if (!op.getCta())
    return across();
  ifThenElse(e, ne(e, heap, 0), across, [&] { sendSignal(op, e); });
}

/// Beginning with the next one, so that not everybody writes to rank 0 first.
static void notifyPeers(NotifyPeersOp op, Emitter &e) {
  // Others of this launch may have failed, and with it peers that wait for them.
  if (op.getUnlessAborted()) {
    Value abort = LoadAtomicOp::create(e, e.i32, MemOrder::Relaxed, MemScope::Gpu,
                                       add(e, controlAddress(e), offsetof(mk_gpu_control, abort)));
    auto alive = scf::IfOp::create(e, eq(e, abort, 0), /*withElseRegion=*/false);
    e.setInsertionPointToStart(alive.thenBlock());
  }
  int64_t ranks = op.getRanks();
  Value me = ownRank(e);
  forRange(e, e.c32(1), e.c32(ranks), e.c32(1), [&](Value step) {
    Value peer = add(e, me, resize(e, step, e.i64));
    peer = select(e, uge(e, peer, ranks), sub(e, peer, ranks), peer);
    RaiseOp::create(e, op.getArray(), me, 1, MemScope::Sys, /*relaxed=*/false, peer, op.getCta(),
                    /*strong=*/false, op.getTeam(), op.getReportAttr(), op.getSpanAttr());
  });
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static void awaitSignal(AwaitSignalOp op, Emitter &e) {
  Value offset = shl(e, op.getElement(), 2), net;
  if (op.getNet())
    net = add(e, readParam(e, op.getArray() + abi::kSignalNet), offset);
  WaitWordOp::create(e, op.getScope(), add(e, readParam(e, op.getArray()), offset), op.getWanted(),
                     /*equal=*/false, op.getCount(), net, op.getLeader(),
                     /*element=*/Value(), op.getArrayAttr(), op.getReport(), op.getSpanAttr());
  FenceAsyncOp::create(e, /*shared=*/false, /*global=*/true);
}

/// An element of the launch's own signals.
template <typename OpT> static void awaitRank(OpT op, Emitter &e, Value rank, SpanAttr span) {
  AwaitSignalOp::create(e, MemScope::Sys, op.getArray(), rank, op.getNet(), op.getWanted(),
                        e.c32(1),
                        /*leader=*/Value(), op.getReport(), span);
}

static SmallVector<Value> awaitPeer(AwaitPeerOp op, Emitter &e) {
  Value peer = op.getPeer(), seen = op.getSeen();
  Value waits = ne(e, peer, ownRank(e)), bit;
  bool isKept = op.getRanks() <= 32;
  if (isKept) {
    bit = shl(e, e.c32(1), resize(e, peer, e.i32));
    waits = and_(e, waits, eq(e, and_(e, seen, bit), 0));
  }
  auto wait = [&]() -> SmallVector<Value> {
    awaitRank(op, e, peer, op.getSpanAttr());
    return {isKept ? or_(e, seen, bit) : seen};
  };
  return choose(e, waits, wait, [&]() -> SmallVector<Value> { return {seen}; });
}

static void awaitPeers(AwaitPeersOp op, Emitter &e) {
  Value me = resize(e, ownRank(e), e.i32);
  forRange(e, op.getThread(), e.c32(op.getRanks()), e.c32(op.getThreads()), [&](Value peer) {
    ifThen(e, ne(e, peer, me), [&] { awaitRank(op, e, resize(e, peer, e.i64), SpanAttr()); });
  });
}

void mk_thread::expandSignals(ModuleOp module) {
  expandEach<NotifyPeersOp>(module, notifyPeers);
  expandEach<RaiseOp>(module, raise);
  replaceEach<AwaitPeerOp>(module, awaitPeer);
  expandEach<AwaitPeersOp>(module, awaitPeers);
  expandEach<AwaitSignalOp>(module, awaitSignal);
}
