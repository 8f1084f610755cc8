//===- StageRows.cpp - Fragments to memory, row by row --------------------===//
//
// The copy engine writes boxes a chunk of bytes wide. Where rows of the buffer begin within a
// sector of the L2, each chunk of each row ends within one: that is written twice, in parts, and
// read in between. A warp that stores whole rows of its tile ends within sectors at the tile's
// edges only.
//
//===----------------------------------------------------------------------===//
#include "Fragments.h"
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::kRowsTogether, mk_sm::MmaAttr, mk::SmAttr;

namespace {
/// Of the 16 rows of a block that a warp has, a thread has elements of row l / 4 and of the one
/// eight further down. A step is eight rows, of a block's first or second half for each warp.
class RowStaging {
public:
  RowStaging(StageRowsOp op, Emitter &e) : op(op), e(e), tile(op.getFragment().getType()) {
    size = tile.getElementTypeBitWidth() / 8, columns = tile.getDimSize(1);
    rowBytes = mk_sm::getStagedRowBytes(tile);
    pieces = columns * size / SmAttr::kPiece;
    together =
        std::min<int64_t>(llvm::bit_floor(uint64_t(mk::kWarpThreads / pieces)), kRowsTogether);
    int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups();
    groupRows = groups > 1 ? tile.getDimSize(0) / groups : 0;
    steps = mk_sm::countRowSteps(tile);
    ahead = mk::getSm(op).getThresholds().getStoredPieces();
  }

  void emit() {
    if (!op.getAlone())
      awaitEngine();
    if (op.getUnrolled()) {
      enter();
      for (int64_t step = 0; step < steps; ++step) {
        fill(step);
        leave(e.c32(step));
      }
    } else {
      forRange(e, steps, [&](Value step) {
        keepRolled(e);
        enter();
        emitSwitch(e, step, 0, steps, [&](int64_t number) { fill(number); });
        leave(step);
      });
    }
    // For copies of what comes next into the same shared memory.
    FenceAsyncOp::create(e, /*shared=*/true, /*global=*/false);
  }

private:
  void awaitEngine();
  void enter();
  void fill(int64_t step);
  void leave(Value step);
  void storePieces(Value row);
  void storeElements(Value row);
  /// Where the lane's piece of one of the warp's eight rows is.
  Value pieceOf(Value row) {
    Value place = xor_(e, piece, row);
    return add(e, add(e, area, mul(e, row, rowBytes)), mul(e, place, SmAttr::kPiece));
  }
  Value exists(Value row, Value column) {
    Value rows = and_(e, sge(e, row, op.getRowsFrom()), slt(e, row, op.getRowsLeft()));
    return and_(e, rows,
                and_(e, sge(e, column, op.getColumnsFrom()), slt(e, column, op.getColumnsLeft())));
  }

  StageRowsOp op;
  Emitter &e;
  RankedTensorType tile;
  int64_t size, columns, rowBytes, pieces; // rowBytes: in the staging area
  int64_t together;                        // rows that a warp stores by one instruction
  int64_t groupRows; // from one warpgroup's part of the tile to the next one's
  int64_t steps;
  int64_t ahead; // pieces that a lane has in registers on their way
  // Since `enter`: the warp's part of the staging area and its first row of the tile; what the lane
  // writes of the area; what it reads, row `ownRow` of those that are stored together.
  Value area, firstRow, place, placed, ownRow, piece, busy, whole;
};
} // namespace

void RowStaging::awaitEngine() {
  Value thread = ThreadIdOp::create(e);
  ifThen(e, eq(e, and_(e, thread, mk::kWarpgroupThreads - 1), 0),
         [&] { WaitGroupOp::create(e, 0, /*read=*/true); });
  SyncOp::create(e, add(e, sub(e, warpgroupOf(e, thread), 1), op.getBarrier()),
                 mk::kWarpgroupThreads);
}

void RowStaging::enter() {
  Value thread = ThreadIdOp::create(e, /*pinned=*/true), lane = laneOf(e, thread);
  constexpr int64_t kWarps = mk::kWarpgroupThreads / mk::kWarpThreads;
  Value group = sub(e, warpgroupOf(e, thread), 1), warp = and_(e, warpOf(e, thread), kWarps - 1);
  int64_t bytes = op.getBuffers() * mk_sm::getStagingBytes(e.sm.getChunk());
  area = add(e, e.shared(op.getStaging()), mul(e, group, bytes));
  area = add(e, area, mul(e, warp, bytes / kWarps));
  firstRow = mul(e, warp, 2 * kRowsTogether);
  if (groupRows)
    firstRow = add(e, firstRow, mul(e, group, groupRows));
  // stmatrix takes the address of row l % 8 of matrix l / 8 from lane l; else lanes write two
  // elements where they are.
  Value row = size == 2 ? and_(e, lane, 7) : shr(e, lane, 2);
  Value first = size == 2 ? shr(e, lane, 3) : and_(e, shr(e, lane, 1), 1);
  placed = add(e, area, mul(e, row, rowBytes));
  place = mul(e, xor_(e, first, row), SmAttr::kPiece);
  if (size != 2)
    place = or_(e, place, shl(e, and_(e, lane, 1), 3));

  piece = remU(e, lane, pieces), busy = slt(e, lane, together * pieces);
  ownRow = select(e, busy, divU(e, lane, pieces), e.c32(0));
  // Whether no piece is cut, and each is aligned.
  Value bits = or_(e, op.getStart(), op.getRowStride());
  whole = and_(e, eq(e, and_(e, bits, SmAttr::kPiece - 1), 0), eq(e, op.getColumnStride(), size));
  whole = and_(e, whole, sle(e, op.getColumnsFrom(), 0));
  whole = and_(e, whole,
               or_(e, sge(e, op.getColumnsLeft(), columns),
                   eq(e, and_(e, op.getColumnsLeft(), SmAttr::kPiece / size - 1), 0)));
}

void RowStaging::fill(int64_t step) {
  // Register 4 * j + 2 * half + k of a block: column 8 * j + 2 * (l % 4) + k.
  int64_t first = step / 2 * (columns / 2) + step % 2 * 2, blocks = columns / 8;
  auto pair = [&](int64_t j) { return number(first + 4 * std::min(j, blocks - 1), 2); };
  int64_t atOnce = size == 2 ? 4 : 1;
  for (int64_t j = 0; j < blocks; j += atOnce) {
    if (j % kRowsTogether == 0) {
      // What is on demand, for some columns at a time.
      SmallVector<int32_t> ahead;
      for (int64_t k = j; k < std::min(j + kRowsTogether, blocks); ++k)
        llvm::append_range(ahead, pair(k));
      LoadAheadOp::create(e, ahead, op.getFragment());
    }
    Value address = add(e, placed, xor_(e, place, j * 8 * size));
    if (size != 2) {
      StoreOp::create(e, take(e, op.getFragment(), pair(j), /*packed=*/false), address, 8);
      continue;
    }
    // Behind the last column the row has room, which nobody reads.
    SmallVector<int32_t> which;
    for (int64_t k = j; k < j + atOnce; ++k)
      llvm::append_range(which, pair(k));
    SmallVector<Value> words = take(e, op.getFragment(), which, /*packed=*/true);
    StMatrixOp::create(e, address, words[0], words[1], words[2], words[3], /*transpose=*/false);
  }
}

void RowStaging::leave(Value step) {
  // The rows of this step in the tile begin here.
  Value row = add(e, firstRow, mul(e, shr(e, step, 1), MmaAttr::kRows));
  row = add(e, row, mul(e, and_(e, step, 1), kRowsTogether));
  SyncWarpOp::create(e);
  ifThenElse(
      e, whole, [&] { storePieces(row); }, [&] { storeElements(row); });
  SyncWarpOp::create(e);
}

void RowStaging::storePieces(Value row) {
  Value column = mul(e, piece, SmAttr::kPiece / size), first = add(e, row, ownRow);
  Value address = add(e, op.getStart(), mul(e, op.getRowStride(), resize(e, first, e.i64)));
  address = add(e, address, resize(e, mul(e, piece, SmAttr::kPiece), e.i64));
  Value stride = mul(e, op.getRowStride(), together);
  int64_t rounds = kRowsTogether / together;
  for (int64_t from = 0; from < rounds; from += ahead) {
    int64_t to = std::min(from + ahead, rounds);
    SmallVector<SmallVector<Value>> words;
    for (int64_t round = from; round < to; ++round)
      words.emplace_back(LoadOp::create(e, SmallVector<Type>(4, e.i32),
                                        pieceOf(add(e, ownRow, round * together)), SmAttr::kPiece)
                             .getResults());
    for (int64_t round = from; round < to; ++round) {
      storeWhere(e, and_(e, busy, exists(add(e, first, round * together), column)), address,
                 SmAttr::kPiece, words[round - from]);
      address = add(e, address, stride);
    }
  }
}

void RowStaging::storeElements(Value row) {
  int64_t perPiece = SmAttr::kPiece / size;
  Type bits = e.getIntegerType(8 * size);
  forRange(e, kRowsTogether / together * perPiece, [&](Value n) {
    keepRolled(e);
    Value own = add(e, ownRow, mul(e, divU(e, n, perPiece), together));
    Value inPiece = remU(e, n, perPiece), inTile = add(e, row, own);
    Value column = add(e, mul(e, piece, perPiece), inPiece);
    Value value = load(e, bits, add(e, pieceOf(own), mul(e, inPiece, size)));
    Value to = add(e, op.getStart(), mul(e, op.getRowStride(), resize(e, inTile, e.i64)));
    to = add(e, to, mul(e, op.getColumnStride(), resize(e, column, e.i64)));
    storeWhere(e, and_(e, busy, exists(inTile, column)), to, size, value);
  });
}

void mk_thread::stageRows(ModuleOp module) {
  expandEach<StageRowsOp>(module, [](StageRowsOp op, Emitter &e) { RowStaging(op, e).emit(); });
}
