//===- ExpandRuns.cpp - A region in pieces --------------------------------===//
//
// A region is gone through in runs, pieces that are contiguous at both ends:
// through slots of shared memory, element by element, or as commands for the proxy.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"

using namespace mlir;
using namespace mlir::mk_thread;
using Predicate = arith::CmpIPredicate;

/// Bytes of one command at most; the field has 32 bits.
static constexpr int64_t kCommandBytes = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// Runs of an op.
struct Runs {
  template <typename OpT>
  Runs(OpT op, Emitter &e)
      : e(e), source(op.getSource()), dest(op.getDest()), list(op.getRows()), count(op.getCount()),
        run(op.getRun()), sizes(op.getSizes()), from(op.getFrom()), to(op.getTo()) {}
  /// Addresses of run `n`, and whether it exists (null: always).
  std::tuple<Value, Value, Value> at(Value n);
  /// In how many parts of at most so many bytes a run goes, i32.
  Value countParts(int64_t bytes);
  /// `body` for part `n` of all runs, where it exists: from where, to where, how many bytes.
  void part(Value n, Value parts, int64_t bytes, function_ref<void(Value, Value, Value)> body);
  void whereExists(Value exists, function_ref<void()> body) {
    exists ? e.ifThen(exists, body) : body();
  }

  Emitter &e;
  Value source, dest;  // of the first
  Value list;          // numbers of source rows, i32 in shared memory, if listed
  Value count, run;    // i32; bytes, i64
  ValueRange sizes;    // of each dimension of runs, i32
  ValueRange from, to; // bytes
};
} // namespace

static SmallVector<Value> planRuns(PlanRunsOp op, Emitter &e) {
  int64_t rank = op.getSizes().size(), listed = op.getListed();
  // From the last dimension on, as long as nothing lies between.
  Value joined = e.cbool(true), some = e.cbool(true);
  Value run = e.c64(op.getElement().getIntOrFloatBitWidth() / 8), count = e.c32(1);
  SmallVector<Value> places(rank);
  Value bits = e.or_(op.getSource(), op.getDest());
  for (int64_t d = rank - 1; d >= 0; --d) {
    Value size = op.getSizes()[d], from = op.getFrom()[d], to = op.getTo()[d];
    some = e.and_(some, e.cmp(Predicate::sgt, size, 0));
    if (d < listed) {
      joined = e.cbool(false);
    } else {
      Value tight = e.and_(e.cmp(Predicate::eq, from, run), e.cmp(Predicate::eq, to, run));
      joined = e.and_(joined, e.or_(tight, e.eq(size, 1)));
    }
    run = e.select(joined, e.mul(run, size), run);
    Value strides = e.or_(from, to);
    bits = e.or_(bits, e.select(joined, e.c64(0), strides));
    places[d] = e.select(joined, e.c32(1), e.resize(size, e.i32));
    count = e.mul(count, places[d]);
  }
  count = e.select(some, count, e.c32(0));
  Value aligned = e.eq(e.and_(e.or_(bits, run), 15), 0);
  SmallVector<Value> results{count, run, aligned};
  llvm::append_range(results, places);
  return results;
}

std::tuple<Value, Value, Value> Runs::at(Value n) {
  Value start = source, end = dest, exists;
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    Value i = n;
    if (d) {
      i = e.b.createOrFold<arith::RemUIOp>(e.loc, n, sizes[d]);
      n = e.b.createOrFold<arith::DivUIOp>(e.loc, n, sizes[d]);
    }
    Value row = e.resize(i, e.i64);
    end = e.add(end, e.mul(row, to[d]));
    if (d == 0 && list) {
      Value number = e.load(e.i32, e.add(list, e.shl(i, 2)));
      exists = e.cmp(Predicate::sge, number, 0);
      row = e.resize(number, e.i64, /*isSigned=*/true);
    }
    start = e.add(start, e.mul(row, from[d]));
  }
  return {start, end, exists};
}

Value Runs::countParts(int64_t bytes) {
  return e.resize(e.divU(e.add(run, bytes - 1), bytes), e.i32);
}

void Runs::part(Value n, Value parts, int64_t bytes, function_ref<void(Value, Value, Value)> body) {
  Value part = e.b.createOrFold<arith::RemUIOp>(e.loc, n, parts);
  Value number = e.b.createOrFold<arith::DivUIOp>(e.loc, n, parts);
  auto [from, to, exists] = at(number);
  Value offset = e.mul(e.resize(part, e.i64), bytes);
  Value size = e.resize(e.minS(e.sub(run, offset), e.c64(bytes)), e.i32);
  Value start = e.add(from, offset), end = e.add(to, offset);
  whereExists(exists, [&] { body(start, end, size); });
}

//===----------------------------------------------------------------------===//
// Here and across links
//===----------------------------------------------------------------------===//

// The warp goes through pieces of a slot each; its lane 0 issues. Loads run
// ahead of stores, with all slots but one; a slot is filled anew when the engine has read it.
static void copyByEngine(Emitter &e, CopyRunsOp op, Runs &runs, ArrayRef<Value> places) {
  SlotsAttr slots = *op.getSlots();
  int64_t ahead = slots.getCount() - 1;
  TypeAttr added = op.getAdd() ? op.getElementAttr() : TypeAttr();
  Value sender = e.eq(e.and_(op.getThread(), 31), 0);
  // Pieces of a run, and all of them.
  Value parts = runs.countParts(slots.getBytes());
  Value total = e.fromLane0(e.mul(runs.count, parts));
  auto piece = [&](Value n, function_ref<void(Value, Value, Value)> body) {
    runs.part(n, parts, slots.getBytes(), body);
  };
  auto slotOf = [&](Value stage) {
    return e.add(e.add(e.sharedBase, slots.getAt()), e.mul(e.read(stage, e.i32), slots.getBytes()));
  };
  auto barrierOf = [&](Value stage) {
    return e.add(e.add(e.sharedBase, slots.getBarriers()), e.mul(e.read(stage, e.i32), 8));
  };
  Value loadStage = places[0], loadParity = places[1], storeStage = places[2],
        storeParity = places[3];
  auto advance = [&](Value stage, Value parity) { e.advance(stage, parity, slots.getCount()); };
  e.forRange(e.c32(0), e.add(total, ahead), e.c32(1), [&](Value n) {
    e.ifThen(e.cmp(Predicate::sge, n, ahead), [&] {
      piece(e.sub(n, ahead), [&](Value, Value to, Value bytes) {
        e.create<BarrierWaitOp>(barrierOf(storeStage), e.read(storeParity, e.i32),
                                e.read(storeStage, e.i32), *op.getReport(),
                                /*doubleDeadline=*/false);
        Value slot = slotOf(storeStage);
        e.ifThen(sender, [&] {
          e.create<StoreBulkOp>(slot, to, bytes, added);
          e.create<CommitGroupOp>();
        });
        advance(storeStage, storeParity);
      });
    });
    e.ifThen(e.cmp(Predicate::slt, n, total), [&] {
      piece(n, [&](Value from, Value, Value bytes) {
        Value slot = slotOf(loadStage), full = barrierOf(loadStage);
        e.ifThen(sender, [&] {
          // All but the store just issued.
          e.create<WaitGroupOp>(1, /*read=*/true);
          e.create<BarrierArriveOp>(full, /*cta=*/Value(), bytes);
          e.create<CopyBulkOp>(from, slot, bytes, full);
        });
        advance(loadStage, loadParity);
      });
    });
  });
  e.ifThen(sender, [&] { e.create<WaitGroupOp>(0, /*read=*/false); });
}

/// How far the other destinations are from the first one.
static SmallVector<Value> getDistances(CopyRunsOp op, Emitter &e) {
  return llvm::map_to_vector(op.getAlso(), [&](Value to) { return e.sub(to, op.getDest()); });
}

// As many loads under way as registers allow, 16 bytes a lane: what is on its way to a link at the
// same time is bounded by what has come, and the products of the same SM have room. Half of it
// where it goes to several peers: with all of it links are full sooner, and products wait longer.
static void copyByLanes(Emitter &e, CopyRunsOp op, Runs &runs) {
  // The batch goes with `net_mover`, the registers that the target's description reserves for this
  // code.
  constexpr int64_t kUnit = 16;
  const int64_t inBatch = op.getAlso().empty() ? 8 : 4, step = 32 * inBatch;
  SmallVector<Type> words(kUnit / 4, e.i32);
  Value lane = op.getThread();
  SmallVector<Value> others = getDistances(op, e);
  e.forRange(e.c32(0), e.fromLane0(runs.count), e.c32(1), [&](Value n) {
    auto [source, dest, exists] = runs.at(n);
    Value units = e.resize(e.shr(runs.run, 4), e.i32), own = e.shl(e.resize(lane, e.i64), 4);
    Value from = e.add(source, own), to = e.add(dest, own);
    auto copy = [&](Value batch, bool whole) {
      Value offset = e.shl(e.resize(batch, e.i64), 4);
      Value at = e.add(from, offset), there = e.add(to, offset);
      SmallVector<SmallVector<Value>> values(inBatch);
      SmallVector<Value> isIn(inBatch);
      for (int64_t i = 0; i != inBatch; ++i) {
        if (!whole)
          isIn[i] =
              e.resize(e.cmp(Predicate::ult, e.add(e.add(batch, lane), 32 * i), units), e.i32);
        SmallVector<Value> none(whole ? 0 : words.size(), e.c32(0));
        values[i] = e.loadWords(words, e.add(at, 32 * kUnit * i), kUnit, isIn[i], none);
      }
      auto store = [&](Value to) {
        for (int64_t i = 0; i != inBatch; ++i)
          e.storeWords(values[i], e.add(to, 32 * kUnit * i), kUnit, isIn[i]);
      };
      store(there);
      for (Value distance : others)
        store(e.add(there, distance));
    };
    Value whole = e.and_(units, -step);
    e.forRange(e.c32(0), whole, e.c32(step), [&](Value batch) { copy(batch, /*whole=*/true); });
    e.ifThen(e.cmp(Predicate::ne, whole, units), [&] { copy(whole, /*whole=*/false); });
  });
}

static void copyByThreads(Emitter &e, CopyRunsOp op, Runs &runs) {
  Type element = op.getElement();
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  SmallVector<Value> others = getDistances(op, e);
  Value units = e.resize(e.divU(runs.run, size), e.i32);
  Value total = e.mul(runs.count, units);
  e.forRange(op.getThread(), total, e.c32(op.getThreads()), [&](Value n) {
    Value unit = e.b.createOrFold<arith::RemUIOp>(e.loc, n, units);
    Value run = e.b.createOrFold<arith::DivUIOp>(e.loc, n, units);
    auto [source, dest, exists] = runs.at(run);
    Value offset = e.mul(e.resize(unit, e.i64), size);
    Value from = e.add(source, offset), to = e.add(dest, offset);
    runs.whereExists(exists, [&] {
      Value value = e.load(e.b.getIntegerType(8 * size), from);
      if (!op.getAdd()) {
        e.store(value, to);
        for (Value distance : others)
          e.store(value, e.add(to, distance));
        return;
      }
      if (element.isF32() || element.isF64())
        value = LLVM::BitcastOp::create(e.b, e.loc, element, value);
      e.addToElement(value, element, MemScope::Sys, to, size);
    });
  });
}

static SmallVector<Value> copyRuns(CopyRunsOp op, Emitter &e) {
  Runs runs(op, e);
  SmallVector<Value> places;
  for (size_t i = 0; i != op.getPlaces().size(); ++i)
    places.push_back(e.variable(e.i32, e.c32(0)));
  for (auto [variable, place] : llvm::zip(places, op.getPlaces()))
    e.write(variable, place);
  auto inPieces = [&] {
    if (!op.getSlots())
      return op.getAdd() ? copyByThreads(e, op, runs) : copyByLanes(e, op, runs);
    e.ifThen(e.cmp(Predicate::ult, op.getThread(), 32), [&] { copyByEngine(e, op, runs, places); });
  };
  e.ifThenElse(op.getAligned(), inPieces, [&] { copyByThreads(e, op, runs); });
  return llvm::map_to_vector(places, [&](Value place) { return e.read(place, e.i32); });
}

//===----------------------------------------------------------------------===//
// Across a network
//===----------------------------------------------------------------------===//

// All commands but the last have MK_CMD_MORE; with listed rows, of
// which any may be missing, the last one is empty.
static void sendRuns(SendRunsOp op, Emitter &e) {
  Runs runs(op, e);
  Value heap = e.heapOf(e.ownRank()), signal = op.getSignal();
  Value parts = runs.countParts(kCommandBytes);
  Value total = e.mul(runs.count, parts);
  int64_t last = signal ? MK_CMD_HAS_SIGNAL | (op.getStrong() ? MK_CMD_STRONG : 0) : 0;
  auto command = [&](int64_t kind, Value flags, Value from, Value to, Value bytes, Value slot) {
    if (op.getTeam())
      flags = e.or_(flags, op.getTeam());
    e.create<CommandOp>(kind, flags, op.getPeer(), op.getCta(), from, to, bytes, slot,
                        signal ? 1 : 0, op.getReport(), op.getSpanAttr());
  };
  Value none = e.c64(0), slot = signal ? signal : none;
  // A put of nothing is an arrival, too.
  Value empty = e.eq(total, 0);
  e.ifThen(runs.list || signal ? e.cbool(true) : e.not_(empty),
           [&] { e.create<CountCommandsOp>(1, op.getCta()); });
  e.fence(MemScope::Sys);
  e.forRange(e.c32(0), total, e.c32(1), [&](Value n) {
    runs.part(n, parts, kCommandBytes, [&](Value from, Value to, Value bytes) {
      Value flags = e.c32(MK_CMD_MORE);
      if (!runs.list)
        flags = e.select(e.cmp(Predicate::eq, e.add(n, 1), total), e.c32(last), flags);
      // A part of a put that goes on raises nothing.
      Value raises = e.cmp(Predicate::ne, flags, MK_CMD_MORE);
      command(MK_CMD_PUT, flags, e.sub(from, heap), e.sub(to, heap), bytes,
              e.select(raises, slot, none));
    });
  });
  if (runs.list)
    command(MK_CMD_PUT, e.c32(last), none, none, e.c32(0), slot);
  else if (signal)
    e.ifThen(empty, [&] { command(MK_CMD_SIGNAL, e.c32(last), none, none, e.c32(0), slot); });
}

void mk_thread::expandRuns(ModuleOp module) {
  replaceEach<PlanRunsOp>(module, planRuns);
  replaceEach<CopyRunsOp>(module, copyRuns);
  expandEach<SendRunsOp>(module,
                         [](SendRunsOp op, Emitter &e) { e.ifFine([&] { sendRuns(op, e); }); });
}
