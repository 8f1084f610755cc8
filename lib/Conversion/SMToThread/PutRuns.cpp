//===- PutRuns.cpp - A region in pieces -----------------------------------===//
//
// A put goes through its region in runs, pieces that are contiguous at both ends:
// through slots of shared memory, element by element, or as commands for the proxy.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Command.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// Bytes of one command at most; the field has 32 bits.
static constexpr int64_t kCommandBytes = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

FailureOr<Runs> Lowering::planRuns(PutOp op) {
  FailureOr<Buffer> from = buffer(op, op.getSource());
  FailureOr<Buffer> to = buffer(op, op.getDest());
  if (failed(from) || failed(to))
    return failure();
  SmallVector<Value> sizes = scalars(op.getSizes());
  int64_t size = getElementBytes(from->type.getElementType());
  int64_t rank = sizes.size(), listed = op.getRows() ? 1 : 0;
  Runs runs;
  runs.source = elementAddress(*from, scalars(op.getSrcOffsets()));
  runs.dest = elementAddress(*to, scalars(op.getDstOffsets()));
  runs.fromStrides = byteStrides(*from);
  runs.toStrides = byteStrides(*to);
  runs.sizes.assign(rank, Value());
  if (listed) {
    auto list = cast<RankedTensorType>(op.getRows().getType());
    sizes[0] = minS(sizes[0], c64(list.getNumElements()));
    runs.list = exchangeAddress();
  }
  // From the last dimension on, as long as nothing lies between.
  Value joined = cbool(true), some = cbool(true);
  runs.run = c64(size);
  runs.count = c32(1);
  Value bits = or_(runs.source, runs.dest);
  for (int64_t d = rank - 1; d >= 0; --d) {
    some = and_(some, cmp(Predicate::sgt, sizes[d], 0));
    if (d < listed) {
      joined = cbool(false);
    } else {
      Value tight =
          and_(cmp(Predicate::eq, runs.fromStrides[d], runs.run),
               cmp(Predicate::eq, runs.toStrides[d], runs.run));
      joined = and_(joined, or_(tight, eq(sizes[d], 1)));
    }
    runs.run = select(joined, mul(runs.run, sizes[d]), runs.run);
    Value strides = or_(runs.fromStrides[d], runs.toStrides[d]);
    bits = or_(bits, select(joined, c64(0), strides));
    runs.sizes[d] = select(joined, c32(1), resize(sizes[d], i32));
    runs.count = mul(runs.count, runs.sizes[d]);
  }
  runs.count = select(some, runs.count, c32(0));
  runs.aligned = eq(and_(or_(bits, runs.run), 15), 0);
  return runs;
}

std::tuple<Value, Value, Value> Lowering::runAt(const Runs &runs, Value n) {
  Value source = runs.source, dest = runs.dest, exists;
  for (int64_t d = runs.sizes.size() - 1; d >= 0; --d) {
    Value i = n;
    if (d) {
      i = b.createOrFold<arith::RemUIOp>(loc, n, runs.sizes[d]);
      n = b.createOrFold<arith::DivUIOp>(loc, n, runs.sizes[d]);
    }
    Value from = resize(i, i64);
    dest = add(dest, mul(from, runs.toStrides[d]));
    if (d == 0 && runs.list) {
      Value row = load(i32, add(runs.list, shl(i, 2)));
      exists = cmp(Predicate::sge, row, 0);
      from = resize(row, i64, /*isSigned=*/true);
    }
    source = add(source, mul(from, runs.fromStrides[d]));
  }
  return {source, dest, exists};
}

//===----------------------------------------------------------------------===//
// Here and across links
//===----------------------------------------------------------------------===//

// The first warp goes through pieces of a slot each; its lane 0 issues. Loads run
// ahead of stores, with all slots but one; a slot is filled anew when the engine has read it.
void Lowering::copyByEngine(PipelinePutOp op, const Runs &runs, TypeAttr added) {
  int64_t slotBytes = memory.putSlotBytes, ahead = memory.putSlots - 1;
  const Cursor loads = cursors[op.getLoad()], stores = cursors[op.getStore()];
  Value sender = eq(lane, 0);
  // Pieces of a run, and all of them.
  Value whole = add(runs.run, slotBytes - 1);
  Value parts = resize(divU(whole, slotBytes), i32);
  Value total = fromLane0(mul(runs.count, parts));
  auto piece = [&](Value n, function_ref<void(Value, Value, Value)> body) {
    Value part = b.createOrFold<arith::RemUIOp>(loc, n, parts);
    Value run = b.createOrFold<arith::DivUIOp>(loc, n, parts);
    auto [source, dest, exists] = runAt(runs, run);
    Value offset = mul(resize(part, i64), slotBytes);
    Value bytes = resize(minS(sub(runs.run, offset), c64(slotBytes)), i32);
    Value from = add(source, offset), to = add(dest, offset);
    if (exists)
      ifThen(exists, [&] { body(from, to, bytes); });
    else
      body(from, to, bytes);
  };
  auto slotOf = [&](const Cursor &cursor) {
    return add(add(sharedBase, memory.puts), mul(read(cursor.stage, i32), slotBytes));
  };
  auto barrierOf = [&](const Cursor &cursor) {
    return add(add(sharedBase, memory.putBarriers), mul(read(cursor.stage, i32), 8));
  };
  forRange(c32(0), add(total, ahead), c32(1), [&](Value n) {
    ifThen(cmp(Predicate::sge, n, ahead), [&] {
      piece(sub(n, ahead), [&](Value, Value to, Value bytes) {
        waitBarrier(barrierOf(stores), read(stores.phase, i32), read(stores.stage, i32),
                    0, /*ofPut=*/true);
        Value slot = slotOf(stores);
        ifThen(sender, [&] {
          create<mk_thread::StoreBulkOp>(slot, to, bytes, added);
          create<mk_thread::CommitGroupOp>();
        });
        advance(op.getStore());
      });
    });
    ifThen(cmp(Predicate::slt, n, total), [&] {
      piece(n, [&](Value from, Value, Value bytes) {
        Value slot = slotOf(loads), full = barrierOf(loads);
        ifThen(sender, [&] {
          // All but the store just issued.
          create<mk_thread::WaitGroupOp>(1, /*read=*/true);
          create<mk_thread::BarrierArriveOp>(full, /*cta=*/Value(), bytes);
          create<mk_thread::CopyBulkOp>(from, slot, bytes, full);
        });
        advance(op.getLoad());
      });
    });
  });
  ifThen(sender, [&] { create<mk_thread::WaitGroupOp>(0, /*read=*/false); });
}

// As many loads under way as registers allow, 16 bytes a lane: what is on its way to a link at the same time is bounded by
// what has come, and the products of the same SM have room.
// The batch goes with `net_mover`, the registers that the target's description reserves for this code.
void Lowering::copyByMover(const Runs &runs) {
  constexpr int64_t kUnit = 16, kBatch = 8, kStep = 32 * kBatch;
  SmallVector<Type> words(kUnit / 4, i32);
  forRange(c32(0), fromLane0(runs.count), c32(1), [&](Value n) {
    auto [source, dest, exists] = runAt(runs, n);
    Value units = resize(shr(runs.run, 4), i32), own = shl(resize(lane, i64), 4);
    Value from = add(source, own), to = add(dest, own);
    auto copy = [&](Value batch, bool whole) {
      Value offset = shl(resize(batch, i64), 4);
      Value at = add(from, offset), there = add(to, offset);
      SmallVector<SmallVector<Value>> values(kBatch);
      SmallVector<Value> isIn(kBatch);
      for (int64_t i = 0; i != kBatch; ++i) {
        if (!whole)
          isIn[i] = resize(cmp(Predicate::ult, add(add(batch, lane), 32 * i), units), i32);
        SmallVector<Value> none(whole ? 0 : words.size(), c32(0));
        values[i] = loadWords(words, add(at, 32 * kUnit * i), kUnit, isIn[i], none);
      }
      for (int64_t i = 0; i != kBatch; ++i)
        storeWords(values[i], add(there, 32 * kUnit * i), kUnit, isIn[i]);
    };
    Value whole = and_(units, -kStep);
    forRange(c32(0), whole, c32(kStep), [&](Value batch) { copy(batch, /*whole=*/true); });
    ifThen(cmp(Predicate::ne, whole, units), [&] { copy(whole, /*whole=*/false); });
  });
}

void Lowering::copyByThreads(const Runs &runs, Type element, bool adds) {
  int64_t size = getElementBytes(element);
  Value units = resize(divU(runs.run, size), i32);
  Value total = mul(runs.count, units);
  forRange(partitionThread, total, c32(partition.getNumThreads()), [&](Value n) {
    Value unit = b.createOrFold<arith::RemUIOp>(loc, n, units);
    Value run = b.createOrFold<arith::DivUIOp>(loc, n, units);
    auto [source, dest, exists] = runAt(runs, run);
    Value offset = mul(resize(unit, i64), size);
    Value from = add(source, offset), to = add(dest, offset);
    auto copy = [&] {
      Value value = load(b.getIntegerType(8 * size), from);
      if (!adds)
        return store(value, to);
      if (element.isF32() || element.isF64())
        value = LLVM::BitcastOp::create(b, loc, element, value);
      addToElement(value, element, MemScope::Sys, to, size);
    };
    if (exists)
      ifThen(exists, copy);
    else
      copy();
  });
}

//===----------------------------------------------------------------------===//
// Across a network
//===----------------------------------------------------------------------===//

// By one thread. All commands but the last have MK_CMD_MORE; with listed rows, of
// which any may be missing, the last one is empty.
void Lowering::putByCommands(const Runs &runs, Value peer, Value signalSlot,
                             bool strong) {
  Value heap = heapOf(ownRank());
  Value whole = add(runs.run, kCommandBytes - 1);
  Value parts = resize(divU(whole, kCommandBytes), i32);
  Value total = mul(runs.count, parts);
  int64_t last = signalSlot ? MK_CMD_HAS_SIGNAL | (strong ? MK_CMD_STRONG : 0) : 0;
  ProxyCommand command;
  command.amount = signalSlot ? 1 : 0;
  command.peer = peer;
  command.slot = signalSlot ? signalSlot : c64(0);
  // A put of nothing is an arrival, too.
  Value empty = eq(total, 0);
  ifThen(runs.list || signalSlot ? cbool(true) : not_(empty), [&] { countSubmitted(); });
  fence(MemScope::Sys);
  forRange(c32(0), total, c32(1), [&](Value n) {
    Value part = b.createOrFold<arith::RemUIOp>(loc, n, parts);
    Value run = b.createOrFold<arith::DivUIOp>(loc, n, parts);
    auto [source, dest, exists] = runAt(runs, run);
    Value offset = mul(resize(part, i64), kCommandBytes);
    ProxyCommand piece = command;
    piece.op = MK_CMD_PUT;
    piece.source = sub(add(source, offset), heap);
    piece.dest = sub(add(dest, offset), heap);
    piece.bytes = resize(minS(sub(runs.run, offset), c64(kCommandBytes)), i32);
    piece.flags = c32(MK_CMD_MORE);
    if (!runs.list)
      piece.flags = select(cmp(Predicate::eq, add(n, 1), total), c32(last), piece.flags);
    // A part of a put that goes on raises nothing.
    Value raises = cmp(Predicate::ne, piece.flags, MK_CMD_MORE);
    piece.slot = select(raises, command.slot, c64(0));
    if (exists)
      ifThen(exists, [&] { writeCommand(piece); });
    else
      writeCommand(piece);
  });
  command.source = command.dest = c64(0);
  command.bytes = c32(0);
  command.flags = c32(last);
  if (runs.list) {
    command.op = MK_CMD_PUT;
    return writeCommand(command);
  }
  if (signalSlot)
    ifThen(empty, [&] {
      command.op = MK_CMD_SIGNAL;
      writeCommand(command);
    });
}
