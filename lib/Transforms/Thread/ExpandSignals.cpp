//===- ExpandSignals.cpp - Signals here, across links and networks --------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/GpuParams.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;
namespace abi = ::mkernel::abi;

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

/// Some commands, each of which has room for 16 bits of the amount.
static void sendSignal(RaiseOp op, Emitter &e) {
  int64_t amount = op.getAmount(), most = UINT16_MAX;
  e.create<CountCommandsOp>(llvm::divideCeil(amount, most), op.getCta());
  e.fence(MemScope::Sys);
  Value slot = e.add(e.loadParam(op.getArray() + abi::kSignalSlot, e.i64), op.getElement());
  Value flags = e.c32(MK_CMD_HAS_SIGNAL | (op.getStrong() ? MK_CMD_STRONG : 0)), none = e.c64(0);
  if (op.getTeam())
    flags = e.or_(flags, op.getTeam());
  for (int64_t left = amount; left > 0; left -= most)
    e.create<CommandOp>(int64_t(MK_CMD_SIGNAL), flags, op.getPeer(), op.getCta(), none, none,
                        e.c32(0), slot, std::min(left, most), *op.getReport(), op.getSpanAttr());
}

static void raise(RaiseOp op, Emitter &e) {
  Value here = e.add(e.loadParam(op.getArray(), e.i64), e.shl(op.getElement(), 2));
  auto reach = [&](Value address) {
    MemOrder order = op.getRelaxed() ? MemOrder::Relaxed : MemOrder::Release;
    e.ifFine([&] { e.reduceAdd(address, e.c32(op.getAmount()), order, op.getScope()); });
  };
  if (!op.getPeer())
    return reach(here);
  Value heap = e.heapOf(op.getPeer());
  auto across = [&] { reach(e.add(e.sub(here, e.heapOf(e.ownRank())), heap)); };
  if (!op.getCta())
    return across();
  e.ifThenElse(e.cmp(Predicate::ne, heap, 0), across, [&] { sendSignal(op, e); });
}

/// Beginning with the next one, so that not everybody writes to rank 0 first.
static void notifyPeers(NotifyPeersOp op, Emitter &e) {
  // Others of this launch may have failed, and with it peers that wait for them.
  if (op.getUnlessAborted()) {
    Value abort = e.loadRelaxed(e.i32, e.add(e.controlAddress(), offsetof(mk_gpu_control, abort)),
                                MemScope::Gpu);
    auto alive = scf::IfOp::create(e.b, e.loc, e.eq(abort, 0), /*withElseRegion=*/false);
    e.b.setInsertionPointToStart(alive.thenBlock());
  }
  int64_t ranks = op.getRanks();
  Value me = e.ownRank();
  e.forRange(e.c32(1), e.c32(ranks), e.c32(1), [&](Value step) {
    Value peer = e.add(me, e.resize(step, e.i64));
    peer = e.select(e.cmp(Predicate::uge, peer, ranks), e.sub(peer, ranks), peer);
    e.create<RaiseOp>(op.getArray(), me, 1, MemScope::Sys, /*relaxed=*/false, peer, op.getCta(),
                      /*strong=*/false, op.getTeam(), op.getReportAttr(), op.getSpanAttr());
  });
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static void awaitSignal(AwaitSignalOp op, Emitter &e) {
  Value offset = e.shl(op.getElement(), 2), net;
  if (op.getNet())
    net = e.add(e.loadParam(op.getArray() + abi::kSignalNet, e.i64), offset);
  e.create<WaitWordOp>(op.getScope(), e.add(e.loadParam(op.getArray(), e.i64), offset),
                       op.getWanted(), /*equal=*/false, op.getCount(), net, op.getLeader(),
                       /*element=*/Value(), op.getArrayAttr(), op.getReport(), op.getSpanAttr());
  e.fenceAsyncGlobal();
}

/// An element of the launch's own signals.
template <typename OpT> static void awaitRank(OpT op, Emitter &e, Value rank, SpanAttr span) {
  e.create<AwaitSignalOp>(MemScope::Sys, op.getArray(), rank, op.getNet(), op.getWanted(), e.c32(1),
                          /*leader=*/Value(), op.getReport(), span);
}

static SmallVector<Value> awaitPeer(AwaitPeerOp op, Emitter &e) {
  Value peer = op.getPeer(), seen = op.getSeen();
  Value waits = e.cmp(Predicate::ne, peer, e.ownRank()), bit;
  bool isKept = op.getRanks() <= 32;
  if (isKept) {
    bit = e.b.createOrFold<arith::ShLIOp>(e.loc, e.c32(1), e.resize(peer, e.i32));
    waits = e.and_(waits, e.eq(e.and_(seen, bit), 0));
  }
  auto wait = [&]() -> SmallVector<Value> {
    awaitRank(op, e, peer, op.getSpanAttr());
    return {isKept ? e.or_(seen, bit) : seen};
  };
  return e.choose(waits, wait, [&]() -> SmallVector<Value> { return {seen}; });
}

static void awaitPeers(AwaitPeersOp op, Emitter &e) {
  Value me = e.resize(e.ownRank(), e.i32);
  e.forRange(op.getThread(), e.c32(op.getRanks()), e.c32(op.getThreads()), [&](Value peer) {
    e.ifThen(e.cmp(Predicate::ne, peer, me),
             [&] { awaitRank(op, e, e.resize(peer, e.i64), SpanAttr()); });
  });
}

void mk_thread::expandSignals(ModuleOp module) {
  expandEach<NotifyPeersOp>(module, notifyPeers);
  expandEach<RaiseOp>(module, raise);
  replaceEach<AwaitPeerOp>(module, awaitPeer);
  expandEach<AwaitPeersOp>(module, awaitPeers);
  expandEach<AwaitSignalOp>(module, awaitSignal);
}
