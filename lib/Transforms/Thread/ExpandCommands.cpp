//===- ExpandCommands.cpp - The GPU's side of the ring to the proxy -------===//
//
// One thread of a partition, or of each team, writes its commands; for the proxy movers are teams,
// too. A place is reserved first and written once the proxy has consumed what was there a lap ago.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk_thread;

static Value findNetwork(Emitter &e) {
  return readLaunchField(e, offsetof(mk_gpu_launch, network));
}

static void placeCommand(CommandOp op, Emitter &e) {
  Value network = findNetwork(e);
  Value ring = load(e, e.i64, network, offsetof(mk_gpu_network, ring));
  Value capacity = load(e, e.i64, network, offsetof(mk_gpu_network, capacity));
  Value place = AtomicAddOp::create(e, MemOrder::Relaxed, MemScope::Gpu,
                                    add(e, network, offsetof(mk_gpu_network, head)), e.c64(1));
  // The proxy's tail, which lies across the bus, only when the last one seen does
  // not do. Counts are compared by their low words: a lap is far shorter.
  Value wanted = add(e, resize(e, sub(e, place, capacity), e.i32), 1);
  Value known = add(e, network, offsetof(mk_gpu_network, tail));
  Value seen = LoadAtomicOp::create(e, e.i32, MemOrder::Acquire, MemScope::Gpu, known);
  ifThen(e, slt(e, sub(e, seen, wanted), 0), [&] {
    Value tail = add(e, ring, offsetof(mk_command_ring, tail));
    WaitWordOp::create(e, MemScope::Sys, tail, wanted, /*equal=*/false, wanted, /*second=*/Value(),
                       /*leader=*/Value(), place, /*array=*/IntegerAttr(), op.getReport(),
                       op.getSpanAttr());
    StoreAtomicOp::create(e, MemOrder::Release, MemScope::Gpu,
                          LoadAtomicOp::create(e, e.i32, MemOrder::Acquire, MemScope::Sys, tail),
                          known);
  });

  // A lap later the bit is another one.
  Value lap = resize(e, eq(e, and_(e, place, capacity), 0), e.i32);
  Value at = add(e, add(e, ring, sizeof(mk_command_ring)),
                 mul(e, and_(e, place, sub(e, capacity, 1)), sizeof(mk_command)));
  auto join = [&](Value low, Value high) {
    return or_(e, resize(e, low, e.i64), shl(e, resize(e, high, e.i64), 32));
  };
  Value word = or_(e, or_(e, e.c32(op.getKind()), shl(e, op.getFlags(), 8)),
                   shl(e, resize(e, op.getPeer(), e.i32), 16));
  Value channel = or_(e, op.getCta(), int64_t(op.getAmount()) << 16);
  auto withSlot = [&](Value offset, Value bits) {
    return or_(e, offset, shl(e, bits, MK_COMMAND_OFFSET_BITS));
  };
  Value last = withSlot(op.getDest(), and_(e, shr(e, op.getSlot(), 16), 0xff));
  last = or_(e, last, shl(e, resize(e, lap, e.i64), 63));
  // Each half is one access: whoever sees its lap bit sees all of it.
  auto write = [&](int64_t offset, Value low, Value high) {
    StoreCommandOp::create(e, low, high, add(e, at, offset));
  };
  // The wait may have been given up.
  unlessFailed(e, [&] {
    write(0, join(word, channel), join(op.getBytes(), lap));
    write(offsetof(mk_command, src_and_slot_lo),
          withSlot(op.getSource(), and_(e, op.getSlot(), 0xffff)), last);
  });
}

/// Address of a word of this CTA in an array of mk_gpu_network.
static Value wordOfCta(Emitter &e, Value network, int64_t array, Value cta) {
  return add(e, load(e, e.i64, network, array), shl(e, resize(e, cta, e.i64), 2));
}

// Each team of a CTA has a thread that sends, and so has each mover.
static void countCommands(CountCommandsOp op, Emitter &e) {
  Value word = wordOfCta(e, findNetwork(e), offsetof(mk_gpu_network, submitted), op.getCta());
  ReduceAddOp::create(e, MemOrder::Relaxed, MemScope::Cta, word, e.c32(op.getCount()));
}

// Others of the CTA count in the same words, and what they send may be complete first. So as many
// have to be complete as are counted behind that: then all were, when that many were.
static void awaitCommands(AwaitCommandsOp op, Emitter &e) {
  auto goesOn = [&] {
    Value network = findNetwork(e);
    Value word = wordOfCta(e, network, offsetof(mk_gpu_network, submitted), op.getCta());
    Value submitted = LoadAtomicOp::create(e, e.i32, MemOrder::Relaxed, MemScope::Cta, word);
    Value completed = wordOfCta(e, network, offsetof(mk_gpu_network, completed), op.getCta());
    WaitWordOp::create(e, MemScope::Sys, completed, submitted, /*equal=*/false, submitted,
                       /*second=*/Value(), /*leader=*/Value(), e.c64(0), /*array=*/IntegerAttr(),
                       op.getReport(), op.getSpanAttr());
    Value more =
        ne(e, LoadAtomicOp::create(e, e.i32, MemOrder::Relaxed, MemScope::Cta, word), submitted);
    return and_(e, more, isFine(e));
  };
  whileTrue(e, goesOn, [] {});
}

void mk_thread::expandCommands(ModuleOp module) {
  expandEach<CommandOp>(
      module, [](CommandOp op, Emitter &e) { unlessFailed(e, [&] { placeCommand(op, e); }); });
  expandEach<CountCommandsOp>(module, countCommands);
  expandEach<AwaitCommandsOp>(module, awaitCommands);
}
