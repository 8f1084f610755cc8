//===- Buffers.cpp - Where buffers lie, and what of a tile exists in them -===//
#include "Bounds.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Edges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

Buffer sm::getBuffer(PartitionBuilder &p, Operation *op, Value memref) {
  Buffer result;
  result.type = cast<MemRefType>(memref.getType());
  if (auto arg = dyn_cast<BlockArgument>(memref)) {
    result.arg = arg.getArgNumber() - p.info.getKernel().getNumDims();
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop && !result.hoisted;
         loop = loop->getParentOfType<scf::ForOp>())
      result.hoisted = !loop.getOps<KeepWordsOp>().empty();
    return result;
  }
  // Kernels have no other buffers than arguments and these.
  auto choice = cast<SelectOp>(memref.getDefiningOp());
  result.condition = p.scalar(choice.getCondition());
  result.whenTrue = std::make_shared<Buffer>(getBuffer(p, op, choice.getTrueValue()));
  result.whenFalse = std::make_shared<Buffer>(getBuffer(p, op, choice.getFalseValue()));
  result.hoisted = result.whenTrue->hoisted;
  return result;
}

// An argument is its address, its sizes and its strides, in words.
static Value wordOf(PartitionBuilder &p, const Buffer &buffer, int64_t word) {
  if (buffer.arg >= 0) {
    int64_t offset = p.info.params.args[buffer.arg] + 8 * word;
    return buffer.hoisted ? readParam(p, offset) : readParam(p, offset, /*pinned=*/true);
  }
  return select(p, buffer.condition, wordOf(p, *buffer.whenTrue, word),
                wordOf(p, *buffer.whenFalse, word));
}
Value sm::baseOf(PartitionBuilder &p, const Buffer &buffer) {
  Value base = wordOf(p, buffer, 0);
  return buffer.away ? add(p, base, buffer.away) : base;
}
std::optional<int64_t> sm::extentOf(const KernelInfo &info, const Buffer &buffer, int64_t d) {
  if (buffer.arg < 0 || (d == 0 && buffer.rows))
    return std::nullopt;
  return info.getKernel().getArgExtent(buffer.arg, d);
}
Value sm::sizeOf(PartitionBuilder &p, const Buffer &buffer, int64_t d) {
  if (d == 0 && buffer.rows)
    return buffer.rows;
  if (!buffer.type.isDynamicDim(d))
    return p.c64(buffer.type.getDimSize(d));
  return wordOf(p, buffer, 1 + d);
}
/// Whether it is scratch of known extents: the runtime's own memory, rows without gaps.
static bool isPacked(const KernelInfo &info, const Buffer &buffer) {
  return buffer.arg >= 0 && !buffer.away &&
         info.getKernel().getArgKind(buffer.arg) == ArgKind::Scratch &&
         buffer.type.hasStaticShape() && buffer.type.getLayout().isIdentity() &&
         !isSymmetric(buffer.type);
}
Value sm::strideOf(PartitionBuilder &p, const Buffer &buffer, int64_t d) {
  if (isPacked(p.info, buffer))
    return p.c64(ShapedType::getNumElements(buffer.type.getShape().drop_front(d + 1)));
  return wordOf(p, buffer, 1 + buffer.type.getRank() + d);
}

std::pair<Value, Value> sm::tensorMap(PartitionBuilder &p, const Buffer &buffer,
                                      ArrayRef<int64_t> box) {
  Value number = mapNumber(p, buffer, box);
  if (!number)
    return {};
  // Tested anew each time: kept, these bits would take the producer's predicates.
  Value valid = readLaunchField(p, offsetof(mk_gpu_launch, maps_valid));
  Value bit = and_(p, shr(p, valid, resize(p, number, p.i64)), 1);
  Value offset = mul(p, number, MK_GPU_TENSOR_MAP_BYTES);
  Value address = mk_thread::ParamAddressOp::create(p, int64_t(0), offset);
  return {address, ne(p, bit, 0)};
}

Value sm::mapNumber(PartitionBuilder &p, const Buffer &buffer, ArrayRef<int64_t> box, bool peers) {
  if (buffer.arg >= 0) {
    std::optional<unsigned> map = p.info.params.findMap(buffer.arg, box, peers);
    return map ? p.c32(*map) : Value();
  }
  Value x = mapNumber(p, *buffer.whenTrue, box, peers);
  Value y = mapNumber(p, *buffer.whenFalse, box, peers);
  return x && y ? select(p, buffer.condition, x, y) : Value();
}

SmallVector<Value> sm::limits(PartitionBuilder &p, const Buffer &buffer, ArrayRef<Value> offsets,
                              ArrayRef<int64_t> tile, ValueRange valid, ValueRange indices) {
  int64_t lead = buffer.type.getRank() - int64_t(tile.size());
  auto exist = [&](int64_t d, int64_t size) {
    return !indices.empty() && sm::exist(p.info, buffer, d, indices[d], size);
  };
  SmallVector<Value> result;
  for (auto [d, extent] : llvm::enumerate(tile)) {
    Value end = valid.empty() ? Value() : p.scalar(valid[d]);
    if (exist(lead + d, extent)) {
      result.push_back(end ? end : p.c64(extent));
      continue;
    }
    result.push_back(leftBehind<Value>(ThreadMath{p}, offsets[lead + d],
                                       sizeOf(p, buffer, lead + d), end ? &end : nullptr));
  }
  // Outside in a leading dimension: nothing is there.
  for (int64_t d = 0; d < lead && !tile.empty(); ++d) {
    if (exist(d, 1))
      continue;
    Value inside = ult(p, offsets[d], sizeOf(p, buffer, d));
    result.front() = select(p, inside, result.front(), p.c64(0));
  }
  return result;
}

Value sm::isBoundedByBuffer(PartitionBuilder &p, Value usable, const Buffer &buffer,
                            ArrayRef<Value> offsets, ArrayRef<int64_t> shape, ValueRange valid) {
  int64_t lead = offsets.size() - shape.size();
  for (auto [d, end] : llvm::enumerate(valid)) {
    if (std::optional<int64_t> number = getConstantIntValue(end); number && *number >= shape[d])
      continue;
    Value needed = whatEdgesLeave<Value>(ThreadMath{p}, offsets[lead + d], shape[d],
                                         sizeOf(p, buffer, lead + d));
    usable = and_(p, usable, sge(p, p.scalar(end), needed));
  }
  return usable;
}

Value sm::isBoxAddressable(PartitionBuilder &p, Value usable, ValueRange offsets, Type element,
                           bool stores) {
  if (!isEngineColumn(offsets.back(), getElementBytes(element))) {
    Value byte = mul(p, p.scalar(offsets.back()), getElementBytes(element));
    usable = and_(p, usable, eq(p, and_(p, byte, kEngineBytes - 1), 0));
  }
  if (!stores)
    return usable;
  Value signs = p.c32(0); // of the words that the engine is given
  for (Value offset : offsets)
    if (!getConstantIntValue(offset))
      signs = or_(p, signs, resize(p, p.scalar(offset), p.i32));
  return and_(p, usable, sge(p, signs, 0));
}

Value sm::elementAddress(PartitionBuilder &p, const Buffer &buffer, ArrayRef<Value> offsets) {
  Value element = p.c64(0);
  for (auto [d, offset] : llvm::enumerate(offsets))
    element = add(p, element, mul(p, offset, strideOf(p, buffer, d)));
  return add(p, baseOf(p, buffer), mul(p, element, getElementBytes(buffer.type.getElementType())));
}

bool sm::isAligned(const KernelInfo &info, const Buffer &buffer, ArrayRef<Value> offsets) {
  if (!isPacked(info, buffer) || offsets.empty())
    return false;
  int64_t access = getSm(info.getKernel()).getAccess(),
          size = getElementBytes(buffer.type.getElementType());
  std::optional<int64_t> column = getConstantIntValue(offsets.back());
  return column && *column * size % access == 0 &&
         buffer.type.getShape().back() * size % access == 0;
}

SmallVector<Value> sm::byteStrides(PartitionBuilder &p, const Buffer &buffer) {
  int64_t size = getElementBytes(buffer.type.getElementType());
  SmallVector<Value> result;
  for (int64_t d = 0; d < buffer.type.getRank(); ++d)
    result.push_back(mul(p, strideOf(p, buffer, d), size));
  return result;
}

Value sm::narrow(PartitionBuilder &p, Value value) {
  return resize(p, minS(p, maxS(p, value, 0), 1 << 20), p.i32);
}

/// In the range of i32, without the least.
static Value toEntry(PartitionBuilder &p, Value value) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  return resize(p, minS(p, maxS(p, value, -most), most), p.i32);
}

ListedRows sm::findRows(PartitionBuilder &p, Operation *op, const Buffer &buffer, int64_t d,
                        Value offset, Value memref, Value at, Value valid) {
  Buffer list = getBuffer(p, op, memref);
  Value left = sub(p, sizeOf(p, list, 0), at);
  if (valid)
    left = minS(p, left, valid);
  return {elementAddress(p, list, {at}),        resize(p, strideOf(p, list, 0), p.i32),
          narrow(p, sub(p, p.c64(0), at)),      narrow(p, left),
          toEntry(p, sub(p, p.c64(0), offset)), toEntry(p, sub(p, sizeOf(p, buffer, d), offset))};
}
