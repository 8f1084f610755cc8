//===- Bounds.cpp - Whether what an op names exists -----------------------===//
//
// A region or an element outside of the argument, signal or counter that is named is
// wrong in any case. What is not known here is checked when the kernel runs.
//
//===----------------------------------------------------------------------===//
#include "ProgramState.h"
#include "mkernel/Support/RowMajor.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

bool KernelProgram::exists(const CtaState &state, Operation *op, StringRef does, uint32_t rank,
                           int32_t arg, unsigned dim, int64_t begin, int64_t size) {
  Scalar whole = extent(rank, arg, dim);
  // Without sums, which might overflow.
  if (!whole.known || (begin >= 0 && begin <= whole.value && size <= whole.value - begin))
    return true;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << does << " ";
  if (size == 1)
    os << "element " << begin;
  else if (begin < 0)
    os << "[" << begin << ":" << begin + size << "]";
  else
    os << "[" << begin << ":" << static_cast<uint64_t>(begin) + size << "]";
  os << " of dimension " << dim << " of '" << bufferName(arg) << "', which has " << whole.value
     << (whole.value == 1 ? " element" : " elements") << " there on rank " << rank << ", in "
     << describe(state.cta, op) << ": correct the index" << (size == 1 ? "" : " or the size");
  giveUp(op, text, /*wrong=*/true);
  return false;
}

bool KernelProgram::putExists(const CtaState &state, PutOp put, uint32_t peer) {
  auto source = bufferOf(state, put.getSource());
  auto dest = bufferOf(state, put.getDest());
  SmallVector<int64_t> sizes;
  for (Value value : put.getSizes()) {
    Scalar size = get(state, value);
    // Nothing is put, or it is not known whether.
    if (!size.known || size.value <= 0)
      return true;
    sizes.push_back(size.value);
  }
  // Rows that are put: of the source, of the destination.
  SmallVector<std::pair<int64_t, int64_t>> rows;
  if (put.getRows()) {
    DenseIntElementsAttr list;
    if (!matchPattern(put.getRows(), m_Constant(&list)))
      return true;
    sizes[0] = std::min<int64_t>(sizes[0], list.getNumElements());
    for (auto [i, row] : llvm::enumerate(list.getValues<APInt>()))
      if (int64_t(i) < sizes[0] && !row.isNegative())
        rows.push_back({row.getSExtValue(), int64_t(i)});
    if (rows.empty())
      return true;
  }
  auto endExists = [&](StringRef does, std::optional<int32_t> arg, uint32_t rank,
                       ValueRange offsets, bool isSource) {
    if (!arg)
      return true;
    for (auto [d, value] : llvm::enumerate(offsets)) {
      Scalar offset = get(state, value);
      if (!offset.known)
        continue;
      if (d > 0 || rows.empty()) {
        if (!exists(state, put, does, rank, *arg, d, offset.value, sizes[d]))
          return false;
        continue;
      }
      for (auto [from, to] : rows)
        if (!exists(state, put, does, rank, *arg, 0, offset.value + (isSource ? from : to), 1))
          return false;
    }
    return true;
  };
  return endExists("reads", source, state.rank, put.getSrcOffsets(), true) &&
         endExists("writes", dest, peer, put.getDstOffsets(), false);
}

bool KernelProgram::storeExists(const CtaState &state, StoreOp store, uint32_t peer) {
  auto dest = bufferOf(state, store.getDest());
  if (!dest)
    return true;
  auto tile = cast<RankedTensorType>(store.getTile().getType());
  unsigned lead = store.getOffsets().size() - tile.getRank();
  // Nothing is stored, or it is not known whether.
  for (Value value : store.getValid())
    if (Scalar valid = get(state, value); !valid.known || valid.value <= 0)
      return true;
  for (auto [d, value] : llvm::enumerate(store.getOffsets().drop_front(lead))) {
    Scalar begin = get(state, value), whole = extent(peer, *dest, lead + d);
    if (!begin.known || !whole.known || begin.value >= whole.value ||
        begin.value + tile.getDimSize(d) <= 0)
      return true;
  }
  for (auto [d, value] : llvm::enumerate(store.getOffsets().take_front(lead))) {
    Scalar index = get(state, value);
    if (index.known && !exists(state, store, "writes", peer, *dest, d, index.value, 1))
      return false;
  }
  return true;
}

bool KernelProgram::isScalarAccess(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp>(op);
}

bool KernelProgram::elementExists(const CtaState &state, Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  auto store = dyn_cast<memref::StoreOp>(op);
  auto buffer = bufferOf(state, load ? load.getMemRef() : store.getMemRef());
  if (!buffer)
    return true;
  for (auto [d, value] : llvm::enumerate(load ? load.getIndices() : store.getIndices())) {
    Scalar index = get(state, value);
    if (index.known &&
        !exists(state, op, load ? "reads" : "writes", state.rank, *buffer, d, index.value, 1))
      return false;
  }
  return true;
}

bool KernelProgram::element(const CtaState &state, Operation *op, Value declared, ValueRange index,
                            int64_t &result) {
  auto shape = shapeOf(state, declared);
  if (!shape) {
    giveUp(op, "uses an array whose extents have no value, as that of a division by zero");
    return false;
  }
  SmallVector<int64_t> at;
  bool inside = true;
  for (auto [extent, value] : llvm::zip(*shape, index)) {
    int64_t i;
    if (!known(state, op, value, "an index", i))
      return false;
    at.push_back(i);
    inside &= i >= 0 && i < extent;
  }
  if (!inside) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "uses element [";
    llvm::interleaveComma(at, os);
    os << "] of an array of (";
    llvm::interleaveComma(*shape, os);
    os << ") on rank " << state.rank << ", in " << describe(state.cta, op)
       << ": correct the index or the extents";
    giveUp(op, text, /*wrong=*/true);
    return false;
  }
  result = mkernel::numberRowMajor<int64_t>(
      mkernel::PlainNumbers(), at.size(), [&](unsigned d) { return (*shape)[d]; },
      [&](unsigned d) { return at[d]; });
  return true;
}
