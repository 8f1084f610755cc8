//===- ElementEvaluator.h - Elements of fragments, as they are asked for -*- C++ -*-===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_ELEMENTEVALUATOR_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_ELEMENTEVALUATOR_H

#include "Expand.h"

namespace mlir::mk_thread {

using Fragments = DenseMap<Value, SmallVector<Value>>;

/// Evaluates elements of fragments one by one. Those on demand are computed when they are asked
/// for, each once in a block and those in it.
class ElementEvaluator {
public:
  ElementEvaluator(Emitter &e, Fragments &fragments) : e(e), fragments(fragments) {}

  Value evaluate(Value tile, unsigned i);
  /// Of an op whose elements have no values yet, and which `tile` stands for.
  Value evaluate(Operation *op, Value tile, unsigned i);
  SmallVector<Value> evaluateAll(Value tile);
  /// Loads what the elements are computed from.
  void load(Value tile, ArrayRef<unsigned> elements);
  /// The op that computes elements on demand, which nobody has asked for as a whole.
  Operation *getDemanded(Value tile);

private:
  Value find(Value tile, unsigned i);
  /// A load with `quads` of the element, whose threads have exchanged nothing yet.
  LoadElementsOp findShared(Value tile, unsigned i);
  /// Two elements at once where there is an instruction for it.
  bool evaluatePair(Operation *op, Value tile, unsigned i);
  Value invert(Value x);

  Emitter &e;
  Fragments &fragments;
  DenseMap<std::pair<Value, unsigned>, Value> known;
  DenseMap<std::pair<Value, unsigned>, LoadElementsOp> shared;
  DenseMap<Value, Value> inverses;
};

/// Loads these elements as `op` does, with values that `at` gives in place of its operands: those
/// that four threads may share first, the others in one op.
SmallVector<LoadElementsOp> loadInQuads(Emitter &e, LoadElementsOp op, ArrayRef<int32_t> which,
                                        function_ref<Value(Value)> at);
/// The elements of a load with `quads`.
SmallVector<Value> exchange(Emitter &e, LoadElementsOp load);

/// The element of the source that each element of a spread fragment is.
SmallVector<unsigned> getSources(SpreadOp op);
inline RankedTensorType getTile(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_ELEMENTEVALUATOR_H
