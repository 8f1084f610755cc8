//===- Commands.cpp - The GPU's side of the ring to the proxy -------------===//
//
// One thread of a partition, or of each team, writes its commands; for the proxy movers are teams, too. A place is reserved first and
// written once the proxy has consumed what was there a lap ago.
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

void Lowering::writeCommand(const ProxyCommand &command) {
  ifFine([&] { placeCommand(command); });
}

void Lowering::placeCommand(const ProxyCommand &command) {
  Value network = loadParamHere(params.launch + offsetof(mk_gpu_launch, network));
  Value ring = load(i64, network, offsetof(mk_gpu_network, ring));
  Value capacity = load(i64, network, offsetof(mk_gpu_network, capacity));
  Value place = atomicAdd(add(network, offsetof(mk_gpu_network, head)), c64(1),
                          MemOrder::Relaxed, MemScope::Gpu);
  // The proxy's tail, which lies across the bus, only when the last one seen does
  // not do. Counts are compared by their low words: a lap is far shorter.
  Value wanted = add(resize(sub(place, capacity), i32), 1);
  Value known = add(network, offsetof(mk_gpu_network, tail));
  Value seen = loadAcquire(i32, known, MemScope::Gpu);
  ifThen(cmp(Predicate::slt, sub(seen, wanted), 0), [&] {
    Value tail = add(ring, offsetof(mk_command_ring, tail));
    waitWord(tail, wanted, /*equal=*/false, MemScope::Sys, MK_WAIT_COMMAND, 0,
             Waited{-1, place}, wanted);
    storeRelease(loadAcquire(i32, tail, MemScope::Sys), known,
                 MemScope::Gpu);
  });

  // A lap later the bit is another one.
  Value lap = resize(eq(and_(place, capacity), 0), i32);
  Value at = add(add(ring, sizeof(mk_command_ring)),
                 mul(and_(place, sub(capacity, 1)), sizeof(mk_command)));
  auto join = [&](Value low, Value high) {
    return or_(resize(low, i64), shl(resize(high, i64), 32));
  };
  Value flags = command.flags;
  // Teams write side by side: whose put a command is a part of.
  constexpr int64_t firstMover = MK_CMD_TEAMS - WarpsOp::kMostMovers;
  if (partition && partition.getTeams() > 1)
    flags = or_(flags, shl(group, MK_CMD_TEAM_SHIFT));
  else if (partition && isMover())
    flags = or_(flags, c32((firstMover + mover) << MK_CMD_TEAM_SHIFT));
  Value op = or_(or_(c32(command.op), shl(flags, 8)),
                 shl(resize(command.peer, i32), 16));
  Value channel = or_(cta, command.amount << 16);
  auto withSlot = [&](Value offset, Value bits) {
    return or_(offset, shl(bits, MK_COMMAND_OFFSET_BITS));
  };
  Value last = withSlot(command.dest, and_(shr(command.slot, 16), 0xff));
  last = or_(last, shl(resize(lap, i64), 63));
  // Each half is one access: whoever sees its lap bit sees all of it.
  auto write = [&](int64_t offset, Value low, Value high) {
    create<mk_thread::StoreCommandOp>(low, high, add(at, offset));
  };
  // The wait may have been given up.
  ifFine([&] {
    write(0, join(op, channel), join(command.bytes, lap));
    write(offsetof(mk_command, src_and_slot_lo),
          withSlot(command.source, and_(command.slot, 0xffff)), last);
  });
}

/// Address of a word of this CTA in an array of mk_gpu_network.
static Value wordOfCta(Emitter &e, Value network, int64_t array, Value cta) {
  return e.add(e.load(e.i64, network, array), e.shl(e.resize(cta, e.i64), 2));
}

// Before the command is there, so that no more are ever complete than were counted.
void Lowering::countSubmitted(int64_t commands) {
  Value network = loadParamHere(params.launch + offsetof(mk_gpu_launch, network));
  Value count =
      wordOfCta(*this, network, offsetof(mk_gpu_network, submitted), cta);
  // Each team of a CTA has a thread that sends, and so has each mover.
  reduceAdd(count, c32(commands), MemOrder::Relaxed, MemScope::Cta);
}

// Others of the CTA count in the same words, and what they send may be complete first. So as many have to be
// complete as are counted behind that: then all were, when that many were.
void Lowering::awaitPuts() {
  barrierPartition();
  ifThen(eq(partitionThread, 0), [&] {
    auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loop.getBefore());
    Value network = loadParamHere(params.launch + offsetof(mk_gpu_launch, network));
    Value word = wordOfCta(*this, network, offsetof(mk_gpu_network, submitted), cta);
    Value submitted = loadRelaxed(i32, word, MemScope::Cta);
    waitWord(wordOfCta(*this, network, offsetof(mk_gpu_network, completed), cta),
             submitted, /*equal=*/false, MemScope::Sys, MK_WAIT_PUTS, 0,
             Waited{-1, c64(0)}, submitted);
    Value more = cmp(Predicate::ne, loadRelaxed(i32, word, MemScope::Cta), submitted);
    scf::ConditionOp::create(b, loc, and_(more, isFine()), ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b, loc);
  });
  barrierPartition();
}
