//===- Bounds.cpp - Checks that what ops name exists ----------------------===//
//
// A check is one piece of PTX: a comparison and a jump over the report, as a wait is.
// Extents are read from the parameters where they are compared, so that they take no
// register before. Code holds no lines but the op's site (mkernel/ABI/Site.h), and is the
// same wherever in its file a kernel stands.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
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

Value Lowering::check(Operation *op, const Named &named, Value begin, Value size,
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
  std::optional<int64_t> all = named.extent ? constantOf(named.extent) : std::nullopt;
  if (first && count && all && *first >= 0 && *first <= *all && *count <= *all - *first)
    return begin;
  std::string text, name = getParamName(function);
  llvm::raw_string_ostream os(text);
  SmallVector<Value> operands;
  // An index is given back, in the same register: 0 where it does not exist.
  bool redirects = !size && when.empty();
  auto operand = [&](Value value) {
    operands.push_back(value);
    return "$" + std::to_string(operands.size() + (redirects ? 1 : -1));
  };
  auto word = [&](Value value, std::optional<int64_t> constant) {
    return constant ? std::to_string(*constant) : operand(value);
  };
  os << "{ .reg .pred some; .reg .b32 low, word, named; "
     << ".reg .b64 begin, size, extent, value, report; ";
  os << "mov.b64 begin, " << (redirects ? "$0" : word(begin, first)) << "; ";
  if (named.extent)
    os << "mov.b64 extent, " << word(named.extent, all) << "; ";
  else
    os << "ld.param.b64 extent, [" << name << "+" << named.param << "]; ";
  if (size)
    // Without sums, which might overflow.
    os << "mov.b64 size, " << word(size, count) << "; sub.s64 value, extent, size; "
       << "setp.ge.s64 some, value, begin; setp.ge.and.s64 some, begin, 0, some; ";
  else
    os << "setp.lt.u64 some, begin, extent; ";
  os << "@some bra FINE; ";
  // Asked where it matters: what is not there may be anywhere.
  for (const AtLeast &condition : unknown)
    os << "setp.lt.s" << condition.value.getType().getIntOrFloatBitWidth() << " some, "
       << operand(condition.value) << ", " << condition.least << "; @some bra FINE; ";
  ReportText report = makeReport(MK_FAIL_BOUNDS, sites->numberOf(op));
  int64_t fields = MK_GPU_NAMED(named.kind, named.dim, named.number);
  report.named = std::to_string(fields);
  if (named.chosen) {
    os << "shl.b32 named, " << operand(named.chosen) << ", 16; or.b32 named, named, "
       << MK_GPU_NAMED(named.kind, named.dim, 0) << "; ";
    report.named = "named";
  }
  report.element = "mov.b64 value, begin; ";
  report.wanted = "mov.b64 value, extent; ";
  report.seen = size ? "mov.b64 value, size; " : "mov.b64 value, 1; ";
  if (named.rank)
    report.rank = "mov.b64 value, " + operand(named.rank) + "; ";
  else
    report.rank = "ld.param.b32 word, [" + name + "+" +
                  std::to_string(params.launch + offsetof(mk_gpu_launch, rank)) +
                  "]; cvt.u64.u32 value, word; ";
  report.write(os);
  if (!redirects) {
    ptx(text + "FINE: }", {}, operands);
    return begin;
  }
  return tied(text + "mov.b64 $0, 0; FINE: }", begin, operands)[0];
}

SmallVector<Value> Lowering::checkIndices(Operation *op, int64_t kind, int64_t number,
                                          int64_t param, ArrayRef<int64_t> shape,
                                          ValueRange index) {
  SmallVector<Value> checked;
  for (auto [d, extent, i] : llvm::enumerate(shape, index)) {
    Named named{kind, int64_t(d), number, {}, param + 8 * int64_t(d)};
    if (!ShapedType::isDynamic(extent))
      named.extent = c64(extent);
    checked.push_back(check(op, named, scalar(i)));
  }
  return checked;
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
                                         Value rank) {
  SmallVector<Value> checked(offsets);
  if (!sites)
    return checked;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    Named named{kind, int64_t(d), buffer.arg, {}, -1, {}, rank};
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
  return checkRegion(op, kind, buffer, scalars(indices), {}, {});
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
  SmallVector<AtLeast> some;
  for (Value size : sizes)
    some.push_back({size, 1});
  if (!list) {
    checkRegion(op, kind, end, offsets, sizes, some, peer);
    return;
  }
  auto listed = cast<RankedTensorType>(op.getRows().getType()).getNumElements();
  Value count = resize(minS(sizes[0], c64(listed)), i32);
  sizes[0] = c64(1);
  Value first = offsets[0];
  forRange(partitionThread, count, c32(partition.getNumThreads()), [&](Value i) {
    Value row = load(i32, add(list, shl(i, 2)));
    SmallVector<AtLeast> there(some);
    there.push_back({row, 0});
    offsets[0] = add(first, resize(source ? row : i, i64));
    checkRegion(op, kind, end, offsets, sizes, there, peer);
  });
}
