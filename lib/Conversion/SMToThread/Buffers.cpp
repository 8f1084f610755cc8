//===- Buffers.cpp - Where buffers lie, and what of a tile exists in them -===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Edges.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

FailureOr<Buffer> Lowering::buffer(Operation *op, Value memref) {
  auto it = buffers.find(memref);
  if (it != buffers.end())
    return it->second;
  // Kernels have no other buffers than arguments and these.
  auto choice = cast<SelectOp>(memref.getDefiningOp());
  FailureOr<Buffer> x = buffer(op, choice.getTrueValue());
  FailureOr<Buffer> y = buffer(op, choice.getFalseValue());
  if (failed(x) || failed(y))
    return failure();
  Buffer result;
  result.type = cast<MemRefType>(memref.getType());
  result.condition = scalar(choice.getCondition());
  result.whenTrue = std::make_shared<Buffer>(std::move(*x));
  result.whenFalse = std::make_shared<Buffer>(std::move(*y));
  return result;
}

// An argument is its address, its sizes and its strides, in words.
Value Lowering::wordOf(const Buffer &buffer, int64_t word) {
  if (buffer.arg >= 0) {
    int64_t offset = params.args[buffer.arg] + 8 * word;
    return keepsWords ? loadParam(offset, i64) : loadParamHere(offset);
  }
  return select(buffer.condition, wordOf(*buffer.whenTrue, word),
                wordOf(*buffer.whenFalse, word));
}
Value Lowering::baseOf(const Buffer &buffer) {
  Value base = wordOf(buffer, 0);
  return buffer.away ? add(base, buffer.away) : base;
}
std::optional<int64_t> Lowering::extentOf(const Buffer &buffer, int64_t d) {
  if (buffer.arg < 0 || (d == 0 && buffer.rows))
    return std::nullopt;
  return kernel.getArgExtent(buffer.arg, d);
}
Value Lowering::sizeOf(const Buffer &buffer, int64_t d) {
  if (d == 0 && buffer.rows)
    return buffer.rows;
  if (!buffer.type.isDynamicDim(d))
    return c64(buffer.type.getDimSize(d));
  return wordOf(buffer, 1 + d);
}
bool Lowering::isPacked(const Buffer &buffer) {
  return buffer.arg >= 0 && !buffer.away && kernel.getArgKind(buffer.arg) == ArgKind::Scratch &&
         buffer.type.hasStaticShape() && buffer.type.getLayout().isIdentity() &&
         !isSymmetric(buffer.type);
}
Value Lowering::strideOf(const Buffer &buffer, int64_t d) {
  if (isPacked(buffer))
    return c64(ShapedType::getNumElements(buffer.type.getShape().drop_front(d + 1)));
  return wordOf(buffer, 1 + buffer.type.getRank() + d);
}

std::pair<Value, Value> Lowering::tensorMap(const Buffer &buffer,
                                            ArrayRef<int64_t> box) {
  Value number = mapNumber(buffer, box);
  if (!number)
    return {};
  // Tested anew each time: kept, these bits would take the producer's predicates.
  Value valid = loadParamHere(params.launch + offsetof(mk_gpu_launch, maps_valid));
  Value bit = and_(b.createOrFold<arith::ShRUIOp>(loc, valid, resize(number, i64)), 1);
  Value offset = mul(number, MK_GPU_TENSOR_MAP_BYTES);
  Value address = create<mk_thread::ParamAddressOp>(int64_t(0), offset);
  return {address, cmp(Predicate::ne, bit, 0)};
}

Value Lowering::mapNumber(const Buffer &buffer, ArrayRef<int64_t> box, bool peers) {
  if (buffer.arg >= 0) {
    std::optional<unsigned> map = params.findMap(buffer.arg, box, peers);
    return map ? c32(*map) : Value();
  }
  Value x = mapNumber(*buffer.whenTrue, box, peers);
  Value y = mapNumber(*buffer.whenFalse, box, peers);
  return x && y ? select(buffer.condition, x, y) : Value();
}

namespace {
/// Edges of tiles in a thread's code.
struct EdgeMath {
  Emitter &e;

  Value min(Value a, Value b) { return e.minS(a, b); }
  Value sub(Value a, Value b) { return e.sub(a, b); }
  Value constant(int64_t number) { return e.c64(number); }
};
} // namespace

SmallVector<Value> Lowering::limits(const Buffer &buffer,
                                    ArrayRef<Value> offsets, ArrayRef<int64_t> tile,
                                    ValueRange valid, ValueRange indices) {
  int64_t lead = buffer.type.getRank() - int64_t(tile.size());
  auto exist = [&](int64_t d, int64_t size) {
    return !indices.empty() && this->exist(buffer, d, indices[d], size);
  };
  SmallVector<Value> result;
  for (auto [d, extent] : llvm::enumerate(tile)) {
    Value end = valid.empty() ? Value() : scalar(valid[d]);
    if (exist(lead + d, extent)) {
      result.push_back(end ? end : c64(extent));
      continue;
    }
    result.push_back(leftBehind<Value>(EdgeMath{*this}, offsets[lead + d],
                                       sizeOf(buffer, lead + d), end ? &end : nullptr));
  }
  // Outside in a leading dimension: nothing is there.
  for (int64_t d = 0; d < lead && !tile.empty(); ++d) {
    if (exist(d, 1))
      continue;
    Value inside = cmp(Predicate::ult, offsets[d], sizeOf(buffer, d));
    result.front() = select(inside, result.front(), c64(0));
  }
  return result;
}

Value Lowering::isBoundedByBuffer(Value usable, const Buffer &buffer, ArrayRef<Value> offsets,
                             ArrayRef<int64_t> shape, ValueRange valid) {
  int64_t lead = offsets.size() - shape.size();
  for (auto [d, end] : llvm::enumerate(valid)) {
    if (std::optional<int64_t> number = getConstantIntValue(end); number && *number >= shape[d])
      continue;
    Value needed = whatEdgesLeave<Value>(EdgeMath{*this}, offsets[lead + d], shape[d],
                                         sizeOf(buffer, lead + d));
    usable = and_(usable, cmp(Predicate::sge, scalar(end), needed));
  }
  return usable;
}

Value Lowering::isBoxAddressable(Value usable, ValueRange offsets, Type element, bool stores) {
  if (!isEngineColumn(offsets.back(), element)) {
    Value byte = mul(scalar(offsets.back()), getElementBytes(element));
    usable = and_(usable, eq(and_(byte, kEngineBytes - 1), 0));
  }
  if (!stores)
    return usable;
  Value signs = c32(0); // of the words that the engine is given
  for (Value offset : offsets)
    if (!getConstantIntValue(offset))
      signs = or_(signs, resize(scalar(offset), i32));
  return and_(usable, cmp(Predicate::sge, signs, int64_t(0)));
}

Value Lowering::elementAddress(const Buffer &buffer, ArrayRef<Value> offsets) {
  Value element = c64(0);
  for (auto [d, offset] : llvm::enumerate(offsets))
    element = add(element, mul(offset, strideOf(buffer, d)));
  return add(baseOf(buffer),
             mul(element, getElementBytes(buffer.type.getElementType())));
}

bool Lowering::isAligned(const Buffer &buffer, ArrayRef<Value> offsets) {
  if (!isPacked(buffer) || offsets.empty())
    return false;
  int64_t access = getSm(kernel).getAccess(), size = getElementBytes(buffer.type.getElementType());
  std::optional<int64_t> column = getConstantIntValue(offsets.back());
  return column && *column * size % access == 0 &&
         buffer.type.getShape().back() * size % access == 0;
}

SmallVector<Value> Lowering::byteStrides(const Buffer &buffer) {
  int64_t size = getElementBytes(buffer.type.getElementType());
  SmallVector<Value> result;
  for (int64_t d = 0; d < buffer.type.getRank(); ++d)
    result.push_back(mul(strideOf(buffer, d), size));
  return result;
}
