//===- Values.cpp - What stands for a value -------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

void Lowering::set(Value from, ValueRange to) {
  Value value =
      isa<RankedTensorType>(from.getType()) && !isa<RankedTensorType>(to.front().getType())
          ? create<mk_thread::HoldElementsOp>(from.getType(), to)
          : to.front();
  values[from] = {value};
  if (isa<SlotType>(from.getType()))
    values[from].push_back(to[1]);
}

SmallVector<Value> Lowering::scalars(ValueRange from) {
  return llvm::map_to_vector(from, [&](Value value) { return scalar(value); });
}

SmallVector<Value> Lowering::elements(Value from) {
  auto type = dyn_cast<RankedTensorType>(from.getType());
  if (!type)
    return SmallVector<Value>(ArrayRef(values[from]));
  return create<mk_thread::TakeElementsOp>(getElementTypes(type), DenseI32ArrayAttr(), scalar(from))
      .getResults();
}

LogicalResult Lowering::setFragment(Operation *op, function_ref<Operation *()> emit) {
  Value tile = op->getResult(0);
  if (!op->hasAttr(kDeferredAttr)) {
    set(tile, emit()->getResults());
    return success();
  }
  auto demanded = create<mk_thread::OnDemandOp>(tile.getType());
  within(demanded.getBody(), [&] { emit(); });
  set(tile, demanded.getFragment());
  return success();
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

SmallVector<Type> Lowering::packedTypes(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (isa<SlotType, StagedType>(type))
    return SmallVector<Type>(isa<SlotType>(type) ? 2 : 1, IntegerType::get(type.getContext(), 32));
  int64_t n = tile ? getNumElements(tile) : 1;
  Type element = getRegisterType(getElementTypeOrSelf(type));
  return n == 1 ? SmallVector<Type>{element} : mk_thread::getPackedTypes(element, n);
}
SmallVector<Type> Lowering::packedTypes(TypeRange types) {
  SmallVector<Type> packed;
  for (Type type : types)
    llvm::append_range(packed, packedTypes(type));
  return packed;
}

SmallVector<Value> Lowering::packAll(ValueRange from) {
  SmallVector<Value> words;
  for (Value value : from)
    llvm::append_range(words,
                       isa<RankedTensorType>(value.getType())
                           ? create<mk_thread::TakeElementsOp>(packedTypes(value.getType()),
                                                               DenseI32ArrayAttr(), scalar(value))
                                 .getResults()
                           : ValueRange(values[value]));
  return words;
}

void Lowering::unpackAll(ValueRange to, ValueRange words) {
  for (Value value : to) {
    size_t count = packedTypes(value.getType()).size();
    set(value, words.take_front(count));
    words = words.drop_front(count);
  }
}
