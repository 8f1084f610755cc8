//===- Taker.h - Elements where they are taken -------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_TAKER_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_TAKER_H

#include "Lowering.h"

namespace mlir::mk::sm {

/// What takes elements of fragments one by one. Those of deferred ops (mk-sm-defer-elements) are computed
/// then, each once as long as this lives: in one block and those in it.
class Taker {
public:
  explicit Taker(Lowering &lowering) : lowering(lowering) {}

  Value take(Value tile, unsigned i);
  /// Of an op whose elements have no values yet.
  Value take(Operation *op, unsigned i);
  /// Loads what the elements are computed from.
  void load(Value tile, ArrayRef<unsigned> elements);

private:
  /// Two elements at once where there is an instruction for it.
  bool takePair(Operation *op, unsigned i);
  Value invert(Value x);

  Lowering &lowering;
  DenseMap<std::pair<Value, unsigned>, Value> known;
  DenseMap<Value, Value> inverses;
};

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_TAKER_H
