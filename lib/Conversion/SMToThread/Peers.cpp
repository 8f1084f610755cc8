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

Value Lowering::readRank() {
  if (!partition || !isMover())
    return ownRank();
  // Two words are read together.
  constexpr int64_t at = offsetof(mk_gpu_launch, zero_words);
  static_assert(at % 8 == 0 && offsetof(mk_gpu_launch, rank) == at + 4);
  return shr(launchFieldHere(at), 32);
}

Value Lowering::commandTeam() {
  constexpr int64_t firstMover = MK_CMD_TEAMS - WarpsOp::kMostMovers;
  if (partition && partition.getTeams() > 1)
    return shl(group, MK_CMD_TEAM_SHIFT);
  if (partition && isMover())
    return c32((firstMover + mover) << MK_CMD_TEAM_SHIFT);
  return {};
}

void Lowering::raise(SignalArray array, Value element, int64_t amount, Value peer,
                     bool strong, std::optional<LinkKind> via, bool relaxed) {
  bool net = peer && hasNet() && via != LinkKind::Link;
  create<mk_thread::RaiseOp>(array.param, element, amount, array.scope, relaxed, peer,
                             net ? cta : Value(), net && strong, net ? commandTeam() : Value(),
                             net ? makeReport(MK_WAIT_COMMAND, 0) : mk_thread::ReportAttr(),
                             net ? makeWaitSpan(MK_WAIT_COMMAND, 0) : mk_thread::SpanAttr());
}

void Lowering::awaitPuts() {
  barrierPartition();
  ifThen(eq(partitionThread, 0), [&] {
    create<mk_thread::AwaitCommandsOp>(cta, makeReport(MK_WAIT_PUTS, 0),
                                       makeWaitSpan(MK_WAIT_PUTS, 0));
  });
  barrierPartition();
}

void Lowering::waitArrivals(SignalArray array, Value element, Value wanted,
                            int64_t kind, int64_t number, Value count, Value leader) {
  bool net = array.scope == MemScope::Sys && hasNet();
  create<mk_thread::AwaitSignalOp>(array.scope, array.param, element, net, wanted,
                                   resize(count, i32), leader ? resize(leader, i32) : Value(),
                                   makeReport(kind, number), makeWaitSpan(kind, number));
}

//===----------------------------------------------------------------------===//
// Opening and closing a launch
//===----------------------------------------------------------------------===//

void Lowering::tellPeers(int64_t param, bool unlessAborted) {
  bool net = hasNet();
  create<mk_thread::TellPeersOp>(kernel.getMeshOp().getNumRanks(), param, unlessAborted,
                                 net ? cta : Value(), net ? commandTeam() : Value(),
                                 net ? makeReport(MK_WAIT_COMMAND, 0) : mk_thread::ReportAttr(),
                                 net ? makeWaitSpan(MK_WAIT_COMMAND, 0) : mk_thread::SpanAttr());
}

void Lowering::awaitReady(Value peer) {
  if (!readySeen)
    readySeen = variable(i32, c32(0));
  Value known = create<mk_thread::AwaitPeerOp>(
      peer, kernel.getMeshOp().getNumRanks(), params.ready, hasNet(), add(epoch, 1),
      read(readySeen, i32), makeReport(MK_WAIT_READY, 0), makeWaitSpan(MK_WAIT_READY, 0));
  write(readySeen, known);
}
