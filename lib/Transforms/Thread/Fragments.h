//===- Fragments.h - What stores of fragments share ---------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_FRAGMENTS_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_FRAGMENTS_H

#include "Expand.h"

namespace mlir::mk_thread {

/// Elements as they are, or packed into words.
inline SmallVector<Value> take(Emitter &e, Value tile, ArrayRef<int32_t> which, bool packed) {
  Type element = getRegisterType(getElementTypeOrSelf(tile.getType()));
  SmallVector<Type> types =
      packed ? getPackedTypes(element, which.size()) : SmallVector<Type>(which.size(), element);
  return TakeElementsOp::create(e, types, e.getDenseI32ArrayAttr(which), tile).getResults();
}

/// `count` numbers from `first` on.
inline SmallVector<int32_t> number(int64_t first, int64_t count) {
  return llvm::to_vector(llvm::seq<int32_t>(first, first + count));
}

/// Emits `body` for the number that `number` turns out to be, of `count` ones from `from` on.
/// Bits are tested, and not the number compared, of which LLVM would make a jump through a table:
/// ptxas knows nothing uniform behind that.
void emitSwitch(Emitter &e, Value number, int64_t from, int64_t count,
                function_ref<void(int64_t)> body);

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_FRAGMENTS_H
