//===- Bounds.cpp - Checks that what ops name exists ----------------------===//
//
// Extents are read from the parameters where they are compared, so that they take no
// register before. Code holds no lines but the op's site (mkernel/ABI/Site.h), and is the
// same wherever in its file a kernel stands.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "Peers.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;

Value sm::check(PartitionBuilder &p, Operation *op, const CheckedEntity &named, Value begin,
                Value size, ArrayRef<AtLeast> when) {
  if (!p.info.checked)
    return begin;
  SmallVector<AtLeast> unknown;
  for (const AtLeast &condition : when) {
    std::optional<int64_t> value = getConstantIntValue(condition.value);
    if (!value)
      unknown.push_back(condition);
    else if (*value < condition.least)
      return begin;
  }
  std::optional<int64_t> first = getConstantIntValue(begin);
  std::optional<int64_t> count = size ? getConstantIntValue(size) : 1;
  int64_t all = named.extent ? getConstantIntValue(named.extent).value_or(-1) : -1; // -1: not known
  if (first && count && *first >= 0 && *first <= all && *count <= all - *first)
    return begin;
  // An index is given back: 0 where it does not exist.
  bool redirects = !size && when.empty();
  SmallVector<Value> values;
  SmallVector<int64_t> least;
  for (const AtLeast &condition : unknown) {
    values.push_back(condition.value);
    least.push_back(condition.least);
  }
  int64_t fields = MK_GPU_NAMED(named.kind, named.dim, named.chosen ? 0 : named.number);
  IntegerAttr param = named.extent ? IntegerAttr() : p.getI64IntegerAttr(named.param);
  return mk_thread::CheckOp::create(
      p, begin, size, named.extent, param, named.chosen, named.rank, values, least, fields,
      p.makeReport(MK_FAIL_BOUNDS, p.info.checked->numberOf(op)), redirects);
}

SmallVector<Value> sm::checkIndices(PartitionBuilder &p, Operation *op, int64_t kind,
                                    int64_t number, int64_t param, ArrayRef<int64_t> shape,
                                    ValueRange index) {
  SmallVector<Value> checked;
  for (auto [d, extent, i] : llvm::enumerate(shape, index)) {
    CheckedEntity named{kind, int64_t(d), number, {}, param + 8 * int64_t(d)};
    if (!ShapedType::isDynamic(extent))
      named.extent = p.c64(extent);
    checked.push_back(check(p, op, named, p.scalar(i)));
  }
  return checked;
}

bool sm::exist(const KernelInfo &info, const Buffer &buffer, unsigned dim, Value index,
               int64_t size) {
  std::optional<int64_t> extent = extentOf(info, buffer, dim);
  if (!extent || *extent < size)
    return false;
  std::optional<ConstantIntRanges> values = info.findRange(index);
  return values && values->smin().sge(0) && values->smax().sle(*extent - size);
}

/// Which of the arguments a chosen buffer is.
static Value numberOf(Emitter &e, const Buffer &buffer) {
  if (buffer.arg >= 0)
    return e.c32(buffer.arg);
  return select(e, buffer.condition, numberOf(e, *buffer.whenTrue), numberOf(e, *buffer.whenFalse));
}

/// Of an argument; `offsets` without sizes name one element. Gives the offsets as `check`.
static SmallVector<Value> checkRegion(PartitionBuilder &p, Operation *op, int64_t kind,
                                      const Buffer &buffer, ArrayRef<Value> offsets,
                                      ArrayRef<Value> sizes, ArrayRef<AtLeast> when,
                                      Value rank = {}, ValueRange indices = {}) {
  SmallVector<Value> checked(offsets);
  if (!p.info.checked)
    return checked;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    if (!indices.empty() && exist(p.info, buffer, d, indices[d], 1))
      continue;
    CheckedEntity named{kind, int64_t(d), buffer.arg, {}, -1, {}, rank};
    bool isParam = buffer.arg >= 0 && buffer.type.isDynamicDim(d) && !(d == 0 && buffer.rows);
    if (isParam)
      named.param = p.info.params.args[buffer.arg] + 8 * (1 + int64_t(d));
    else
      named.extent = sizeOf(p, buffer, d);
    if (buffer.arg < 0) {
      named.number = 0;
      named.chosen = numberOf(p, buffer);
    }
    checked[d] = check(p, op, named, offset, sizes.empty() ? Value() : sizes[d], when);
  }
  return checked;
}

SmallVector<Value> sm::checkScalar(PartitionBuilder &p, Operation *op, int64_t kind,
                                   const Buffer &buffer, ValueRange indices) {
  return checkRegion(p, op, kind, buffer, p.scalars(indices), {}, {}, {}, indices);
}

void sm::checkStore(PartitionBuilder &p, Operation *op, const Buffer &buffer, ValueRange indices,
                    ArrayRef<int64_t> tile, ValueRange valid) {
  size_t lead = indices.size() - tile.size();
  auto isKnown = [&](size_t d) { return exist(p.info, buffer, d, indices[d], 1); };
  if (!p.info.checked || llvm::all_of(llvm::seq(lead), isKnown))
    return;
  SmallVector<Value> offsets = p.scalars(indices);
  SmallVector<AtLeast> isStored;
  for (auto [d, extent] : llvm::enumerate(tile)) {
    Value offset = offsets[lead + d];
    isStored.push_back({offset, 1 - extent});
    isStored.push_back({sub(p, sizeOf(p, buffer, lead + d), offset), 1});
    if (!valid.empty())
      isStored.push_back({p.scalar(valid[d]), 1});
  }
  checkRegion(p, op, MK_WRITTEN_ARGUMENT, buffer, ArrayRef(offsets).take_front(lead), {}, isStored,
              {}, indices.take_front(lead));
}

void sm::checkPut(PartitionBuilder &p, PutOp op, int64_t kind, Value list, Value peer) {
  if (!p.info.checked)
    return;
  bool source = kind == MK_READ_ARGUMENT;
  Buffer end = getBuffer(p, op, source ? op.getSource() : op.getDest());
  if (peer && end.type.isDynamicDim(0))
    end.rows = rowsAt(p, end, peer);
  SmallVector<Value> offsets = p.scalars(source ? op.getSrcOffsets() : op.getDstOffsets());
  SmallVector<Value> sizes = p.scalars(op.getSizes());
  // A region of nothing may lie anywhere.
  SmallVector<AtLeast> nonEmpty;
  for (Value size : sizes)
    nonEmpty.push_back({size, 1});
  if (!list) {
    checkRegion(p, op, kind, end, offsets, sizes, nonEmpty, peer);
    return;
  }
  auto listed = cast<RankedTensorType>(op.getRows().getType()).getNumElements();
  Value count = resize(p, minS(p, sizes[0], listed), p.i32);
  sizes[0] = p.c64(1);
  Value first = offsets[0];
  forRange(p, p.partitionThread, count, p.c32(p.partition.getNumThreads()), [&](Value i) {
    Value row = load(p, p.i32, add(p, list, shl(p, i, 2)));
    SmallVector<AtLeast> rowExists(nonEmpty);
    rowExists.push_back({row, 0});
    offsets[0] = add(p, first, resize(p, source ? row : i, p.i64));
    checkRegion(p, op, kind, end, offsets, sizes, rowExists, peer);
  });
}
