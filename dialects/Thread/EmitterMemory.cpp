//===- EmitterMemory.cpp - Variables, accesses to memory, words ------------===//
#include "mkernel/Dialect/Thread/Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

Type Emitter::pointerType(unsigned space) {
  return LLVM::LLVMPointerType::get(b.getContext(), space);
}

Value Emitter::variable(Type type, Value initial) {
  Value one = c32(1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(sharedBase.getDefiningOp());
  Value result = LLVM::AllocaOp::create(b, loc, pointerType(), type, one);
  write(result, initial);
  return result;
}
Value Emitter::read(Value variable, Type type) {
  return LLVM::LoadOp::create(b, loc, type, variable);
}
void Emitter::write(Value variable, Value value) { LLVM::StoreOp::create(b, loc, value, variable); }

void Emitter::advance(Value stage, Value parity, int64_t depth) {
  Value phase = read(parity, i32);
  if (depth == 1)
    return write(parity, xor_(phase, 1));
  Value next = add(read(stage, i32), 1);
  Value wraps = eq(next, depth);
  write(stage, select(wraps, c32(0), next));
  write(parity, xor_(phase, resize(wraps, i32)));
}

Value Emitter::pointer(Value address) {
  if (isa<LLVM::LLVMPointerType>(address.getType()))
    return address;
  unsigned space = address.getType().isInteger(32) ? 3 : 1;
  return LLVM::IntToPtrOp::create(b, loc, pointerType(space), address);
}
Value Emitter::load(Type type, Value address, int64_t offset) {
  return LLVM::LoadOp::create(b, loc, type, pointer(add(address, offset)));
}
void Emitter::store(Value value, Value address, int64_t offset) {
  LLVM::StoreOp::create(b, loc, value, pointer(add(address, offset)));
}

SmallVector<Value> Emitter::loadWords(TypeRange types, Value address, int64_t bytes,
                                      Value condition, ValueRange otherwise, bool inverted) {
  auto op = create<LoadOp>(types, address, bytes, condition, inverted, otherwise);
  return SmallVector<Value>(op.getResults());
}
void Emitter::storeWords(ValueRange words, Value address, int64_t bytes, Value condition,
                         bool inverted) {
  create<StoreOp>(words, address, bytes, condition, inverted, TypeAttr(), MemScopeAttr());
}
void Emitter::storeWhere(Value exists, Value address, int64_t bytes, ArrayRef<Value> words,
                         Addition add) {
  SmallVector<Value> stored(words);
  Value condition = resize(exists, i32);
  if (bytes == 1)
    stored[0] = resize(stored[0], i16);
  if (add)
    addToElement(stored[0], add.type, add.scope, address, bytes, condition);
  else
    storeWords(stored, address, bytes, condition);
}
void Emitter::addToElement(Value value, Type type, MemScope scope, Value address, int64_t bytes,
                           Value condition) {
  create<StoreOp>(value, address, bytes, condition, /*inverted=*/false, TypeAttr::get(type),
                  MemScopeAttr::get(b.getContext(), scope));
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

int64_t mk_thread::getPerWord(Type type) {
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
  return type.getNumElements() == static_cast<int64_t>(values.size()) ? vector : Value();
}

SmallVector<Value> Emitter::pack(ArrayRef<Value> elements) {
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

SmallVector<Value> Emitter::unpack(ArrayRef<Value> words, Type type, int64_t count) {
  int64_t per = getPerWord(type);
  if (per == 1)
    return SmallVector<Value>(words);
  SmallVector<Value> elements;
  for (Value word : words) {
    Value vector = LLVM::BitcastOp::create(b, loc, VectorType::get(per, type), word);
    for (int64_t k = 0; k < per && static_cast<int64_t>(elements.size()) < count; ++k)
      elements.push_back(LLVM::ExtractElementOp::create(b, loc, vector, c32(k)));
  }
  return elements;
}
