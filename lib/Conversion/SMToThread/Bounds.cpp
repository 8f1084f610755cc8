//===- Bounds.cpp - Checks that what ops name exists ----------------------===//
//
// Extents are read from the parameters where they are compared, so that they take no
// register before. Code holds no lines but the op's site (mkernel/ABI/Site.h), and is the
// same wherever in its file a kernel stands.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using Predicate = arith::CmpIPredicate;

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

Value Lowering::check(Operation *op, const CheckedEntity &named, Value begin, Value size,
                      ArrayRef<AtLeast> when) {
  if (!sites)
    return begin;
  SmallVector<AtLeast> unknown;
  for (const AtLeast &condition : when) {
    std::optional<int64_t> value = constantOf(condition.value);
    if (!value)
      unknown.push_back(condition);
    else if (*value < condition.least)
      return begin;
  }
  std::optional<int64_t> first = constantOf(begin);
  std::optional<int64_t> count = size ? constantOf(size) : 1;
  int64_t all = named.extent ? constantOf(named.extent).value_or(-1) : -1; // -1: not known
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
  int64_t fields =
      MK_GPU_NAMED(named.kind, named.dim, named.chosen ? 0 : named.number);
  IntegerAttr param = named.extent ? IntegerAttr() : b.getI64IntegerAttr(named.param);
  return create<mk_thread::CheckOp>(begin, size, named.extent, param, named.chosen, named.rank,
                                    values, least, fields,
                                    makeReport(MK_FAIL_BOUNDS, sites->numberOf(op)), redirects);
}

SmallVector<Value> Lowering::checkIndices(Operation *op, int64_t kind, int64_t number,
                                          int64_t param, ArrayRef<int64_t> shape,
                                          ValueRange index) {
  SmallVector<Value> checked;
  for (auto [d, extent, i] : llvm::enumerate(shape, index)) {
    CheckedEntity named{kind, int64_t(d), number, {}, param + 8 * int64_t(d)};
    if (!ShapedType::isDynamic(extent))
      named.extent = c64(extent);
    checked.push_back(check(op, named, scalar(i)));
  }
  return checked;
}

bool Lowering::exist(const Buffer &buffer, unsigned dim, Value index, int64_t size) {
  std::optional<int64_t> extent = extentOf(buffer, dim);
  if (!extent || *extent < size)
    return false;
  if (!ranges) {
    ranges = std::make_unique<DataFlowSolver>();
    dataflow::loadBaselineAnalyses(*ranges);
    ranges->load<dataflow::IntegerRangeAnalysis>();
    if (failed(ranges->initializeAndRun(kernel)))
      return false;
  }
  auto *range = ranges->lookupState<dataflow::IntegerValueRangeLattice>(index);
  if (!range || range->getValue().isUninitialized())
    return false;
  const ConstantIntRanges &values = range->getValue().getValue();
  return values.smin().sge(0) && values.smax().sle(*extent - size);
}

/// Which of the arguments a chosen buffer is.
static Value numberOf(Emitter &e, const Buffer &buffer) {
  if (buffer.arg >= 0)
    return e.c32(buffer.arg);
  return e.select(buffer.condition, numberOf(e, *buffer.whenTrue),
                  numberOf(e, *buffer.whenFalse));
}

SmallVector<Value> Lowering::checkRegion(Operation *op, int64_t kind,
                                         const Buffer &buffer, ArrayRef<Value> offsets,
                                         ArrayRef<Value> sizes, ArrayRef<AtLeast> when,
                                         Value rank, ValueRange indices) {
  SmallVector<Value> checked(offsets);
  if (!sites)
    return checked;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    if (!indices.empty() && exists(buffer, d, indices[d]))
      continue;
    CheckedEntity named{kind, int64_t(d), buffer.arg, {}, -1, {}, rank};
    bool isParam = buffer.arg >= 0 && buffer.type.isDynamicDim(d) &&
                   !(d == 0 && buffer.rows);
    if (isParam)
      named.param = params.args[buffer.arg] + 8 * (1 + int64_t(d));
    else
      named.extent = sizeOf(buffer, d);
    if (buffer.arg < 0) {
      named.number = 0;
      named.chosen = numberOf(*this, buffer);
    }
    checked[d] = check(op, named, offset, sizes.empty() ? Value() : sizes[d], when);
  }
  return checked;
}

SmallVector<Value> Lowering::checkScalar(Operation *op, int64_t kind,
                                         const Buffer &buffer, ValueRange indices) {
  return checkRegion(op, kind, buffer, scalars(indices), {}, {}, {}, indices);
}

void Lowering::checkPut(PutOp op, int64_t kind, Value list, Value peer) {
  if (!sites)
    return;
  bool source = kind == MK_READ_ARGUMENT;
  Buffer end = *buffer(op, source ? op.getSource() : op.getDest());
  if (peer && end.type.isDynamicDim(0))
    end.rows = rowsAt(end, peer);
  SmallVector<Value> offsets =
      scalars(source ? op.getSrcOffsets() : op.getDstOffsets());
  SmallVector<Value> sizes = scalars(op.getSizes());
  // A region of nothing may lie anywhere.
  SmallVector<AtLeast> nonEmpty;
  for (Value size : sizes)
    nonEmpty.push_back({size, 1});
  if (!list) {
    checkRegion(op, kind, end, offsets, sizes, nonEmpty, peer);
    return;
  }
  auto listed = cast<RankedTensorType>(op.getRows().getType()).getNumElements();
  Value count = resize(minS(sizes[0], c64(listed)), i32);
  sizes[0] = c64(1);
  Value first = offsets[0];
  forRange(partitionThread, count, c32(partition.getNumThreads()), [&](Value i) {
    Value row = load(i32, add(list, shl(i, 2)));
    SmallVector<AtLeast> rowExists(nonEmpty);
    rowExists.push_back({row, 0});
    offsets[0] = add(first, resize(source ? row : i, i64));
    checkRegion(op, kind, end, offsets, sizes, rowExists, peer);
  });
}
