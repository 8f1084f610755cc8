//===- Lowerings.h - How each op of the SM level is lowered ------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGS_H

#include "PartitionBuilder.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::mk::sm {

/// One function a kind of op. It emits the op's code in the scope, and says what stands for its
/// results.
class LoweringTable {
public:
  LoweringTable();
  LogicalResult lower(Operation *op, PartitionBuilder &p) const;

  /// Each is a function of the op and the scope, and gives nothing if it never fails.
  template <typename... Lower> void add(Lower... lower) { (addOne(lower), ...); }

private:
  template <typename Lower> void addOne(Lower lower) {
    using OpT = typename llvm::function_traits<Lower>::template arg_t<0>;
    lowerings[TypeID::get<OpT>()] = [lower](Operation *op, PartitionBuilder &p) -> LogicalResult {
      if constexpr (std::is_void_v<std::invoke_result_t<Lower, OpT, PartitionBuilder &>>)
        return lower(cast<OpT>(op), p), success();
      else
        return lower(cast<OpT>(op), p);
    };
  }
  DenseMap<TypeID, std::function<LogicalResult(Operation *, PartitionBuilder &)>> lowerings;
};

void populateAccessLowerings(LoweringTable &table);
void populateChannelLowerings(LoweringTable &table);
void populateControlFlowLowerings(LoweringTable &table);
void populateCopyLowerings(LoweringTable &table);
void populateExchangeLowerings(LoweringTable &table);
void populateFragmentLowerings(LoweringTable &table);
void populateItemLowerings(LoweringTable &table);
void populateMatrixLowerings(LoweringTable &table);
void populatePutLowerings(LoweringTable &table);
void populateScalarLowerings(LoweringTable &table);
void populateSignalLowerings(LoweringTable &table);
void populateStoreLowerings(LoweringTable &table);

/// Ops of arith and math, on scalars and on fragments.
LogicalResult lowerElementwise(Operation *op, PartitionBuilder &p);
/// Says that there is no code for an elementwise op.
LogicalResult refuse(Operation *op);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGS_H
