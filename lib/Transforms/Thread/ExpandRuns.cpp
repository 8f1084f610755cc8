//===- ExpandRuns.cpp - A region in pieces --------------------------------===//
//
// A region is gone through in runs, pieces that are contiguous at both ends:
// through slots of shared memory, element by element, or as commands for the proxy.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/ABI/Command.h"
#include "mkernel/Analysis/Multiples.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// Bytes of one command at most: its field has 32 bits (Command.h).
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
    exists ? ifThen(e, exists, body) : body();
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
  Value joined = e.cbool(true), nonEmpty = e.cbool(true);
  Value run = e.c64(op.getElement().getIntOrFloatBitWidth() / 8), count = e.c32(1);
  SmallVector<Value> places(rank);
  Value bits = or_(e, op.getSource(), op.getDest());
  for (int64_t d = rank - 1; d >= 0; --d) {
    Value size = op.getSizes()[d], from = op.getFrom()[d], to = op.getTo()[d];
    nonEmpty = and_(e, nonEmpty, sgt(e, size, 0));
    if (d < listed) {
      joined = e.cbool(false);
    } else {
      Value tight = and_(e, eq(e, from, run), eq(e, to, run));
      joined = and_(e, joined, or_(e, tight, eq(e, size, 1)));
    }
    run = select(e, joined, mul(e, run, size), run);
    Value strides = or_(e, from, to);
    bits = or_(e, bits, select(e, joined, e.c64(0), strides));
    places[d] = select(e, joined, e.c32(1), resize(e, size, e.i32));
    count = mul(e, count, places[d]);
  }
  count = select(e, nonEmpty, count, e.c32(0));
  std::optional<int64_t> bytes = getConstantIntValue(run);
  Value aligned = bytes && *bytes % mk::kEngineBytes
                      ? e.cbool(false)
                      : eq(e, and_(e, or_(e, bits, run), mk::kEngineBytes - 1), 0);
  SmallVector<Value> results{count, run, aligned};
  llvm::append_range(results, places);
  return results;
}

std::tuple<Value, Value, Value> Runs::at(Value n) {
  Value start = source, end = dest, exists;
  for (int64_t d = sizes.size() - 1; d >= 0; --d) {
    Value i = n;
    if (d) {
      i = remU(e, n, sizes[d]);
      n = divU(e, n, sizes[d]);
    }
    Value row = resize(e, i, e.i64);
    end = add(e, end, mul(e, row, to[d]));
    if (d == 0 && list) {
      Value number = load(e, e.i32, add(e, list, shl(e, i, 2)));
      exists = sge(e, number, 0);
      row = resize(e, number, e.i64, /*isSigned=*/true);
    }
    start = add(e, start, mul(e, row, from[d]));
  }
  return {start, end, exists};
}

Value Runs::countParts(int64_t bytes) {
  return resize(e, divU(e, add(e, run, bytes - 1), bytes), e.i32);
}

void Runs::part(Value n, Value parts, int64_t bytes, function_ref<void(Value, Value, Value)> body) {
  Value part = remU(e, n, parts);
  Value number = divU(e, n, parts);
  auto [from, to, exists] = at(number);
  Value offset = mul(e, resize(e, part, e.i64), bytes);
  Value size = resize(e, minS(e, sub(e, run, offset), bytes), e.i32);
  Value start = add(e, from, offset), end = add(e, to, offset);
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
  Value sender = eq(e, laneOf(e, op.getThread()), 0);
  // Pieces of a run, and all of them.
  Value parts = runs.countParts(slots.getBytes());
  Value total = fromLane0(e, mul(e, runs.count, parts));
  auto piece = [&](Value n, function_ref<void(Value, Value, Value)> body) {
    runs.part(n, parts, slots.getBytes(), body);
  };
  auto slotOf = [&](Value stage) {
    return add(e, e.shared(slots.getAt()), mul(e, read(e, stage, e.i32), slots.getBytes()));
  };
  auto barrierOf = [&](Value stage) {
    return add(e, e.shared(slots.getBarriers()), mul(e, read(e, stage, e.i32), 8));
  };
  Value loadStage = places[0], loadParity = places[1], storeStage = places[2],
        storeParity = places[3];
  forRange(e, add(e, total, ahead), [&](Value n) {
    ifThen(e, sge(e, n, ahead), [&] {
      piece(sub(e, n, ahead), [&](Value, Value to, Value bytes) {
        BarrierWaitOp::create(e, barrierOf(storeStage), read(e, storeParity, e.i32),
                              read(e, storeStage, e.i32), *op.getReport(),
                              /*doubleDeadline=*/false);
        Value slot = slotOf(storeStage);
        ifThen(e, sender, [&] {
          StoreBulkOp::create(e, slot, to, bytes, added);
          CommitGroupOp::create(e);
        });
        advance(e, storeStage, storeParity, slots.getCount());
      });
    });
    ifThen(e, slt(e, n, total), [&] {
      piece(n, [&](Value from, Value, Value bytes) {
        Value slot = slotOf(loadStage), full = barrierOf(loadStage);
        ifThen(e, sender, [&] {
          // All but the store just issued.
          WaitGroupOp::create(e, 1, /*read=*/true);
          BarrierArriveOp::create(e, full, /*cta=*/Value(), bytes);
          CopyBulkOp::create(e, from, slot, bytes, full);
        });
        advance(e, loadStage, loadParity, slots.getCount());
      });
    });
  });
  ifThen(e, sender, [&] { WaitGroupOp::create(e, 0, /*read=*/false); });
}

/// How far the other destinations are from the first one.
static SmallVector<Value> getDistances(CopyRunsOp op, Emitter &e) {
  return llvm::map_to_vector(op.getAlso(), [&](Value to) { return sub(e, to, op.getDest()); });
}

// As many loads under way as registers allow, 16 bytes a lane: what is on its way to a link at the
// same time is bounded by what has come, and the products of the same SM have room. Fewer where it
// goes to several peers: with all of them links are full sooner, and products wait longer.
static void copyByLanes(Emitter &e, CopyRunsOp op, Runs &runs) {
  // The batch goes with `net_mover`, the registers that the target's description reserves for this
  // code.
  constexpr int64_t kUnit = 16; // the longest access of the PTX ISA (v4.b32)
  mk::ThresholdsAttr most = e.sm.getThresholds();
  const int64_t inBatch = op.getAlso().empty() ? most.getMovedUnits() : most.getMulticastUnits(),
                step = mk::kWarpThreads * inBatch;
  SmallVector<Type> words(kUnit / 4, e.i32);
  Value lane = op.getThread();
  SmallVector<Value> others = getDistances(op, e);
  forRange(e, fromLane0(e, runs.count), [&](Value n) {
    auto [source, dest, exists] = runs.at(n);
    Value units = resize(e, shr(e, runs.run, 4), e.i32), own = shl(e, resize(e, lane, e.i64), 4);
    Value from = add(e, source, own), to = add(e, dest, own);
    auto copy = [&](Value batch, bool whole) {
      Value offset = shl(e, resize(e, batch, e.i64), 4);
      Value at = add(e, from, offset), target = add(e, to, offset);
      SmallVector<SmallVector<Value>> values(inBatch);
      SmallVector<Value> isIn(inBatch);
      for (int64_t i = 0; i != inBatch; ++i) {
        if (!whole)
          isIn[i] = resize(e, ult(e, add(e, add(e, batch, lane), 32 * i), units), e.i32);
        SmallVector<Value> none(whole ? 0 : words.size(), e.c32(0));
        values[i] =
            LoadOp::create(e, words, add(e, at, mk::kWarpThreads * kUnit * i), kUnit, isIn[i], none)
                .getResults();
      }
      auto store = [&](Value to) {
        for (int64_t i = 0; i != inBatch; ++i)
          StoreOp::create(e, values[i], add(e, to, mk::kWarpThreads * kUnit * i), kUnit, isIn[i]);
      };
      store(target);
      for (Value distance : others)
        store(add(e, target, distance));
    };
    Value whole = and_(e, units, -step);
    forRange(e, e.c32(0), whole, e.c32(step), [&](Value batch) { copy(batch, /*whole=*/true); });
    ifThen(e, ne(e, whole, units), [&] { copy(whole, /*whole=*/false); });
  });
}

static void copyByThreads(Emitter &e, CopyRunsOp op, Runs &runs) {
  Type element = op.getElement();
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  SmallVector<Value> others = getDistances(op, e);
  Value units = resize(e, divU(e, runs.run, size), e.i32);
  Value total = mul(e, runs.count, units);
  forRange(e, op.getThread(), total, e.c32(op.getThreads()), [&](Value n) {
    Value unit = remU(e, n, units);
    Value run = divU(e, n, units);
    auto [source, dest, exists] = runs.at(run);
    Value offset = mul(e, resize(e, unit, e.i64), size);
    Value from = add(e, source, offset), to = add(e, dest, offset);
    runs.whereExists(exists, [&] {
      Value value = load(e, e.getIntegerType(8 * size), from);
      if (!op.getAdd()) {
        store(e, value, to);
        for (Value distance : others)
          store(e, value, add(e, to, distance));
        return;
      }
      if (element.isF32() || element.isF64())
        value = LLVM::BitcastOp::create(e, element, value);
      StoreOp::create(e, value, to, size, /*condition=*/Value(), /*inverted=*/false,
                      TypeAttr::get(element), MemScopeAttr::get(e.getContext(), MemScope::Sys));
    });
  });
}

static SmallVector<Value> copyRuns(CopyRunsOp op, Emitter &e) {
  Runs runs(op, e);
  SmallVector<Value> places;
  for (size_t i = 0; i != op.getPlaces().size(); ++i)
    places.push_back(variable(e, e.i32, e.c32(0)));
  for (auto [variable, place] : llvm::zip(places, op.getPlaces()))
    write(e, variable, place);
  auto inPieces = [&] {
    if (!op.getSlots())
      return op.getAdd() ? copyByThreads(e, op, runs) : copyByLanes(e, op, runs);
    ifThen(e, ult(e, op.getThread(), mk::kWarpThreads), [&] { copyByEngine(e, op, runs, places); });
  };
  // Runs of a few bytes are known to be no pieces.
  if (matchPattern(op.getAligned(), m_Zero()))
    copyByThreads(e, op, runs);
  else
    ifThenElse(e, op.getAligned(), inPieces, [&] { copyByThreads(e, op, runs); });
  return llvm::map_to_vector(places, [&](Value place) { return read(e, place, e.i32); });
}

//===----------------------------------------------------------------------===//
// Across a network
//===----------------------------------------------------------------------===//

// All commands but the last have MK_CMD_MORE; with listed rows, of
// which any may be missing, the last one is empty.
static void sendRuns(SendRunsOp op, Emitter &e) {
  Runs runs(op, e);
  Value heap = heapOf(e, ownRank(e)), signal = op.getSignal();
  Value parts = runs.countParts(kCommandBytes);
  Value total = mul(e, runs.count, parts);
  int64_t last = signal ? MK_CMD_HAS_SIGNAL | (op.getStrong() ? MK_CMD_STRONG : 0) : 0;
  auto command = [&](int64_t kind, Value flags, Value from, Value to, Value bytes, Value slot) {
    if (op.getTeam())
      flags = or_(e, flags, op.getTeam());
    CommandOp::create(e, kind, flags, op.getPeer(), op.getCta(), from, to, bytes, slot,
                      signal ? 1 : 0, op.getReport(), op.getSpanAttr());
  };
  Value none = e.c64(0), slot = signal ? signal : none;
  // A put of nothing is an arrival, too.
  Value empty = eq(e, total, 0);
  ifThen(e, runs.list || signal ? e.cbool(true) : xor_(e, empty, e.cbool(true)),
         [&] { CountCommandsOp::create(e, 1, op.getCta()); });
  FenceOp::create(e, MemScope::Sys);
  forRange(e, total, [&](Value n) {
    runs.part(n, parts, kCommandBytes, [&](Value from, Value to, Value bytes) {
      Value flags = e.c32(MK_CMD_MORE);
      if (!runs.list)
        flags = select(e, eq(e, add(e, n, 1), total), e.c32(last), flags);
      // A part of a put that goes on raises nothing.
      Value raises = ne(e, flags, MK_CMD_MORE);
      command(MK_CMD_PUT, flags, sub(e, from, heap), sub(e, to, heap), bytes,
              select(e, raises, slot, none));
    });
  });
  if (runs.list)
    command(MK_CMD_PUT, e.c32(last), none, none, e.c32(0), slot);
  else if (signal)
    ifThen(e, empty, [&] { command(MK_CMD_SIGNAL, e.c32(last), none, none, e.c32(0), slot); });
}

void mk_thread::expandRuns(ModuleOp module) {
  replaceEach<PlanRunsOp>(module, planRuns);
  replaceEach<CopyRunsOp>(module, copyRuns);
  expandEach<SendRunsOp>(
      module, [](SendRunsOp op, Emitter &e) { unlessFailed(e, [&] { sendRuns(op, e); }); });
}
