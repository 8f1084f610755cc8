//===- ExpandCommands.cpp - The GPU's side of the ring to the proxy -------===//
//
// One thread of a partition, or of each team, writes its commands; for the proxy movers are teams, too. A place is reserved first and
// written once the proxy has consumed what was there a lap ago.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

static Value findNetwork(Emitter &e) {
  return e.launchFieldHere(offsetof(mk_gpu_launch, network));
}

static void placeCommand(CommandOp op, Emitter &e) {
  Value network = findNetwork(e);
  Value ring = e.load(e.i64, network, offsetof(mk_gpu_network, ring));
  Value capacity = e.load(e.i64, network, offsetof(mk_gpu_network, capacity));
  Value place = e.atomicAdd(e.add(network, offsetof(mk_gpu_network, head)), e.c64(1),
                            MemOrder::Relaxed, MemScope::Gpu);
  // The proxy's tail, which lies across the bus, only when the last one seen does
  // not do. Counts are compared by their low words: a lap is far shorter.
  Value wanted = e.add(e.resize(e.sub(place, capacity), e.i32), 1);
  Value known = e.add(network, offsetof(mk_gpu_network, tail));
  Value seen = e.loadAcquire(e.i32, known, MemScope::Gpu);
  e.ifThen(e.cmp(Predicate::slt, e.sub(seen, wanted), 0), [&] {
    Value tail = e.add(ring, offsetof(mk_command_ring, tail));
    e.create<WaitWordOp>(MemScope::Sys, tail, wanted, /*equal=*/false, wanted, /*second=*/Value(),
                         /*leader=*/Value(), place, /*array=*/IntegerAttr(), op.getReport(),
                         op.getSpanAttr());
    e.storeRelease(e.loadAcquire(e.i32, tail, MemScope::Sys), known, MemScope::Gpu);
  });

  // A lap later the bit is another one.
  Value lap = e.resize(e.eq(e.and_(place, capacity), 0), e.i32);
  Value at = e.add(e.add(ring, sizeof(mk_command_ring)),
                   e.mul(e.and_(place, e.sub(capacity, 1)), sizeof(mk_command)));
  auto join = [&](Value low, Value high) {
    return e.or_(e.resize(low, e.i64), e.shl(e.resize(high, e.i64), 32));
  };
  Value word = e.or_(e.or_(e.c32(op.getKind()), e.shl(op.getFlags(), 8)),
                     e.shl(e.resize(op.getPeer(), e.i32), 16));
  Value channel = e.or_(op.getCta(), int64_t(op.getAmount()) << 16);
  auto withSlot = [&](Value offset, Value bits) {
    return e.or_(offset, e.shl(bits, MK_COMMAND_OFFSET_BITS));
  };
  Value last = withSlot(op.getDest(), e.and_(e.shr(op.getSlot(), 16), 0xff));
  last = e.or_(last, e.shl(e.resize(lap, e.i64), 63));
  // Each half is one access: whoever sees its lap bit sees all of it.
  auto write = [&](int64_t offset, Value low, Value high) {
    e.create<StoreCommandOp>(low, high, e.add(at, offset));
  };
  // The wait may have been given up.
  e.ifFine([&] {
    write(0, join(word, channel), join(op.getBytes(), lap));
    write(offsetof(mk_command, src_and_slot_lo),
          withSlot(op.getSource(), e.and_(op.getSlot(), 0xffff)), last);
  });
}

/// Address of a word of this CTA in an array of mk_gpu_network.
static Value wordOfCta(Emitter &e, Value network, int64_t array, Value cta) {
  return e.add(e.load(e.i64, network, array), e.shl(e.resize(cta, e.i64), 2));
}

// Each team of a CTA has a thread that sends, and so has each mover.
static void countCommands(CountCommandsOp op, Emitter &e) {
  Value word = wordOfCta(e, findNetwork(e), offsetof(mk_gpu_network, submitted), op.getCta());
  e.reduceAdd(word, e.c32(op.getCount()), MemOrder::Relaxed, MemScope::Cta);
}

// Others of the CTA count in the same words, and what they send may be complete first. So as many have to be
// complete as are counted behind that: then all were, when that many were.
static void awaitCommands(AwaitCommandsOp op, Emitter &e) {
  auto goesOn = [&] {
    Value network = findNetwork(e);
    Value word = wordOfCta(e, network, offsetof(mk_gpu_network, submitted), op.getCta());
    Value submitted = e.loadRelaxed(e.i32, word, MemScope::Cta);
    Value completed = wordOfCta(e, network, offsetof(mk_gpu_network, completed), op.getCta());
    e.create<WaitWordOp>(MemScope::Sys, completed, submitted, /*equal=*/false, submitted, /*second=*/Value(), /*leader=*/Value(),
                         e.c64(0), /*array=*/IntegerAttr(), op.getReport(), op.getSpanAttr());
    Value more = e.cmp(Predicate::ne, e.loadRelaxed(e.i32, word, MemScope::Cta), submitted);
    return e.and_(more, e.isFine());
  };
  e.whileTrue(goesOn, [] {});
}

void mk_thread::expandCommands(ModuleOp module) {
  expandEach<CommandOp>(module, [](CommandOp op, Emitter &e) {
    e.ifFine([&] { placeCommand(op, e); });
  });
  expandEach<CountCommandsOp>(module, countCommands);
  expandEach<AwaitCommandsOp>(module, awaitCommands);
}
