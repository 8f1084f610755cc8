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

Value sm::rowsAt(PartitionBuilder &p, const Buffer &buffer, Value peer) {
  if (buffer.arg < 0)
    return select(p, buffer.condition, rowsAt(p, *buffer.whenTrue, peer),
                  rowsAt(p, *buffer.whenFalse, peer));
  Value rows = readLaunchField(p, offsetof(mk_gpu_launch, rows));
  Value first = p.c64(buffer.arg * p.info.getNumRanks());
  return load(p, p.i64, add(p, rows, shl(p, add(p, first, peer), 3)));
}

Buffer sm::atPeer(PartitionBuilder &p, const Buffer &buffer, Value peer) {
  Buffer result = buffer;
  Value heap = heapOf(p, peer), own = heapOf(p, ownRank(p));
  if (p.info.hasNet()) {
    Value isMapped = ne(p, heap, 0);
    failUnless(p, isMapped, MK_FAIL_PEER);
    heap = select(p, isMapped, heap, own);
  }
  result.away = sub(p, heap, own);
  if (!buffer.type.getRank())
    return result;
  // After a failure it has none there.
  result.rows =
      buffer.type.isDynamicDim(0) ? rowsAt(p, buffer, peer) : p.c64(buffer.type.getDimSize(0));
  result.rows = select(p, isFine(p), result.rows, p.c64(0));
  return result;
}

std::pair<Value, Value> sm::peerMap(PartitionBuilder &p, const Buffer &buffer,
                                    ArrayRef<int64_t> box, Value peer) {
  Value number = mapNumber(p, buffer, box, /*peers=*/true);
  if (!number)
    return {};
  number = add(p, mul(p, resize(p, number, p.i64), p.info.getNumRanks()), peer);
  auto field = [&](int64_t offset) { return readLaunchField(p, offset); };
  Value maps = field(offsetof(mk_gpu_launch, peer_maps));
  Value valid = field(offsetof(mk_gpu_launch, peer_maps_valid));
  Value word = load(p, p.i32, add(p, valid, shl(p, number, 2)));
  return {add(p, maps, mul(p, number, MK_GPU_TENSOR_MAP_BYTES)), ne(p, word, 0)};
}

Value sm::readRank(PartitionBuilder &p) {
  if (!p.isMover())
    return ownRank(p);
  // Two words are read together.
  constexpr int64_t at = offsetof(mk_gpu_launch, zero_words);
  static_assert(at % 8 == 0 && offsetof(mk_gpu_launch, rank) == at + 4);
  return shr(p, readLaunchField(p, at), 32);
}

Value sm::commandTeam(PartitionBuilder &p) {
  constexpr int64_t firstMover = MK_CMD_TEAMS - WarpsOp::kMostMovers;
  if (p.partition && p.partition.getTeams() > 1)
    return shl(p, p.group, MK_CMD_TEAM_SHIFT);
  if (p.isMover())
    return p.c32((firstMover + p.mover) << MK_CMD_TEAM_SHIFT);
  return {};
}

void sm::awaitPuts(PartitionBuilder &p) {
  p.barrierPartition();
  ifThen(p, eq(p, p.partitionThread, 0), [&] {
    mk_thread::AwaitCommandsOp::create(p, p.cta, p.makeReport(MK_WAIT_PUTS, 0),
                                       makeWaitSpan(p, MK_WAIT_PUTS, 0));
  });
  p.barrierPartition();
}

//===----------------------------------------------------------------------===//
// Opening and closing a launch
//===----------------------------------------------------------------------===//

void sm::notifyPeers(PartitionBuilder &p, int64_t param, bool unlessAborted) {
  bool net = p.info.hasNet();
  mk_thread::NotifyPeersOp::create(p, p.info.getNumRanks(), param, unlessAborted,
                                   net ? p.cta : Value(), net ? commandTeam(p) : Value(),
                                   net ? p.makeReport(MK_WAIT_COMMAND, 0) : mk_thread::ReportAttr(),
                                   net ? makeWaitSpan(p, MK_WAIT_COMMAND, 0)
                                       : mk_thread::SpanAttr());
}

void sm::awaitReady(PartitionBuilder &p, Value peer, bool sends) {
  if (!p.readySeen)
    p.readySeen = variable(p, p.i32, p.c32(0));
  Value known = mk_thread::AwaitPeerOp::create(
      p, peer, p.info.getNumRanks(), p.info.params.ready, p.info.hasNet(), sends && p.info.hasNet(),
      add(p, p.epoch, 1), read(p, p.readySeen, p.i32), p.makeReport(MK_WAIT_READY, 0),
      makeWaitSpan(p, MK_WAIT_READY, 0));
  write(p, p.readySeen, known);
}
