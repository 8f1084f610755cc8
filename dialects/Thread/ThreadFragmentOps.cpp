//===- ThreadFragmentOps.cpp - Fragments as values ------------------------===//
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Memory.h"
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

/// More elements than any thread holds, in registers or in scratch.
static constexpr int64_t kMostElements = 1 << 16;

SmallVector<Type> mk_thread::getElementTypes(RankedTensorType tile) {
  int64_t count =
      tile.getRank() ? std::clamp<int64_t>(mk_sm::getNumElements(tile), 0, kMostElements) : 1;
  return SmallVector<Type>(count, getRegisterType(tile.getElementType()));
}
SmallVector<Type> mk_thread::getPackedTypes(Type element, int64_t count) {
  int64_t per = getPerWord(element);
  return SmallVector<Type>(llvm::divideCeil(count, per),
                           per == 1 ? element : IntegerType::get(element.getContext(), 32));
}

/// Refuses numbers of elements that a thread does not hold, and values that are neither these
/// elements, nor the words in which they are packed. No numbers: all elements.
static LogicalResult verifyValues(Operation *op, RankedTensorType tile, ArrayRef<int32_t> which,
                                  TypeRange types) {
  if (int64_t held = mk_sm::getNumElements(tile); held >= kMostElements)
    return op->emitOpError() << "is of " << tile << ", of which a thread would hold " << held
                             << " elements: use tiles of which it holds less than "
                             << kMostElements;
  SmallVector<Type> elements = getElementTypes(tile);
  size_t all = elements.size();
  bool exist = all && llvm::all_of(which, [&](int32_t i) { return i >= 0 && size_t(i) < all; });
  if (!which.empty())
    elements.resize(which.size(), getRegisterType(tile.getElementType()));
  if (exist &&
      (TypeRange(elements) == types ||
       TypeRange(getPackedTypes(getRegisterType(tile.getElementType()), elements.size())) == types))
    return success();
  return op->emitOpError()
         << "has " << types.size() << " values for elements [" << which << "] of " << tile
         << ", of which a thread holds " << all << ", each as "
         << getRegisterType(tile.getElementType())
         << ": name some of them, or none for all, and give each, or words of them";
}

LogicalResult HoldElementsOp::verify() {
  return verifyValues(*this, getFragment().getType(), {}, getElements().getTypes());
}
LogicalResult TakeElementsOp::verify() {
  return verifyValues(*this, getFragment().getType(), getWhich().value_or(ArrayRef<int32_t>()),
                      getResultTypes());
}
LogicalResult LoadAheadOp::verify() {
  RankedTensorType tile = getFragment().getType();
  return verifyValues(*this, tile, getWhich(),
                      SmallVector<Type>(getWhich().size(), getRegisterType(tile.getElementType())));
}

LogicalResult OnDemandOp::verify() {
  Operation *op = getBody().front().empty() ? nullptr : getOp();
  RankedTensorType type = getFragment().getType();
  auto computes = [&](Operation *op) {
    return op->getNumResults() == 1 && op->getResult(0).getType() == type && !op->getNumRegions() &&
           (isa<SpreadOp>(op) ||
            llvm::is_contained({"arith", "math"}, op->getName().getDialectNamespace()));
  };
  bool loads = isa_and_nonnull<LoadElementsOp, ReadElementsOp, ReloadElementsOp>(op) &&
               TypeRange(getElementTypes(type)) == op->getResultTypes();
  if (getBody().getNumArguments() || !op || !(loads || computes(op)))
    return emitOpError() << "of " << type
                         << " ends in no elementwise op, spread or load that gives it, all of it";
  return success();
}

LogicalResult SpreadOp::verify() {
  RankedTensorType from = getSource().getType(), to = getFragment().getType();
  auto slice = dyn_cast_or_null<mk_sm::SliceAttr>(from.getEncoding());
  Attribute transposed = mk_sm::getTransposedLayout(from.getEncoding());
  SmallVector<int64_t> shape(to.getShape());
  if (slice && slice.getAxis() < to.getRank())
    shape.erase(shape.begin() + slice.getAxis());
  else if (transposed)
    std::reverse(shape.begin(), shape.end());
  bool fits =
      slice ? slice.getOf() == to.getEncoding() : transposed && transposed == to.getEncoding();
  if (from.getElementType() != to.getElementType() ||
      (from.getRank() && (!fits || from.getShape() != ArrayRef(shape))))
    return emitOpError() << "of " << from << " to " << to
                         << " moves elements between threads; spread a slice, one element, or the "
                            "transposed tile";
  return success();
}

//===----------------------------------------------------------------------===//
// To memory
//===----------------------------------------------------------------------===//

LogicalResult StoreFragmentOp::verify() {
  RankedTensorType tile = getFragment().getType();
  size_t rank = tile.getRank();
  if (getStrides().size() != rank || getOffsets().size() != rank || getLimits().size() != rank ||
      getElementTypes(tile).empty())
    return emitOpError() << "stores " << tile << "; give it a layout that fits, and " << rank
                         << " strides, offsets and limits";
  return getAdd() ? verifyAddition(*this, tile.getElementType()) : success();
}

/// Refuses a staging area that is not in shared memory with the buffers of all warpgroups but the
/// first one.
static LogicalResult verifyBuffers(Operation *op, int64_t staging, int64_t buffers) {
  int64_t chunk = mk::getSm(op).getChunk();
  int64_t groups = op->getParentOfType<KernelOp>().getThreads() / mk::kWarpgroupThreads - 1;
  return verifyInShared(op, staging, chunk, groups * buffers * mk_sm::getStagingBytes(chunk));
}

LogicalResult StageFragmentOp::verify() {
  RankedTensorType tile = getFragment().getType();
  int64_t chunk = mk::getSm(*this).getChunk();
  if (!mk_sm::countStoreParts(tile, chunk) || !mk_sm::canStoreInChunks(tile, getAdd(), chunk))
    return emitOpError() << "stores " << tile << ", which is no accumulator in chunks of " << chunk
                         << " bytes";
  if (mk_sm::countStoreRows(tile) % getRows())
    return emitOpError() << "sends parts of " << mk_sm::countStoreRows(tile) << " rows by "
                         << getRows() << "; use a divisor";
  if (!getMaps().empty() && (getCoordinates().size() < 2 || getCoordinates().size() > 5))
    return emitOpError() << "has " << getCoordinates().size()
                         << " coordinates; a tile in parts has 2 to 5";
  if (getOtherwise().getNumArguments() != 3 ||
      !llvm::all_of(getOtherwise().getArgumentTypes(),
                    [](Type type) { return type.isInteger(32); }))
    return emitOpError("needs a region with three arguments: a buffer, a row and a column (i32)");
  return verifyBuffers(*this, getStaging(), getBuffers());
}

LogicalResult StageRowsOp::verify() {
  RankedTensorType tile = getFragment().getType();
  int64_t chunk = mk::getSm(*this).getChunk();
  if (!mk_sm::countStoreParts(tile, chunk) || !mk_sm::canStoreByRows(tile, getBuffers(), chunk))
    return emitOpError() << "stores " << tile << " through " << getBuffers()
                         << " buffers: it takes accumulators of which these hold eight rows for "
                            "each warp";
  return verifyBuffers(*this, getStaging(), getBuffers());
}

/// Refuses a fragment that is not written to memory in runs of four registers.
static LogicalResult verifySpilled(Operation *op, RankedTensorType tile, ArrayRef<int32_t> which) {
  bool runs = !which.empty() && which.size() % 4 == 0;
  for (auto [k, i] : llvm::enumerate(which))
    runs &= i % 4 == int32_t(k % 4) && i == which[k - k % 4] + int32_t(k % 4);
  if (mk_sm::mayBeSpilled(tile) && runs)
    return success();
  return op->emitOpError() << "moves elements [" << which << "] of " << tile
                           << "; use accumulators of 32-bit elements, and whole runs of 4";
}
LogicalResult SpillFragmentOp::verify() {
  return verifySpilled(*this, getFragment().getType(), {0, 1, 2, 3});
}
LogicalResult ReloadElementsOp::verify() {
  return failed(verifySpilled(*this, getTile(), getWhich()))
             ? failure()
             : verifyValues(*this, getTile(), getWhich(), getResultTypes());
}
LogicalResult ReadElementsOp::verify() {
  RankedTensorType tile = getTile();
  size_t wanted = llvm::divideCeil(tile.getRank() ? tile.getShape().back() : 1, getColumns());
  if (getSources().size() != wanted)
    return emitOpError() << "reads " << tile << " from " << getSources().size() << " places of "
                         << getColumns() << " columns; name " << wanted;
  if (tile.getRank() != 2) {
    if (failed(verifyList(*this, tile)))
      return failure();
    if (wanted != 1 ||
        getWhich() != ArrayRef(llvm::to_vector(llvm::seq<int32_t>(0, mk_sm::getNumElements(tile)))))
      return emitOpError() << "reads a part of " << tile
                           << ", which lies in one place and is read as a whole";
    return verifyValues(*this, tile, {}, getResultTypes());
  }
  int64_t bits = tile.getElementTypeBitWidth(), chunk = mk::getSm(*this).getChunk();
  auto source =
      RankedTensorType::get({tile.getDimSize(0), int64_t(getColumns())}, tile.getElementType());
  bool isDealt = wanted == 1 && mk_sm::hasWholeRounds(tile);
  if ((!isDealt && !isa_and_nonnull<mk_sm::MmaAttr>(tile.getEncoding())) ||
      (bits != 8 && bits != 16 && bits != 32) || !mk_sm::fillsChunks(source, chunk) ||
      (wanted > 1 && !mk_sm::fillsChunks(tile, chunk)))
    return emitOpError()
           << "reads " << tile << " in parts of " << getColumns()
           << " columns; use accumulators, or one tile that is dealt out without idle "
              "threads, of 8, 16 or 32 bits, and multiples of "
           << 8 * chunk / bits << " columns, or " << 4 * chunk / bits << " to as many";
  int64_t run = getReadRun(tile);
  for (auto [k, i] : llvm::enumerate(getWhich()))
    if (getWhich().size() % run || i % run != int32_t(k % run) ||
        i != getWhich()[k - k % run] + int32_t(k % run))
      return emitOpError() << "reads elements [" << getWhich() << "] of " << tile
                           << ", which lie in runs of " << run << ": use whole ones";
  return verifyValues(*this, tile, getWhich(), getResultTypes());
}
