//===- Values.cpp - What stands for a value -------------------------------===//
#include "Taker.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

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

bool Lowering::isDeferred(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasAttr(kDeferredAttr) && !values.contains(value);
}

ArrayRef<Value> Lowering::elements(Value from) {
  if (isDeferred(from)) {
    Taker taker(*this);
    SmallVector<Value> all;
    for (unsigned i = 0, e = count(from.getType()); i != e; ++i)
      all.push_back(taker.take(from, i));
    set(from, all);
  }
  assert(values.contains(from) && "used before it was emitted");
  return values[from];
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

SmallVector<Type> Lowering::packedTypes(TypeRange types) {
  SmallVector<Type> packed;
  for (Type type : types) {
    int64_t n = count(type);
    Type element = isa<SlotType, StagedType>(type)
                       ? i32
                       : scalarType(getElementTypeOrSelf(type));
    int64_t per = n == 1 ? 1 : mk_thread::getPerWord(element);
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
    int64_t per = n == 1 ? 1 : mk_thread::getPerWord(element);
    int64_t taken = llvm::divideCeil(n, per);
    if (per == 1)
      set(value, left.take_front(taken));
    else
      set(value, unpack(left.take_front(taken), element, n));
    left = left.drop_front(taken);
  }
}
