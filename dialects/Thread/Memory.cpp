//===- Memory.cpp - Variables, accesses to memory, words ------------------===//
#include "mkernel/Dialect/Thread/Memory.h"
#include "mkernel/Dialect/Thread/Integers.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

Value mk_thread::variable(Emitter &e, Type type, Value initial) {
  Value one = e.c32(1);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPoint(e.sharedBase.getDefiningOp());
  Value result = LLVM::AllocaOp::create(e, LLVM::LLVMPointerType::get(e.getContext()), type, one);
  write(e, result, initial);
  return result;
}

void mk_thread::advance(Emitter &e, Value stage, Value parity, int64_t depth) {
  Value phase = read(e, parity, e.i32);
  if (depth == 1)
    return write(e, parity, xor_(e, phase, 1));
  Value next = add(e, read(e, stage, e.i32), 1);
  Value wraps = eq(e, next, depth);
  write(e, stage, select(e, wraps, e.c32(0), next));
  write(e, parity, xor_(e, phase, resize(e, wraps, e.i32)));
}

Value mk_thread::swizzle(Emitter &e, Value row) {
  return mul(e, and_(e, row, e.sm.getSwizzleRows() - 1), mk::SmAttr::kPiece);
}

Value mk_thread::toPointer(Emitter &e, Value address) {
  if (isa<LLVM::LLVMPointerType>(address.getType()))
    return address;
  unsigned space = address.getType().isInteger(32) ? 3 : 1;
  return LLVM::IntToPtrOp::create(e, LLVM::LLVMPointerType::get(e.getContext(), space), address);
}
Value mk_thread::load(Emitter &e, Type type, Value address, int64_t offset) {
  return LLVM::LoadOp::create(e, type, toPointer(e, add(e, address, offset)));
}
void mk_thread::store(Emitter &e, Value value, Value address, int64_t offset) {
  LLVM::StoreOp::create(e, value, toPointer(e, add(e, address, offset)));
}

void mk_thread::storeWhere(Emitter &e, Value exists, Value address, int64_t bytes,
                           ArrayRef<Value> words, Addition add) {
  SmallVector<Value> stored(words);
  Value condition = resize(e, exists, e.i32);
  if (bytes == 1)
    stored[0] = resize(e, stored[0], e.i16);
  StoreOp::create(e, stored, address, bytes, condition, /*inverted=*/false,
                  add.type ? TypeAttr::get(add.type) : TypeAttr(),
                  add.type ? MemScopeAttr::get(e.getContext(), add.scope) : MemScopeAttr());
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

Value mk_thread::toBits(Emitter &e, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type bits = e.getIntegerType(width);
  if (value.getType() != bits)
    value = LLVM::BitcastOp::create(e, bits, value);
  return width < 16 ? resize(e, value, e.i16) : value;
}

Value mk_thread::fromBits(Emitter &e, Value bits, Type type) {
  Type narrow = e.getIntegerType(type.getIntOrFloatBitWidth());
  Value value = resize(e, bits, narrow);
  return type == narrow ? value : Value(LLVM::BitcastOp::create(e, type, value));
}

Value mk_thread::loadElement(Emitter &e, Type type, Value address, Value condition, Value otherwise,
                             bool inverted) {
  Type bits = e.getIntegerType(std::max<unsigned>(type.getIntOrFloatBitWidth(), 16));
  SmallVector<Value> start;
  if (condition)
    start.push_back(otherwise ? toBits(e, otherwise) : e.cint(bits, 0));
  auto op = LoadOp::create(e, bits, address, getElementBytes(type), condition, start, inverted);
  return fromBits(e, op.getResult(0), type);
}

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

SmallVector<Value> mk_thread::pack(Emitter &e, ArrayRef<Value> elements) {
  Type type = elements.empty() ? e.i32 : elements.front().getType();
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
      vector = LLVM::PoisonOp::create(e, vectorType);
      for (auto [k, value] : llvm::enumerate(part))
        vector = LLVM::InsertElementOp::create(e, vector, value, e.c32(k));
    }
    if (auto cast = vector.getDefiningOp<LLVM::BitcastOp>())
      if (cast.getArg().getType().isInteger(32)) {
        words.push_back(cast.getArg());
        continue;
      }
    words.push_back(LLVM::BitcastOp::create(e, e.i32, vector));
  }
  return words;
}

SmallVector<Value> mk_thread::unpack(Emitter &e, ArrayRef<Value> words, Type type, int64_t count) {
  int64_t per = getPerWord(type);
  if (per == 1)
    return SmallVector<Value>(words);
  SmallVector<Value> elements;
  for (Value word : words) {
    Value vector = LLVM::BitcastOp::create(e, VectorType::get(per, type), word);
    for (int64_t k = 0; k < per && static_cast<int64_t>(elements.size()) < count; ++k)
      elements.push_back(LLVM::ExtractElementOp::create(e, vector, e.c32(k)));
  }
  return elements;
}
