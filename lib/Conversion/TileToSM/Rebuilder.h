//===- Rebuilder.h - A slice of a role as code of its own ------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOSM_REBUILDER_H
#define MKERNEL_LIB_CONVERSION_TILETOSM_REBUILDER_H

#include "RolePlan.h"
#include "Slice.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk_sm {

/// The rings and mailboxes of a role.
struct Channels {
  SmallVector<Value> rings;                 // as RolePlan::rings
  llvm::DenseMap<int64_t, Value> mailboxes; // by words; of one for RolePlan::sent, too
};

/// Copies control flow with those values that the slice keeps; partitions say what becomes of ops.
class Rebuilder {
public:
  Rebuilder(RolePlan &plan, const Channels &channels, const Slice &slice, OpBuilder &b)
      : plan(plan), channels(channels), slice(slice), b(b) {}
  virtual ~Rebuilder() = default;

  /// Copies the ops of a block, but not its terminator, to the insertion point.
  LogicalResult rebuild(Block &block);

protected:
  virtual LogicalResult rebuildLeaf(Operation *op) = 0;
  /// Called for each op of each block, whether the slice has it or not.
  virtual void enter(Operation *op) {}
  virtual void leave(Operation *op) {}
  /// The type of the copy of a value that control flow returns.
  virtual Type getType(Value value) { return value.getType(); }
  /// The copy of `value`, in the form that the copy of `like` has.
  virtual Value get(Value value, Value like) { return mapping.lookupOrDefault(value); }
  Value get(Value value) { return mapping.lookupOrDefault(value); }
  SmallVector<Value> getAll(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return get(value); });
  }
  /// Copies an op as it is.
  Operation *copy(Operation *op) { return b.clone(*op, mapping); }

  RolePlan &plan;
  const Channels &channels;
  const Slice &slice;
  OpBuilder &b;
  IRMapping mapping;

private:
  LogicalResult rebuild(ItemsOp loop);
  LogicalResult rebuild(scf::ForOp loop);
  LogicalResult rebuild(scf::WhileOp loop);
  LogicalResult rebuild(scf::IfOp branch);
};

/// Both return failure after an error has been reported.
LogicalResult buildProducer(RolePlan &plan, const Channels &channels, const Slice &slice,
                            OpBuilder &b);
LogicalResult buildConsumer(RolePlan &plan, const Channels &channels, const Slice &slice,
                            OpBuilder &b);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_CONVERSION_TILETOSM_REBUILDER_H
