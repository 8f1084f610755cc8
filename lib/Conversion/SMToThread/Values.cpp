//===- Values.cpp - What stands for a value -------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Analysis/Edges.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

Type Lowering::scalarType(Type type) {
  if (type.isIndex())
    return i64;
  // LLVM has no type for 8-bit floats: their bits.
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return i8;
  return type;
}

int64_t Lowering::count(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return getNumElements(tensor);
  if (isa<SlotType>(type))
    return 2;
  return isa<StagedType, IndexType, IntegerType, FloatType>(type) ? 1 : -1;
}

SmallVector<Value> Lowering::scalars(ValueRange from) {
  return llvm::map_to_vector(from, [&](Value value) { return scalar(value); });
}

Value Lowering::element(Value from, unsigned i) {
  auto &known = values[from];
  assert(!known.empty() && "used before it was emitted");
  // One value may stand for all elements.
  i = known.size() == 1 ? 0 : i;
  if (Value value = known[i])
    return value;
  Operation *op = from.getDefiningOp();
  Value value = compute(op, i);
  if (!value) {
    if (!broken)
      (void)refuse(op);
    broken = true;
    Type type = scalarType(getElementTypeOrSelf(from.getType()));
    value = LLVM::PoisonOp::create(b, loc, type);
  }
  computed.emplace_back(from, i);
  return values[from][i] = value;
}


ArrayRef<Value> Lowering::elements(Value from) {
  if (putOff.contains(from))
    for (unsigned i = 0, e = values[from].size(); i != e; ++i)
      (void)element(from, i);
  return values[from];
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Elements in one 32-bit word; 1 for those that are as wide or no numbers.
static int64_t getPerWord(Type type) {
  if (!type.isIntOrFloat() || type.isInteger(1))
    return 1;
  int64_t bits = type.getIntOrFloatBitWidth();
  return bits == 16 ? 2 : bits == 8 ? 4 : 1;
}

/// The vector of which `values` are the elements in order, or null.
static Value findVector(ArrayRef<Value> values) {
  Value vector;
  for (auto [i, value] : llvm::enumerate(values)) {
    auto extract = value.getDefiningOp<LLVM::ExtractElementOp>();
    APInt position;
    if (!extract || !matchPattern(extract.getPosition(), m_ConstantInt(&position)) ||
        position != i || (vector && vector != extract.getVector()))
      return {};
    vector = extract.getVector();
  }
  auto type = cast<VectorType>(vector.getType());
  return type.getNumElements() == static_cast<int64_t>(values.size()) ? vector
                                                                      : Value();
}

SmallVector<Value> Lowering::pack(ArrayRef<Value> elements) {
  Type type = elements.empty() ? i32 : elements.front().getType();
  int64_t per = getPerWord(type);
  if (per == 1)
    return SmallVector<Value>(elements);
  SmallVector<Value> words;
  auto vectorType = VectorType::get(per, type);
  for (size_t i = 0; i < elements.size(); i += per) {
    SmallVector<Value> part(elements.slice(i, std::min<size_t>(per, elements.size() - i)));
    Value vector;
    if (part.size() == static_cast<size_t>(per))
      vector = findVector(part);
    if (!vector) {
      // Bytes come out of conversions in pairs.
      vector = LLVM::PoisonOp::create(b, loc, vectorType);
      for (auto [k, value] : llvm::enumerate(part))
        vector = LLVM::InsertElementOp::create(b, loc, vector, value, c32(k));
    }
    if (auto cast = vector.getDefiningOp<LLVM::BitcastOp>())
      if (cast.getArg().getType().isInteger(32)) {
        words.push_back(cast.getArg());
        continue;
      }
    words.push_back(LLVM::BitcastOp::create(b, loc, i32, vector));
  }
  return words;
}

SmallVector<Value> Lowering::unpack(ArrayRef<Value> words, Type type,
                                    int64_t count) {
  int64_t per = getPerWord(type);
  if (per == 1)
    return SmallVector<Value>(words);
  SmallVector<Value> elements;
  for (Value word : words) {
    Value vector =
        LLVM::BitcastOp::create(b, loc, VectorType::get(per, type), word);
    for (int64_t k = 0; k < per && static_cast<int64_t>(elements.size()) < count; ++k)
      elements.push_back(LLVM::ExtractElementOp::create(b, loc, vector, c32(k)));
  }
  return elements;
}

LogicalResult Lowering::packedTypes(Operation *op, TypeRange types,
                                    SmallVectorImpl<Type> &packed) {
  for (Type type : types) {
    int64_t n = count(type);
    if (n < 0)
      return op->emitOpError()
             << "carries " << type
             << (isa<BaseMemRefType>(type)
                     ? ", a buffer; choose between buffers with mk.select"
                     : ", which has no layout over threads");
    Type element = isa<SlotType, StagedType>(type)
                       ? i32
                       : scalarType(getElementTypeOrSelf(type));
    int64_t per = n == 1 ? 1 : getPerWord(element);
    packed.append(llvm::divideCeil(n, per), per == 1 ? element : i32);
  }
  return success();
}

SmallVector<Value> Lowering::packAll(ValueRange from) {
  SmallVector<Value> words;
  for (Value value : from) {
    ArrayRef<Value> parts = elements(value);
    if (parts.size() == 1)
      words.push_back(parts.front());
    else
      words.append(pack(parts));
  }
  return words;
}

void Lowering::unpackAll(ValueRange to, ValueRange words) {
  SmallVector<Value> all(words);
  ArrayRef<Value> left = all;
  for (Value value : to) {
    Type type = value.getType();
    int64_t n = count(type);
    Type element = isa<SlotType, StagedType>(type)
                       ? i32
                       : scalarType(getElementTypeOrSelf(type));
    int64_t per = n == 1 ? 1 : getPerWord(element);
    int64_t taken = llvm::divideCeil(n, per);
    if (per == 1)
      set(value, left.take_front(taken));
    else
      set(value, unpack(left.take_front(taken), element, n));
    left = left.drop_front(taken);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

FailureOr<Buffer> Lowering::buffer(Operation *op, Value memref) {
  auto it = buffers.find(memref);
  if (it != buffers.end())
    return it->second;
  auto choice = memref.getDefiningOp<SelectOp>();
  if (!choice)
    return op->emitOpError() << "works on a buffer that is neither an argument "
                                "of the kernel nor chosen by mk.select";
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
  if (buffer.arg >= 0)
    return loadParamHere(params.args[buffer.arg] + 8 * word);
  return select(buffer.condition, wordOf(*buffer.whenTrue, word),
                wordOf(*buffer.whenFalse, word));
}
Value Lowering::baseOf(const Buffer &buffer) {
  Value base = wordOf(buffer, 0);
  return buffer.away ? add(base, buffer.away) : base;
}
Value Lowering::sizeOf(const Buffer &buffer, int64_t d) {
  if (d == 0 && buffer.rows)
    return buffer.rows;
  if (!buffer.type.isDynamicDim(d))
    return c64(buffer.type.getDimSize(d));
  return wordOf(buffer, 1 + d);
}
Value Lowering::strideOf(const Buffer &buffer, int64_t d) {
  return wordOf(buffer, 1 + buffer.type.getRank() + d);
}

Value Lowering::mapAddress(unsigned map) {
  return create<mk_thread::ParamAddressOp>(int64_t(map * MK_GPU_TENSOR_MAP_BYTES));
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
                                    ArrayRef<Value> offsets, int64_t tileRank,
                                    ValueRange valid) {
  int64_t lead = buffer.type.getRank() - tileRank;
  SmallVector<Value> result;
  for (int64_t d = 0; d < tileRank; ++d) {
    Value end = valid.empty() ? Value() : scalar(valid[d]);
    result.push_back(leftBehind<Value>(EdgeMath{*this}, offsets[lead + d],
                                       sizeOf(buffer, lead + d), end ? &end : nullptr));
  }
  // Outside in a leading dimension: nothing is there.
  for (int64_t d = 0; d < lead && tileRank; ++d) {
    Value inside = cmp(Predicate::ult, offsets[d], sizeOf(buffer, d));
    result.front() = select(inside, result.front(), c64(0));
  }
  return result;
}

Value Lowering::endsByItself(Value usable, const Buffer &buffer, ArrayRef<Value> offsets,
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

Value Lowering::covers(ArrayRef<Value> limits, ArrayRef<int64_t> shape) {
  Value all = cbool(true);
  for (auto [limit, extent] : llvm::zip(limits, shape))
    all = and_(all, cmp(Predicate::sge, limit, extent));
  return all;
}

Value Lowering::elementAddress(const Buffer &buffer, ArrayRef<Value> offsets) {
  Value element = c64(0);
  for (auto [d, offset] : llvm::enumerate(offsets))
    element = add(element, mul(offset, strideOf(buffer, d)));
  return add(baseOf(buffer),
             mul(element, getElementBytes(buffer.type.getElementType())));
}

SmallVector<Value> Lowering::byteStrides(const Buffer &buffer) {
  int64_t size = getElementBytes(buffer.type.getElementType());
  SmallVector<Value> result;
  for (int64_t d = 0; d < buffer.type.getRank(); ++d)
    result.push_back(mul(strideOf(buffer, d), size));
  return result;
}
