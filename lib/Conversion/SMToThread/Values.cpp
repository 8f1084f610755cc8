//===- Values.cpp - What stands for a value -------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

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

SmallVector<Type> Lowering::packedTypes(TypeRange types) {
  SmallVector<Type> packed;
  for (Type type : types) {
    int64_t n = count(type);
    Type element = isa<SlotType, StagedType>(type)
                       ? i32
                       : scalarType(getElementTypeOrSelf(type));
    int64_t per = n == 1 ? 1 : getPerWord(element);
    packed.append(llvm::divideCeil(n, per), per == 1 ? element : i32);
  }
  return packed;
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
