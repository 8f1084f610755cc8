//===- ThreadElementOps.cpp - A thread's elements of a tile ---------------===//
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;
using mk_sm::BlockedAttr, mk_sm::MmaAttr, mk_sm::SliceAttr, mk_sm::TransposedAttr;

Type mk_thread::getRegisterType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  // LLVM has no type for 8-bit floats: their bits.
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

int64_t mk_thread::getElementBytes(Type element) {
  return llvm::divideCeil(getRegisterType(element).getIntOrFloatBitWidth(), 8);
}

LogicalResult mk_thread::verifyElements(Operation *op, RankedTensorType tile, TypeRange elements) {
  int64_t count = mk_sm::getNumElements(tile);
  Type element = getRegisterType(tile.getElementType());
  if (count == int64_t(elements.size()) && llvm::all_equal(elements) &&
      (elements.empty() || elements.front() == element))
    return success();
  return op->emitOpError() << "has " << elements.size() << " values for a tile " << tile
                           << ", of which a thread holds " << count << ", each as " << element;
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

LogicalResult RoomAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads,
                               int64_t offset, int64_t bytes) {
  if (threads < mk::kWarpThreads || threads % mk::kWarpThreads || offset < 0 || offset % 8 ||
      bytes < 0)
    return emitError() << "is a room of " << bytes << " bytes at " << offset << " for " << threads
                       << " threads; use whole warps, and offsets in multiples of 8";
  return success();
}

static LogicalResult verifyRoom(Operation *op, RoomAttr room, Value barrier, int64_t bytes) {
  if ((room.getThreads() > mk::kWarpThreads) != bool(barrier))
    return op->emitOpError() << "exchanges elements of " << room.getThreads()
                             << " threads; more than a warp meet at a barrier, a warp at none";
  if (room.getBytes() < bytes)
    return op->emitOpError() << "exchanges " << bytes << " bytes at least, and has room for "
                             << room.getBytes();
  return verifyInShared(op, room.getOffset(), 8, room.getBytes());
}

LogicalResult ExchangeElementsOp::verify() {
  RankedTensorType from = getFrom(), to = getTo();
  if (failed(verifyElements(*this, from, getElements().getTypes())) ||
      failed(verifyElements(*this, to, getResultTypes())))
    return failure();
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip(to.getShape(), getStrides()))
    last += (extent - 1) * stride;
  if (from.getElementType() != to.getElementType() ||
      int64_t(getStrides().size()) != to.getRank() ||
      llvm::any_of(getStrides(), [](int64_t stride) { return stride < 0; }) ||
      last >= from.getNumElements())
    return emitOpError() << "takes elements of " << from << " for " << to << " in strides ["
                         << getStrides()
                         << "]; give one for each dimension, so that all of them exist";
  return verifyRoom(*this, getRoom(), getBarrier(), getElementBytes(from.getElementType()));
}

LogicalResult SwapElementsOp::verify() {
  RankedTensorType tile = getTile();
  if (failed(verifyElements(*this, tile, getElements().getTypes())) ||
      failed(verifyElements(*this, tile, getResultTypes())))
    return failure();
  int64_t ctas = getCtas(), cluster = (*this)->getParentOfType<KernelOp>().getCluster();
  if (ctas < 2 || ctas != cluster)
    return emitOpError() << "is done by " << ctas << " CTAs of a cluster that has " << cluster
                         << ": it takes two or more, and all";
  if (!isa<MmaAttr>(tile.getEncoding()) || tile.getElementTypeBitWidth() != 32 ||
      tile.getDimSize(1) % (ctas * MmaAttr::kColumns))
    return emitOpError() << "takes accumulators of 32 bits with a multiple of "
                         << ctas * MmaAttr::kColumns << " columns, not " << tile;
  if (getRoom().getBytes() != 4 * tile.getNumElements())
    return emitOpError() << "gets " << 4 * tile.getNumElements() << " bytes, and has room for "
                         << getRoom().getBytes();
  if (failed(verifyInShared(*this, getBarriers(), 8, 16)))
    return failure();
  return verifyInShared(*this, getRoom().getOffset(), 16, getRoom().getBytes());
}

Partials::Partials(RankedTensorType tile, int64_t axis) {
  auto blocked = cast<BlockedAttr>(tile.getEncoding());
  int64_t extent = tile.getDimSize(axis), vector = blocked.getVector(),
          round = blocked.getThreads() * vector;
  bool inRow = axis == tile.getRank() - 1 && extent % vector == 0;
  together = inRow ? vector : 1;
  rounds = inRow && extent % round == 0 ? extent / round : 0;
  count = rounds ? blocked.getThreads() : extent / together;
  // An odd stride keeps neighbours in different banks.
  pitch = count | 1;
}

int64_t mk_thread::getReductionBytes(RankedTensorType tile, int64_t axis) {
  int64_t size = getElementBytes(tile.getElementType());
  if (auto mma = dyn_cast<MmaAttr>(tile.getEncoding()))
    return axis == 0 ? 4 * mma.getWarpgroups() * tile.getDimSize(1) * size : 0;
  return (tile.getNumElements() / tile.getDimSize(axis) + Partials(tile, axis).pitch) * size;
}

bool ReduceElementsOp::isPartial() {
  return getTo() == mk_sm::getPartialType(getFrom(), getAxis());
}

LogicalResult ReduceElementsOp::verify() {
  RankedTensorType from = getFrom(), to = getTo();
  if (failed(verifyElements(*this, from, getElements().getTypes())) ||
      failed(verifyElements(*this, to, getResultTypes())))
    return failure();
  Attribute layout = from.getEncoding();
  int64_t axis = getAxis();
  SmallVector<int64_t> left(from.getShape());
  if (axis >= 0 && axis < from.getRank())
    left.erase(left.begin() + axis);
  bool partial = isPartial();
  bool fits = isa<MmaAttr>(layout) ? to.getEncoding() == SliceAttr::get(getContext(), axis, layout)
                                   : isa<BlockedAttr>(layout);
  if (!partial &&
      (!fits || to.getShape() != ArrayRef(left) || to.getElementType() != from.getElementType()))
    return emitOpError()
           << "of " << from << " along " << axis << " does not give " << to
           << "; accumulators give their slice, other tiles are dealt out, and either "
              "gives what mk_sm.partial_sum does";
  int64_t bytes = partial ? 0 : getReductionBytes(from, axis);
  if (bool(bytes) != bool(getRoom()))
    return emitOpError() << "of " << from << " along " << axis << " exchanges " << bytes
                         << " bytes at least; give a room if there are any";
  return bytes ? verifyRoom(*this, *getRoom(), getBarrier(), bytes) : success();
}

//===----------------------------------------------------------------------===//
// In a thread
//===----------------------------------------------------------------------===//

LogicalResult MaskElementsOp::verify() {
  RankedTensorType tile = getTile();
  IntegerSet set = getSet();
  if (set.getNumDims() != tile.getRank() || set.getNumSymbols() != getSymbols().size())
    return emitOpError() << "has a set of " << set.getNumDims() << " dimensions and "
                         << set.getNumSymbols() << " symbols for " << tile << " and "
                         << getSymbols().size();
  return verifyElements(*this, tile, getElements().getTypes());
}

LogicalResult ScaleElementsOp::verify() {
  RankedTensorType tile = getTile();
  int64_t axis = getAxis();
  if (!isa_and_nonnull<MmaAttr>(tile.getEncoding()) || axis < 0 || axis > 1)
    return emitOpError() << "scales " << tile << " along " << axis
                         << "; use accumulators, and axis 0 or 1";
  auto slice = RankedTensorType::get(tile.getDimSize(1 - axis), tile.getElementType(),
                                     SliceAttr::get(getContext(), axis, tile.getEncoding()));
  return failed(verifyElements(*this, slice, getFactors().getTypes()))
             ? failure()
             : verifyElements(*this, tile, getElements().getTypes());
}

//===----------------------------------------------------------------------===//
// In global memory
//===----------------------------------------------------------------------===//

/// The longest access of the PTX ISA (v4.b32).
static constexpr int64_t kAccess = 16;

int64_t mk_thread::getRun(RankedTensorType tile) {
  Attribute layout = tile.getEncoding();
  auto slice = dyn_cast<SliceAttr>(layout);
  int64_t run = 1;
  // A byte in memory each, a predicate in registers; or in as many rows.
  if (!tile.getRank() || tile.getElementType().isInteger(1) || isa<TransposedAttr>(layout))
    return run;
  if (auto blocked = dyn_cast<BlockedAttr>(layout))
    run = tile.getShape().back() % blocked.getVector() == 0 ? blocked.getVector() : 1;
  else if (!slice || slice.getAxis() == 0)
    run = 2;
  while (run * getElementBytes(tile.getElementType()) > kAccess)
    run /= 2;
  return run;
}

bool mk_thread::areRunsLong(RankedTensorType tile) {
  return getRun(tile) * getElementBytes(tile.getElementType()) == kAccess;
}

int64_t mk_thread::getReadRun(RankedTensorType tile) {
  return isa<BlockedAttr>(tile.getEncoding()) ? getRun(tile) : 2;
}

template <typename OpT> static LogicalResult verifyAccess(OpT op, TypeRange types, bool inRuns) {
  RankedTensorType tile = op.getTile();
  size_t rank = tile.getRank();
  int64_t count = mk_sm::getNumElements(tile);
  Type element = getRegisterType(tile.getElementType());
  if (count < 0 || op.getStrides().size() != rank || op.getOffsets().size() != rank ||
      op.getLimits().size() != rank || op.getWhich().size() != types.size() ||
      llvm::any_of(op.getWhich(), [&](int32_t i) { return i < 0 || i >= count; }) ||
      llvm::any_of(types, [&](Type type) { return type != element; }))
    return op.emitOpError() << "moves elements [" << op.getWhich() << "] of " << tile
                            << ", of which a thread holds " << count << ", each as " << element
                            << ": give as many values, and " << rank
                            << " strides, offsets and limits";
  int64_t run = inRuns ? getRun(tile) : 1;
  for (auto [k, i] : llvm::enumerate(op.getWhich()))
    if (i != op.getWhich()[k - k % run] + int64_t(k % run) || op.getWhich().size() % run)
      return op.emitOpError() << "moves elements [" << op.getWhich()
                              << "] in runs; name whole runs of " << run;
  return success();
}

SmallVector<int64_t> mk_thread::getQuadBlocks(RankedTensorType tile) {
  SmallVector<int64_t> result;
  // Of 32-bit elements two take as many bytes as the cache fetches at least.
  if (isa_and_nonnull<MmaAttr>(tile.getEncoding()) && getElementBytes(tile.getElementType()) == 2)
    for (int64_t blocks : {4, 2}) // 16 bytes a thread, or 8
      if (8 * blocks <= tile.getDimSize(1))
        result.push_back(blocks);
  return result;
}

bool mk_thread::isQuadGroup(RankedTensorType tile, ArrayRef<int32_t> which, int64_t blocks) {
  int64_t inRows = tile.getDimSize(1) / 2; // registers of 64 rows
  int32_t first = which.front();
  return first % 4 == 0 && first % inRows + 4 * blocks <= inRows &&
         int64_t(which.size()) >= 4 * blocks &&
         llvm::all_of(llvm::seq<int32_t>(0, 4 * blocks),
                      [&](int32_t k) { return which[k] == first + k; });
}

LogicalResult LoadElementsOp::verify() {
  if (failed(verifyAccess(*this, getResultTypes(), bool(getTogether()))))
    return failure();
  if (getWide() && !getTogether())
    return emitOpError() << "is wide where runs are not loaded at once; give `together`";
  if (getList() && (getTile().getRank() != 2 || getWide()))
    return emitOpError() << "gathers the rows of " << getTile() << (getWide() ? " for quads" : "")
                         << "; give a tile of two dimensions, without `wide`";
  if (!getQuads())
    return success();
  int64_t blocks = *getQuads();
  RankedTensorType tile = getTile();
  if (!getWide() || !llvm::is_contained(getQuadBlocks(tile), blocks))
    return emitOpError() << "has quads share " << blocks << " blocks of " << tile
                         << "; use two or four of accumulators of 16 bits, and `wide`";
  for (ArrayRef<int32_t> left = getWhich(); !left.empty(); left = left.drop_front(4 * blocks))
    if (!isQuadGroup(tile, left, blocks))
      return emitOpError() << "has quads share elements [" << getWhich() << "] of " << tile
                           << "; name " << blocks << " whole blocks of the same rows at a time";
  return success();
}

LogicalResult ExchangeQuadsOp::verify() {
  int64_t blocks = getQuads();
  TypeRange types = getElements().getTypes();
  bool fits = (blocks == 2 || blocks == 4) && !types.empty() && types.size() % (4 * blocks) == 0;
  if (!fits || !llvm::all_equal(types) || !types.front().isIntOrFloat() ||
      types.front().getIntOrFloatBitWidth() != 16)
    return emitOpError() << "of " << types.size() << " elements and " << blocks
                         << " blocks; use two or four blocks, whole ones, and elements of 16 bits "
                            "of one type";
  return success();
}

LogicalResult mk_thread::verifyList(Operation *op, RankedTensorType tile) {
  Type element = tile.getElementType();
  if (tile.getRank() == 1 && tile.hasStaticShape() && element.isIntOrFloat() &&
      llvm::is_contained({32, 64}, element.getIntOrFloatBitWidth()))
    return success();
  return op->emitOpError() << "is for tiles of one dimension and 32 or 64 bits an element, not "
                           << tile;
}
LogicalResult CopyElementsOp::verify() { return verifyList(*this, getTile()); }
LogicalResult StoreElementsOp::verify() {
  if (getAdd() && failed(verifyAddition(*this, getTile().getElementType())))
    return failure();
  return verifyAccess(*this, getElements().getTypes(), getRuns() || getTogether());
}
