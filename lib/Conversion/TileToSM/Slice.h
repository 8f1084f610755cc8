//===- Slice.h - The part of a role that a partition needs -----*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_SLICE_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_SLICE_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>

namespace mlir::mk_sm {

/// Ops and values of a role from which others are computed, with the control
/// flow (scf.for, scf.while, scf.if) around them.
class Slice {
public:
  /// The operands that a partition's version of an op needs; a failure, which
  /// has been reported, if the partition cannot have it.
  using Operands = std::function<FailureOr<SmallVector<Value>>(Operation *)>;

  Slice(Operation *role, Operands operandsOf) : role(role), operandsOf(std::move(operandsOf)) {}

  /// Adds an op and all that it needs.
  LogicalResult add(Operation *op);

  bool contains(Operation *op) const { return ops.contains(op); }
  /// For values that control flow carries or returns: whether to keep them.
  bool contains(Value value) const { return values.contains(value); }

private:
  LogicalResult add(Value value);
  LogicalResult addAll(ValueRange values);
  LogicalResult addControl(Operation *op);
  LogicalResult addArgument(BlockArgument arg);
  LogicalResult addResult(OpResult result);

  Operation *role;
  Operands operandsOf;
  llvm::DenseSet<Operation *> ops;
  llvm::DenseSet<Value> values;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_SLICE_H
