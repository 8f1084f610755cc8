//===- SMTypes.cpp - Layouts and channels ---------------------------------===//
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Support/Counted.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mk_sm;

#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/SM/SMAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "mkernel/Dialect/SM/SMTypes.cpp.inc"

void MkSMDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mkernel/Dialect/SM/SMAttrs.cpp.inc"
      >();
}

void MkSMDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "mkernel/Dialect/SM/SMTypes.cpp.inc"
      >();
}

using Emit = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LogicalResult MmaAttr::verify(Emit emit, int64_t warpgroups) {
  if (warpgroups < 1)
    return emit() << "a layout is over one warpgroup or more, not " << warpgroups;
  return success();
}

LogicalResult TransposedAttr::verify(Emit emit, Attribute of) {
  if (!isa<MmaAttr>(of))
    return emit() << "what is transposed without moving is accumulators (#mk_sm.mma), not " << of
                  << ": deal its elements out by #mk_sm.blocked";
  return success();
}

int64_t TransposedAttr::getWarpgroups() const { return cast<MmaAttr>(getOf()).getWarpgroups(); }

LogicalResult SliceAttr::verify(Emit emit, int64_t axis, Attribute of) {
  if (!isa<MmaAttr>(of))
    return emit() << "a slice is of accumulators (#mk_sm.mma), not of " << of
                  << ": deal its elements out by #mk_sm.blocked";
  if (axis != 0 && axis != 1)
    return emit() << "a slice of accumulators is without axis 0 or 1, not " << axis;
  return success();
}

LogicalResult BlockedAttr::verify(Emit emit, int64_t threads, int64_t vector) {
  if (threads < 1 || threads % mk::kWarpThreads)
    return emit() << "a layout is over whole warps, not " << threads << " threads";
  if (vector < 1 || vector > 16 || !llvm::isPowerOf2_64(vector))
    return emit() << "runs are of 1, 2, 4, 8 or 16 elements, not " << vector;
  return success();
}

std::string mk_sm::explainLayout(ArrayRef<int64_t> shape, Attribute layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto explainRows = [&](int64_t extent, MmaAttr mma) {
    int64_t rows = MmaAttr::kRows * mma.getWarpgroups();
    if (extent % rows)
      os << extent << " rows cannot be split over "
         << mkernel::counted(mma.getWarpgroups(), "warpgroup") << ", each of which takes blocks of "
         << MmaAttr::kRows << "; the next is " << llvm::alignTo(extent, rows);
  };
  auto explainColumns = [&](int64_t extent) {
    if (extent % MmaAttr::kColumns)
      os << extent << " columns are no multiple of " << MmaAttr::kColumns << "; the next is "
         << llvm::alignTo(extent, MmaAttr::kColumns);
  };
  auto transposed = dyn_cast<TransposedAttr>(layout);
  if (transposed && shape.size() == 2) {
    explainRows(shape[1], cast<MmaAttr>(transposed.getOf()));
    if (text.empty())
      explainColumns(shape[0]);
    return text.empty() ? text : "transposed, its " + text;
  }
  if (isa<MmaAttr, TransposedAttr>(layout)) {
    if (shape.size() != 2)
      os << "accumulators are tiles of two dimensions, this one has " << shape.size();
    else if (explainRows(shape[0], cast<MmaAttr>(layout)); text.empty())
      explainColumns(shape[1]);
  } else if (auto slice = dyn_cast<SliceAttr>(layout)) {
    // The extent along the axis is the parent's own; any that fits will do.
    if (shape.size() != 1)
      os << "a slice of accumulators has one dimension, this tile has " << shape.size();
    else if (slice.getAxis() == 1)
      explainRows(shape[0], cast<MmaAttr>(slice.getOf()));
    else
      explainColumns(shape[0]);
  } else if (!isa<BlockedAttr>(layout)) {
    os << layout << " is not a layout of fragments";
  }
  return text;
}

int64_t mk_sm::getLayoutThreads(Attribute layout) {
  if (auto slice = dyn_cast<SliceAttr>(layout))
    layout = slice.getOf();
  if (auto transposed = dyn_cast<TransposedAttr>(layout))
    layout = transposed.getOf();
  if (auto mma = dyn_cast<MmaAttr>(layout))
    return mk::kWarpgroupThreads * mma.getWarpgroups();
  auto blocked = dyn_cast<BlockedAttr>(layout);
  return blocked ? blocked.getThreads() : 0;
}

int64_t mk_sm::getNumElements(RankedTensorType fragment) {
  Attribute layout = fragment.getEncoding();
  if (!layout || !explainLayout(fragment.getShape(), layout).empty())
    return -1;
  ArrayRef<int64_t> shape = fragment.getShape();
  if (auto transposed = dyn_cast<TransposedAttr>(layout))
    return shape[1] / MmaAttr::kRows / transposed.getWarpgroups() * (shape[0] / 2);
  if (auto mma = dyn_cast<MmaAttr>(layout))
    return shape[0] / MmaAttr::kRows / mma.getWarpgroups() * (shape[1] / 2);
  if (auto blocked = dyn_cast<BlockedAttr>(layout))
    return llvm::divideCeil(fragment.getNumElements(), blocked.getThreads() * blocked.getVector()) *
           blocked.getVector();
  auto slice = cast<SliceAttr>(layout);
  auto mma = cast<MmaAttr>(slice.getOf());
  return slice.getAxis() == 1 ? shape[0] / MmaAttr::kRows / mma.getWarpgroups() * 2 : shape[0] / 4;
}

bool mk_sm::hasWholeRounds(RankedTensorType fragment) {
  auto blocked = dyn_cast_or_null<BlockedAttr>(fragment.getEncoding());
  return blocked && fragment.getRank() == 2 && fragment.getDimSize(1) % blocked.getVector() == 0 &&
         fragment.getNumElements() % (blocked.getThreads() * blocked.getVector()) == 0;
}

RankedTensorType mk_sm::getPartialType(RankedTensorType from, int64_t axis) {
  if (from.getRank() != 2 || axis < 0 || axis > 1)
    return {};
  Attribute layout = from.getEncoding();
  Type element = from.getElementType();
  if (isa_and_nonnull<MmaAttr>(layout))
    return axis == 1
               ? RankedTensorType::get({from.getDimSize(0), MmaAttr::kColumns}, element, layout)
               : RankedTensorType();
  if (!hasWholeRounds(from))
    return {};
  auto blocked = cast<BlockedAttr>(layout);
  int64_t columns = from.getDimSize(1), vector = blocked.getVector();
  if (axis == 1)
    return vector == 1 ? RankedTensorType()
                       : RankedTensorType::get(
                             {from.getDimSize(0), columns / vector}, element,
                             BlockedAttr::get(from.getContext(), blocked.getThreads(), 1));
  // After so many rows each thread is at the same columns again.
  int64_t rows = std::lcm(blocked.getThreads() * vector, columns) / columns;
  return rows < from.getDimSize(0) && from.getDimSize(0) % rows == 0
             ? RankedTensorType::get({rows, columns}, element, layout)
             : RankedTensorType();
}

bool mk_sm::mayBeSpilled(RankedTensorType fragment) {
  return isa_and_nonnull<MmaAttr, TransposedAttr>(fragment.getEncoding()) &&
         fragment.getElementType().isIntOrFloat() && fragment.getElementTypeBitWidth() == 32 &&
         getNumElements(fragment) > 0;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

int64_t mk_sm::getStagedBytes(RankedTensorType tile, int64_t chunk) {
  int64_t columns = tile.getShape().back();
  int64_t bytes = columns * llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
  return tile.getNumElements() / columns * llvm::alignTo(bytes, chunk);
}

bool mk_sm::fillsChunks(RankedTensorType tile, int64_t chunk) {
  int64_t bits = tile.getShape().back() * tile.getElementTypeBitWidth();
  return bits % (8 * chunk) == 0 ||
         (bits < 8 * chunk && bits >= 4 * chunk && bits % (8 * mk::SmAttr::kPiece) == 0);
}

Attribute mk_sm::getTransposedLayout(Attribute layout) {
  if (auto transposed = dyn_cast_or_null<TransposedAttr>(layout))
    return transposed.getOf();
  return isa_and_nonnull<MmaAttr>(layout) ? TransposedAttr::get(layout.getContext(), layout)
                                          : Attribute();
}

bool mk_sm::isThreadLocal(mk::TransposeOp op) {
  Attribute layout = getTransposedLayout(getLayout(op.getSource().getType()));
  return layout && layout == getLayout(op.getType());
}

int64_t mk_sm::countStoreChunks(RankedTensorType tile, int64_t chunk) {
  int64_t bits = tile.getElementTypeBitWidth(), columns = tile.getShape().back();
  // The columns are the warpgroups'.
  if (auto transposed = dyn_cast_or_null<TransposedAttr>(tile.getEncoding()))
    columns /= transposed.getWarpgroups();
  return llvm::divideCeil(columns * bits, chunk * 8);
}

int64_t mk_sm::countStoreRows(RankedTensorType tile) {
  return isa_and_nonnull<TransposedAttr>(tile.getEncoding())
             ? std::min<int64_t>(tile.getDimSize(0), MmaAttr::kRows)
             : MmaAttr::kRows;
}

int64_t mk_sm::countStoreParts(RankedTensorType tile, int64_t chunk) {
  if (tile.getRank() != 2)
    return 0;
  if (isa_and_nonnull<TransposedAttr>(tile.getEncoding()))
    return llvm::divideCeil(tile.getDimSize(0), countStoreRows(tile)) *
           countStoreChunks(tile, chunk);
  auto layout = dyn_cast_or_null<MmaAttr>(tile.getEncoding());
  if (!layout)
    return 0;
  return tile.getDimSize(0) / layout.getWarpgroups() / MmaAttr::kRows *
         countStoreChunks(tile, chunk);
}

bool mk_sm::canStoreInChunks(RankedTensorType tile, bool adds, int64_t chunk) {
  int64_t columns = tile.getShape().back();
  int64_t perChunk = chunk * 8 / tile.getElementTypeBitWidth();
  // A warpgroup has blocks of columns that are a chunk each.
  if (isa_and_nonnull<TransposedAttr>(tile.getEncoding()))
    return perChunk == MmaAttr::kRows && (!adds || tile.getDimSize(0) % countStoreRows(tile) == 0);
  return columns % perChunk == 0 ||
         (!adds && columns > perChunk && columns % MmaAttr::kColumns == 0);
}

/// Warps of a warpgroup.
static constexpr int64_t kWarps = mk::kWarpgroupThreads / mk::kWarpThreads;

int64_t mk_sm::countRowSteps(RankedTensorType tile) {
  int64_t groups = cast<MmaAttr>(tile.getEncoding()).getWarpgroups();
  return tile.getDimSize(0) / (groups * kWarps * kRowsTogether);
}

int64_t mk_sm::getStagedRowBytes(RankedTensorType tile) {
  int64_t bytes = tile.getDimSize(1) * tile.getElementTypeBitWidth() / 8;
  return llvm::alignTo(bytes, kRowsTogether * mk::SmAttr::kPiece);
}

bool mk_sm::canStoreByRows(RankedTensorType tile, int64_t buffers, int64_t chunk) {
  if (!isa_and_nonnull<MmaAttr>(tile.getEncoding()))
    return false;
  int64_t bytes = getStagedRowBytes(tile);
  return bytes <= mk::kWarpThreads * mk::SmAttr::kPiece &&
         kWarps * kRowsTogether * bytes <= buffers * getStagingBytes(chunk);
}

int64_t RingType::getSlotBytes(int64_t chunk) const {
  int64_t bytes = 0;
  for (Type tile : getTiles())
    bytes += getStagedBytes(cast<RankedTensorType>(tile), chunk);
  // The next slot begins with the swizzle's period.
  bool listed = cast<RankedTensorType>(getTiles().back()).getRank() == 1;
  return listed ? llvm::alignTo(bytes, chunk / mk::SmAttr::kPiece * chunk) : bytes;
}

Type RingType::parse(AsmParser &parser) {
  int64_t depth = ShapedType::kDynamic;
  SmallVector<Type> tiles;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(depth))
    return {};
  if (parser.parseComma() || parser.parseTypeList(tiles) || parser.parseGreater())
    return {};
  return parser.getChecked<RingType>(loc, parser.getContext(), depth, tiles);
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<';
  if (hasDepth())
    printer << getDepth();
  else
    printer << '?';
  printer << ", ";
  llvm::interleaveComma(getTiles(), printer);
  printer << '>';
}

/// Checks that tiles can be staged. The syntax of types has at least one.
static LogicalResult verifyStaged(Emit emit, ArrayRef<Type> tiles) {
  bool listed = false;
  for (Type type : tiles) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile || !tile.hasStaticShape() || tile.getEncoding() || tile.getRank() < 1)
      return emit() << "a slot holds tiles of static shape and at least one dimension, without a "
                       "layout, not "
                    << type;
    Type element = tile.getElementType();
    if (!element.isIntOrFloat() ||
        !llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth()))
      return emit() << "a staged tile has elements of 8, 16, 32 or 64 bits, not of " << element;
    int64_t columns = tile.getShape().back();
    if (tile.getRank() == 1) {
      if (element.getIntOrFloatBitWidth() < 32)
        return emit() << "a staged tile of one dimension has elements of 32 or 64 bits, not of "
                      << element;
      if (columns < 1 || columns > UINT16_MAX)
        return emit() << "a staged tile has 1 to " << UINT16_MAX << " elements of a dimension, "
                      << type << " has not";
      listed = true;
      continue;
    }
    if (listed)
      return emit() << "tiles of one dimension come last in a slot; " << type
                    << " is behind one: list it before";
    int64_t piece = mk::SmAttr::kPiece * 8 / element.getIntOrFloatBitWidth();
    if (columns == 0 || columns % piece)
      return emit() << "a staged tile lies in pieces of " << mk::SmAttr::kPiece << " bytes, "
                    << piece << " elements of " << element << "; " << columns << " columns of "
                    << type << " are no multiple of that, the next is "
                    << llvm::alignTo(columns + !columns, piece);
    for (int64_t extent : tile.getShape().drop_back(2))
      if (extent != 1)
        return emit() << "a staged tile has two dimensions that are not 1, " << type << " has more";
    // 16 bits each, so that nothing wraps below.
    int64_t rows = tile.getShape().end()[-2];
    if (rows < 1 || rows > UINT16_MAX || columns > UINT16_MAX)
      return emit() << "a staged tile has 1 to " << UINT16_MAX << " rows and columns, " << type
                    << " has not";
  }
  return success();
}

LogicalResult RingType::verify(Emit emit, int64_t depth, ArrayRef<Type> tiles) {
  if (!ShapedType::isDynamic(depth) && (depth < 1 || depth > 64))
    return emit() << "a ring has 1 to 64 slots, not " << depth;
  return verifyStaged(emit, tiles);
}

LogicalResult SlotType::verify(Emit emit, ArrayRef<Type> tiles) {
  return verifyStaged(emit, tiles);
}

LogicalResult StagedType::verify(Emit emit, RankedTensorType tile) {
  return verifyStaged(emit, Type(tile));
}

LogicalResult MailboxType::verify(Emit emit, int64_t depth, int64_t words) {
  if (depth < 1 || depth > 64 || words < 1 || words > kMostWords)
    return emit() << "a mailbox has 1 to 64 slots of 1 to " << kMostWords << " words, not " << depth
                  << " of " << words;
  return success();
}

LogicalResult StagingType::verify(Emit emit, int64_t buffers) {
  if (buffers < 1 || buffers > 8)
    return emit() << "a staging area has 1 to 8 buffers, not " << buffers;
  return success();
}
