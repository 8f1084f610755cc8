//===- StageFragments.cpp - Fragments to memory ---------------------------===//
//
// Through staging buffers, in the order of registers, or straight from these. Elements are taken as
// they are stored, so that what is computed on demand is computed part by part.
//
//===----------------------------------------------------------------------===//
#include "Fragments.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::MmaAttr, mk_sm::TransposedAttr;

//===----------------------------------------------------------------------===//
// Through staging buffers
//===----------------------------------------------------------------------===//

namespace {
/// Each warpgroup puts rows of a chunk into one of its buffers, in the engine's swizzle, and one of
/// its threads sends them off. Of a transposed tile a warpgroup holds columns, a chunk of each row.
class Staging {
public:
  Staging(StageFragmentOp op, Emitter &e) : op(op), e(e), tile(op.getFragment().getType()) {
    size = getElementBytes(tile.getElementType());
    chunk = e.sm.getChunk(), bufferBytes = mk_sm::getStagingBytes(chunk);
    m = tile.getDimSize(0), n = tile.getDimSize(1), columns = chunk / size;
    rows = mk_sm::countStoreRows(tile);
    chunks = mk_sm::countStoreChunks(tile, chunk), parts = mk_sm::countStoreParts(tile, chunk);
    auto layout = dyn_cast<TransposedAttr>(tile.getEncoding());
    transposed = static_cast<bool>(layout);
    int64_t groups =
        transposed ? layout.getWarpgroups() : cast<MmaAttr>(tile.getEncoding()).getWarpgroups();
    if (groups > 1)
      (transposed ? groupColumns : groupRows) = tile.getDimSize(transposed) / groups;
    downFirst = op.getUnrolled() && !op.getMaps().empty() && !transposed;
  }

  void emit() {
    if (op.getUnrolled()) {
      enter();
      for (int64_t part = 0; part < parts; ++part) {
        fill(part);
        leave(e.c32(part));
      }
      return;
    }
    forRange(e, parts, [&](Value part) {
      keepRolled(e);
      enter();
      emitSwitch(e, part, 0, parts, [&](int64_t number) { fill(number); });
      leave(part);
    });
  }

private:
  void enter();
  void fill(int64_t part);
  void leave(Value part);
  /// Stores elements of two blocks of 8 columns, or rows of a transposed tile: four from each of
  /// these on.
  void storeMatrix(int64_t first, int64_t second, function_ref<Value()> findAddress) {
    SmallVector<int32_t> which = number(first, 4);
    llvm::append_range(which, number(second, 4));
    SmallVector<Value> words = take(e, op.getFragment(), which, /*packed=*/true);
    StMatrixOp::create(e, findAddress(), words[0], words[1], words[2], words[3], transposed);
  }
  /// Which block of rows a part is of, and which of columns.
  Value blockOf(Value part) {
    return downFirst ? remU(e, part, parts / chunks) : divU(e, part, chunks);
  }
  Value chunkOf(Value part) {
    return downFirst ? divU(e, part, parts / chunks) : remU(e, part, chunks);
  }
  /// The first of a part's registers.
  int64_t firstOf(int64_t part) {
    int64_t blocks = parts / chunks, block = downFirst ? part % blocks : part / chunks,
            inRow = downFirst ? part / blocks : part % chunks;
    return transposed ? inRow * (m / 2) + std::min(block * rows, m - rows) / 2
                      : block * (n / 2) + std::min(inRow * columns, n - columns) / 2;
  }
  void fetch(int64_t part) {
    LoadAheadOp::create(e, number(firstOf(part), (transposed ? rows : columns) / 2),
                        op.getFragment());
  }

  StageFragmentOp op;
  Emitter &e;
  RankedTensorType tile;
  int64_t size, chunk, bufferBytes, m, n, columns, rows, chunks,
      parts; // rows and columns: of a part
  int64_t groupRows = 0,
          groupColumns = 0; // from one warpgroup's part of the tile to the next one's
  bool transposed;
  /// Blocks below each other follow each other: what is computed with values of columns, as a bias,
  /// then takes these no longer.
  bool downFirst;
  Value lane, group, base, sender, barrier, rowAddress, swizzle, quad; // since `enter`
};
} // namespace

void Staging::enter() {
  Value thread = ThreadIdOp::create(e, /*pinned=*/true), warp = warpOf(e, thread);
  lane = laneOf(e, thread), group = sub(e, warpgroupOf(e, thread), 1);
  base = e.shared(op.getStaging());
  base = add(e, base, mul(e, group, op.getBuffers() * bufferBytes));
  sender = eq(e, and_(e, thread, mk::kWarpgroupThreads - 1), 0),
  barrier = add(e, group, op.getBarrier());
  // stmatrix takes the address of row l % 16 of 8 columns from lane l, the others
  // write where their elements are.
  if (transposed) {
    // Lane l gives the address of token l % 8 of 8 or, lanes 16 to 31, of the next 8, for the
    // first 8 columns of its warp's 16 or the others.
    rowAddress =
        add(e, base, mul(e, or_(e, and_(e, lane, 7), shr(e, and_(e, lane, 16), 1)), chunk));
    Value piece = or_(e, shl(e, and_(e, warp, 3), 1), and_(e, shr(e, lane, 3), 1));
    rowAddress = add(e, rowAddress, shl(e, xor_(e, piece, and_(e, lane, 7)), 4));
    return;
  }
  Value inWarp = shl(e, and_(e, warp, 3), 4);
  Value ownRow = size == 2 ? and_(e, lane, 15) : shr(e, lane, 2);
  rowAddress = add(e, base, mul(e, add(e, inWarp, ownRow), chunk));
  swizzle = mk_thread::swizzle(e, size == 2 ? lane : shr(e, lane, 2));
  quad = and_(e, lane, 3);
}

void Staging::fill(int64_t part) {
  int64_t first = firstOf(part), buffers = op.getBuffers();
  // What the part is computed from, while the engine reads the buffer; and the next one, while this
  // one is computed.
  fetch(part);
  if (op.getUnrolled() && part + 1 != parts)
    fetch(part + 1);
  int64_t offset = part % buffers * bufferBytes;
  int64_t pending = op.getRegular() || part ? buffers - 1 : 0;
  ifThen(e, sender, [&] { WaitGroupOp::create(e, pending, /*read=*/true); });
  SyncOp::create(e, barrier, mk::kWarpgroupThreads);
  // Register 4 * j + 2 * half + k: column 8 * j + 2 * (l % 4) + k, row half.
  if (transposed) {
    // Behind an odd number of blocks the buffer has room, which nobody reads.
    for (int64_t j = 0, blocks = rows / 8; j < blocks; j += 2)
      storeMatrix(first + 4 * j, first + 4 * std::min(j + 1, blocks - 1),
                  [&] { return add(e, rowAddress, offset + j * 8 * chunk); });
    return;
  }
  if (size == 2) {
    for (int64_t j = 0; j < 8; j += 2)
      storeMatrix(first + 4 * j, first + 4 * (j + 1), [&] {
        // Lanes 16 to 31 give the rows of the next 8 columns.
        Value piece = xor_(e, xor_(e, shl(e, shr(e, lane, 4), 4), swizzle), j << 4);
        return add(e, add(e, rowAddress, offset), piece);
      });
    return;
  }
  for (int64_t j = 0; j < columns / 8; ++j)
    for (int64_t half = 0; half < 2; ++half) {
      SmallVector<Value> pair =
          take(e, op.getFragment(), number(first + 4 * j + 2 * half, 2), /*packed=*/false);
      Value row = add(e, rowAddress, offset + half * 8 * chunk);
      Value column = add(e, shl(e, quad, 3), 32 * j);
      Value piece = xor_(e, and_(e, column, ~15), swizzle);
      StoreOp::create(e, pair, add(e, row, or_(e, piece, and_(e, column, 15))), 8);
    }
}

void Staging::leave(Value part) {
  Value column = minS(e, mul(e, chunkOf(part), columns), n - columns);
  if (groupColumns)
    column = add(e, column, mul(e, group, groupColumns));
  Value source = add(e, base, mul(e, remU(e, part, op.getBuffers()), bufferBytes));
  Value row = mul(e, blockOf(part), rows);
  if (transposed && m % rows)
    row = minS(e, row, e.c32(m - rows));
  FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
  SyncOp::create(e, barrier, mk::kWarpgroupThreads);
  auto send = [&] {
    // A group for each part: what waits for a buffer counts them.
    for (int64_t sent = 0; sent != rows && !op.getMaps().empty(); sent += op.getRows()) {
      SmallVector<Value> coordinates(op.getCoordinates());
      coordinates.back() = add(e, coordinates.back(), column);
      coordinates.end()[-2] = add(e, coordinates.end()[-2], add(e, row, sent));
      if (groupRows)
        coordinates.end()[-2] = add(e, coordinates.end()[-2], mul(e, group, groupRows));
      for (Value map : op.getMaps())
        StoreTensorOp::create(e, add(e, source, sent * chunk), map, coordinates, op.getAdd());
    }
    CommitGroupOp::create(e);
  };
  auto byThreads = [&] {
    // Empty: what waits for a buffer counts groups.
    CommitGroupOp::create(e);
    IRMapping map;
    // Read anew: for what is rare nothing is kept.
    Value again = sub(e, warpgroupOf(e, ThreadIdOp::create(e)), 1);
    Value rowOfTile = groupRows ? add(e, row, mul(e, again, groupRows)) : row;
    map.map(op.getOtherwise().getArguments(), ArrayRef<Value>{source, rowOfTile, column});
    for (Operation &inner : op.getOtherwise().front())
      e.clone(inner, map);
  };
  ifThenElse(
      e, op.getUsable(), [&] { ifThen(e, sender, send); }, byThreads);
}

//===----------------------------------------------------------------------===//
// From registers
//===----------------------------------------------------------------------===//

static void storeFragment(StoreFragmentOp op, Emitter &e) {
  Value tile = op.getFragment();
  RankedTensorType type = op.getFragment().getType();
  int64_t n = mk_sm::getNumElements(type), grouped = op.getGrouped();
  bool onDemand = tile.getDefiningOp<OnDemandOp>();
  // What is computed for the store is computed run by run.
  auto storeParts = [&](bool inRuns, Value together = {}) {
    for (int64_t first = 0; first < n; first += grouped) {
      SmallVector<int32_t> all = number(first, std::min(grouped, n - first));
      LoadAheadOp::create(e, all, tile);
      ArrayRef<int32_t> part = all;
      size_t step = !onDemand || together ? part.size() : inRuns ? getRun(type) : 1;
      for (; !part.empty(); part = part.drop_front(step)) {
        ArrayRef<int32_t> which = part.take_front(step);
        StoreElementsOp::create(e, take(e, tile, which, /*packed=*/false), which, type,
                                op.getStart(), op.getStrides(), op.getOffsets(), op.getLimits(),
                                inRuns, together, op.getAddAttr(), op.getThread());
      }
    }
  };
  // Computed once in front of both ways, values live longer, which a loop of products
  // before them may pay for (ptxas): only what is expensive.
  Value together = op.getTogether();
  if (!together || op.getMaterialize())
    return storeParts(/*inRuns=*/false, together);
  ifThenElse(
      e, together, [&] { storeParts(true); }, [&] { storeParts(false); });
}

/// Registers that are moved together: the longest access of the PTX ISA (v4.b32).
static constexpr int64_t kRun = 4;

static void spill(SpillFragmentOp op, Emitter &e) {
  for (int64_t first = 0, n = mk_sm::getNumElements(op.getFragment().getType()); first < n;
       first += kRun) {
    SmallVector<int32_t> which = number(first, kRun);
    LoadAheadOp::create(e, which, op.getFragment());
    SmallVector<Value> words = take(e, op.getFragment(), which, /*packed=*/false);
    for (Value &word : words)
      if (!word.getType().isInteger(32))
        word = LLVM::BitcastOp::create(e, e.i32, word);
    StoreOp::create(e, words, add(e, op.getAddress(), first / kRun * op.getStep()), 4 * kRun,
                    op.getExists());
  }
}

void mk_thread::stageFragments(ModuleOp module) {
  expandEach<StageFragmentOp>(module,
                              [](StageFragmentOp op, Emitter &e) { Staging(op, e).emit(); });
  expandEach<StoreFragmentOp>(module, storeFragment);
  expandEach<SpillFragmentOp>(module, spill);
}
