//===- Peers.cpp - Other ranks of a launch --------------------------------===//
//
// Where a peer's memory lies, when it may be touched, and how its signals are
// raised: across links by atomics on its heap, which this device maps, across a
// network by commands for the proxy. Which of the two it is is known at run time.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

bool Lowering::hasPeers() { return kernel.getMeshOp().getNumRanks() != 1; }

bool Lowering::hasNet() { return kernel.getMeshOp().hasNet(); }

Value Lowering::ownRank() {
  return resize(launchField(offsetof(mk_gpu_launch, rank), i32), i64);
}

Value Lowering::heapOf(Value rank) {
  Value heaps = loadParamHere(params.launch + offsetof(mk_gpu_launch, heaps));
  return load(i64, add(heaps, shl(rank, 3)));
}

Value Lowering::rowsAt(const Buffer &buffer, Value peer) {
  if (buffer.arg < 0)
    return select(buffer.condition, rowsAt(*buffer.whenTrue, peer),
                  rowsAt(*buffer.whenFalse, peer));
  Value rows = loadParamHere(params.launch + offsetof(mk_gpu_launch, rows));
  Value first = c64(buffer.arg * kernel.getMeshOp().getNumRanks());
  return load(i64, add(rows, shl(add(first, peer), 3)));
}

Buffer Lowering::atPeer(const Buffer &buffer, Value peer) {
  Buffer result = buffer;
  Value heap = heapOf(peer), own = heapOf(ownRank());
  if (hasNet()) {
    Value isMapped = cmp(Predicate::ne, heap, 0);
    failUnless(isMapped, MK_FAIL_PEER);
    heap = select(isMapped, heap, own);
  }
  result.away = sub(heap, own);
  if (!buffer.type.getRank())
    return result;
  // After a failure it has none there.
  result.rows = buffer.type.isDynamicDim(0) ? rowsAt(buffer, peer)
                                            : c64(buffer.type.getDimSize(0));
  result.rows = select(isFine(), result.rows, c64(0));
  return result;
}

std::pair<Value, Value> Lowering::peerMap(const Buffer &buffer,
                                          ArrayRef<int64_t> box, Value peer) {
  Value number = mapNumber(buffer, box, /*peers=*/true);
  if (!number)
    return {};
  number = add(mul(resize(number, i64), kernel.getMeshOp().getNumRanks()), peer);
  auto field = [&](int64_t offset) { return loadParamHere(params.launch + offset); };
  Value maps = field(offsetof(mk_gpu_launch, peer_maps));
  Value valid = field(offsetof(mk_gpu_launch, peer_maps_valid));
  Value word = load(i32, add(valid, shl(number, 2)));
  return {add(maps, mul(number, MK_GPU_TENSOR_MAP_BYTES)),
          cmp(Predicate::ne, word, 0)};
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

void Lowering::raise(SignalArray array, Value element, int64_t amount, Value peer,
                     bool strong, std::optional<LinkKind> via) {
  Value values = loadParam(array.param, i64);
  Value here = add(values, shl(element, 2));
  // What other threads of the partition did comes before, too: a barrier stands between.
  auto reach = [&](Value address) {
    ifFine([&] { reduceAdd(address, c32(amount), MemOrder::Release, array.scope); });
  };
  if (!peer || !hasPeers())
    return reach(here);
  Value heap = heapOf(peer);
  auto across = [&] { reach(add(sub(here, heapOf(ownRank())), heap)); };
  if (!hasNet() || via == LinkKind::Link)
    return across();
  ifThenElse(cmp(Predicate::ne, heap, 0), across, [&] {
    countSubmitted(llvm::divideCeil(amount, int64_t(UINT16_MAX)));
    fence(MemScope::Sys);
    ProxyCommand command;
    command.op = MK_CMD_SIGNAL;
    command.flags = c32(MK_CMD_HAS_SIGNAL | (strong ? MK_CMD_STRONG : 0));
    command.peer = peer;
    command.bytes = c32(0);
    command.source = command.dest = c64(0);
    command.slot = add(loadParam(array.param + abi::kSignalSlot, i64), element);
    for (int64_t left = amount; left > 0; left -= UINT16_MAX) {
      command.amount = std::min<int64_t>(left, UINT16_MAX);
      writeCommand(command);
    }
  });
}

void Lowering::waitArrivals(SignalArray array, Value element, Value wanted,
                            int64_t kind, int64_t number, Value count, Value leader) {
  Value offset = shl(element, 2), net;
  if (array.scope == MemScope::Sys && hasNet())
    net = add(loadParam(array.param + abi::kSignalNet, i64), offset);
  waitWord(add(loadParam(array.param, i64), offset), wanted, /*equal=*/false,
           array.scope, kind, number, Waited{array.param}, count, net, leader);
  fenceAsyncGlobal();
}

//===----------------------------------------------------------------------===//
// Opening and closing a launch
//===----------------------------------------------------------------------===//

void Lowering::tellPeers(int64_t param) {
  int64_t world = kernel.getMeshOp().getNumRanks();
  Value me = ownRank();
  // Staggered, so that not everybody writes to rank 0 first.
  forRange(c32(1), c32(world), c32(1), [&](Value step) {
    Value peer = add(me, resize(step, i64));
    peer = select(cmp(Predicate::uge, peer, world), sub(peer, world), peer);
    raise({param}, me, 1, peer);
  });
}

void Lowering::awaitReady(Value peer) {
  int64_t world = kernel.getMeshOp().getNumRanks();
  auto wait = [&] {
    waitArrivals({params.ready}, peer, add(epoch, 1), MK_WAIT_READY, 0, c64(1));
  };
  Value other = cmp(Predicate::ne, peer, ownRank());
  if (world > 32)
    return ifThen(other, wait);
  if (!readySeen)
    readySeen = variable(i32, c32(0));
  Value seen = read(readySeen, i32);
  Value bit = b.createOrFold<arith::ShLIOp>(loc, c32(1), resize(peer, i32));
  ifThen(and_(other, eq(and_(seen, bit), 0)), [&] {
    wait();
    write(readySeen, or_(seen, bit));
  });
}

void Lowering::awaitDone() {
  int64_t world = kernel.getMeshOp().getNumRanks();
  Value me = resize(ownRank(), i32);
  forRange(sub(thread, 128), c32(world), c32(getNumThreads() - 128), [&](Value peer) {
    ifThen(cmp(Predicate::ne, peer, me), [&] {
      waitArrivals({params.done}, resize(peer, i64), add(epoch, 1), MK_WAIT_DONE, 0,
                   c64(1));
    });
  });
}
