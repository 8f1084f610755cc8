//===- Peers.cpp - Other ranks of a launch --------------------------------===//
//
// Where a peer's memory lies, when it may be touched, and how its signals are
// raised: across links by atomics on its heap, which this device maps, across a
// network by commands for the proxy. Which of the two it is is known at run time.
//
//===----------------------------------------------------------------------===//
#include "Peers.h"
#include "Faults.h"
#include "Timeline.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Value sm::rowsAt(PartitionBuilder &p, const Buffer &buffer, Value peer) {
  if (buffer.arg < 0)
    return p.select(buffer.condition, rowsAt(p, *buffer.whenTrue, peer),
                    rowsAt(p, *buffer.whenFalse, peer));
  Value rows = p.loadParamHere(p.info.params.launch + offsetof(mk_gpu_launch, rows));
  Value first = p.c64(buffer.arg * p.info.getNumRanks());
  return p.load(p.i64, p.add(rows, p.shl(p.add(first, peer), 3)));
}

Buffer sm::atPeer(PartitionBuilder &p, const Buffer &buffer, Value peer) {
  Buffer result = buffer;
  Value heap = p.heapOf(peer), own = p.heapOf(p.ownRank());
  if (p.info.hasNet()) {
    Value isMapped = p.cmp(Predicate::ne, heap, 0);
    failUnless(p, isMapped, MK_FAIL_PEER);
    heap = p.select(isMapped, heap, own);
  }
  result.away = p.sub(heap, own);
  if (!buffer.type.getRank())
    return result;
  // After a failure it has none there.
  result.rows =
      buffer.type.isDynamicDim(0) ? rowsAt(p, buffer, peer) : p.c64(buffer.type.getDimSize(0));
  result.rows = p.select(p.isFine(), result.rows, p.c64(0));
  return result;
}

std::pair<Value, Value> sm::peerMap(PartitionBuilder &p, const Buffer &buffer,
                                    ArrayRef<int64_t> box, Value peer) {
  Value number = mapNumber(p, buffer, box, /*peers=*/true);
  if (!number)
    return {};
  number = p.add(p.mul(p.resize(number, p.i64), p.info.getNumRanks()), peer);
  auto field = [&](int64_t offset) { return p.loadParamHere(p.info.params.launch + offset); };
  Value maps = field(offsetof(mk_gpu_launch, peer_maps));
  Value valid = field(offsetof(mk_gpu_launch, peer_maps_valid));
  Value word = p.load(p.i32, p.add(valid, p.shl(number, 2)));
  return {p.add(maps, p.mul(number, MK_GPU_TENSOR_MAP_BYTES)), p.cmp(Predicate::ne, word, 0)};
}

Value sm::readRank(PartitionBuilder &p) {
  if (!p.isMover())
    return p.ownRank();
  // Two words are read together.
  constexpr int64_t at = offsetof(mk_gpu_launch, zero_words);
  static_assert(at % 8 == 0 && offsetof(mk_gpu_launch, rank) == at + 4);
  return p.shr(p.launchFieldHere(at), 32);
}

Value sm::commandTeam(PartitionBuilder &p) {
  constexpr int64_t firstMover = MK_CMD_TEAMS - WarpsOp::kMostMovers;
  if (p.partition && p.partition.getTeams() > 1)
    return p.shl(p.group, MK_CMD_TEAM_SHIFT);
  if (p.isMover())
    return p.c32((firstMover + p.mover) << MK_CMD_TEAM_SHIFT);
  return {};
}

void sm::awaitPuts(PartitionBuilder &p) {
  p.barrierPartition();
  p.ifThen(p.eq(p.partitionThread, 0), [&] {
    p.create<mk_thread::AwaitCommandsOp>(p.cta, p.makeReport(MK_WAIT_PUTS, 0),
                                         makeWaitSpan(p, MK_WAIT_PUTS, 0));
  });
  p.barrierPartition();
}

//===----------------------------------------------------------------------===//
// Opening and closing a launch
//===----------------------------------------------------------------------===//

void sm::notifyPeers(PartitionBuilder &p, int64_t param, bool unlessAborted) {
  bool net = p.info.hasNet();
  p.create<mk_thread::NotifyPeersOp>(
      p.info.getNumRanks(), param, unlessAborted, net ? p.cta : Value(),
      net ? commandTeam(p) : Value(),
      net ? p.makeReport(MK_WAIT_COMMAND, 0) : mk_thread::ReportAttr(),
      net ? makeWaitSpan(p, MK_WAIT_COMMAND, 0) : mk_thread::SpanAttr());
}

void sm::awaitReady(PartitionBuilder &p, Value peer) {
  if (!p.readySeen)
    p.readySeen = p.variable(p.i32, p.c32(0));
  Value known = p.create<mk_thread::AwaitPeerOp>(
      peer, p.info.getNumRanks(), p.info.params.ready, p.info.hasNet(), p.add(p.epoch, 1),
      p.read(p.readySeen, p.i32), p.makeReport(MK_WAIT_READY, 0),
      makeWaitSpan(p, MK_WAIT_READY, 0));
  p.write(p.readySeen, known);
}
