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

static Value localAddress(Emitter &e, int64_t array, Value element) {
  return add(e, readParam(e, array), shl(e, element, 2));
}

/// At a peer whose memory, at `heap`, links reach.
static Value remoteAddress(Emitter &e, int64_t array, Value element, Value heap) {
  return add(e, sub(e, localAddress(e, array, element), heapOf(e, ownRank(e))), heap);
}

static void raise(RaiseOp op, Emitter &e) {
  auto reach = [&](Value address) {
    MemOrder order = op.getRelaxed() ? MemOrder::Relaxed : MemOrder::Release;
    unlessFailed(
        e, [&] { ReduceAddOp::create(e, order, op.getScope(), address, e.c32(op.getAmount())); });
  };
  if (!op.getPeer())
    return reach(localAddress(e, op.getArray(), op.getElement()));
  Value heap = heapOf(e, op.getPeer());
  auto across = [&] { reach(remoteAddress(e, op.getArray(), op.getElement(), heap)); };
  if (!op.getCta())
    return across();
  ifThenElse(e, ne(e, heap, 0), across, [&] { sendSignal(op, e); });
}

/// The relaxed signals right behind a fence, whose peers and elements are known in front of it.
static SmallVector<RaiseOp> getReleased(FenceOp fence) {
  auto isKnown = [&](Value value) {
    Operation *from = value.getDefiningOp();
    return !from || from->getBlock() != fence->getBlock() || from->isBeforeInBlock(fence);
  };
  SmallVector<RaiseOp> raises;
  for (Operation *op = fence->getNextNode(); op; op = op->getNextNode()) {
    auto raise = dyn_cast<RaiseOp>(op);
    if (raise && raise.getRelaxed() && !raise.getCta() && llvm::all_of(op->getOperands(), isKnown))
      raises.push_back(raise);
    else if (!isPure(op))
      break;
  }
  return raises;
}

/// What is read behind a fence comes late: addresses are there before it.
static void raiseTogether(SmallVector<RaiseOp> raises, FenceOp fence, Emitter &e) {
  e.setLoc(fence.getLoc());
  e.setInsertionPoint(fence);
  SmallVector<Value> addresses = llvm::map_to_vector(raises, [&](RaiseOp op) {
    return op.getPeer() ? remoteAddress(e, op.getArray(), op.getElement(), heapOf(e, op.getPeer()))
                        : localAddress(e, op.getArray(), op.getElement());
  });
  e.setInsertionPoint(raises.back());
  unlessFailed(e, [&] {
    for (auto [op, address] : llvm::zip(raises, addresses))
      ReduceAddOp::create(e, MemOrder::Relaxed, op.getScope(), address, e.c32(op.getAmount()));
  });
  for (RaiseOp op : raises)
    op.erase();
}

// Beginning with the next one, so that not everybody writes to rank 0 first. One fence for all: it
// takes as long as the way to a peer and back. What has to be read is read in front of it, unless
// that is too much (`notified_peers`).
static void notifyPeers(NotifyPeersOp op, Emitter &e) {
  int64_t ranks = op.getRanks();
  Value me = ownRank(e), goesOn = isFine(e);
  auto peerAt = [&](Value step) {
    Value peer = add(e, me, step);
    return select(e, uge(e, peer, ranks), sub(e, peer, ranks), peer);
  };
  // Others of this launch may have failed, and with it peers that wait for them.
  if (op.getUnlessAborted()) {
    Value abort = LoadAtomicOp::create(e, e.i32, MemOrder::Relaxed, MemScope::Gpu,
                                       add(e, controlAddress(e), offsetof(mk_gpu_control, abort)));
    goesOn = and_(e, goesOn, eq(e, abort, 0));
  }
  if (op.getCta() || ranks - 1 > e.sm.getThresholds().getNotifiedPeers()) {
    FenceOp::create(e, MemScope::Sys);
    return ifThen(e, goesOn, [&] {
      forRange(e, e.c32(1), e.c32(ranks), e.c32(1), [&](Value step) {
        RaiseOp::create(e, op.getArray(), me, 1, MemScope::Sys, /*relaxed=*/true,
                        peerAt(resize(e, step, e.i64)), op.getCta(), /*strong=*/false, op.getTeam(),
                        op.getReportAttr(), op.getSpanAttr());
      });
      if (op.getCta())
        ReduceAddOp::create(e, MemOrder::Release, MemScope::Gpu,
                            localAddress(e, op.getArray(), me), e.c32(1));
    });
  }
  SmallVector<Value> addresses;
  for (int64_t step = 1; step < ranks; ++step)
    addresses.push_back(remoteAddress(e, op.getArray(), me, heapOf(e, peerAt(e.c64(step)))));
  FenceOp::create(e, MemScope::Sys);
  ifThen(e, goesOn, [&] {
    for (Value address : addresses)
      ReduceAddOp::create(e, MemOrder::Relaxed, MemScope::Sys, address, e.c32(1));
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
  Value seen = op.getSeen(), isOther = ne(e, op.getPeer(), ownRank(e));
  bool isKept = op.getRanks() <= 32;
  auto await = [&](Value rank) {
    Value waits = isOther, bit;
    if (isKept) {
      bit = shl(e, e.c32(1), resize(e, rank, e.i32));
      waits = and_(e, waits, eq(e, and_(e, seen, bit), 0));
    }
    auto wait = [&]() -> SmallVector<Value> {
      awaitRank(op, e, rank, op.getSpanAttr());
      return {isKept ? or_(e, seen, bit) : seen};
    };
    seen = choose(e, waits, wait, [&]() -> SmallVector<Value> { return {seen}; }).front();
  };
  // What is sent would stand in front of this rank's own words to its peers, who may wait for them
  // with nothing else to do.
  if (op.getSends())
    await(ownRank(e));
  await(op.getPeer());
  return {seen};
}

static void awaitPeers(AwaitPeersOp op, Emitter &e) {
  Value me = resize(e, ownRank(e), e.i32);
  forRange(e, op.getThread(), e.c32(op.getRanks()), e.c32(op.getThreads()), [&](Value peer) {
    ifThen(e, ne(e, peer, me), [&] { awaitRank(op, e, resize(e, peer, e.i64), SpanAttr()); });
  });
}

void mk_thread::expandSignals(ModuleOp module) {
  expandEach<NotifyPeersOp>(module, notifyPeers);
  for (auto kernel : module.getOps<KernelOp>()) {
    Emitter e(module.getContext(), kernel.getLoc());
    e.enter(kernel);
    SmallVector<FenceOp> fences;
    kernel.walk([&](FenceOp fence) { fences.push_back(fence); });
    for (FenceOp fence : fences)
      if (SmallVector<RaiseOp> raises = getReleased(fence); !raises.empty())
        raiseTogether(raises, fence, e);
  }
  expandEach<RaiseOp>(module, raise);
  replaceEach<AwaitPeerOp>(module, awaitPeer);
  expandEach<AwaitPeersOp>(module, awaitPeers);
  expandEach<AwaitSignalOp>(module, awaitSignal);
}
