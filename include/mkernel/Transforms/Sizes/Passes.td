//===- Passes.td - Sizes that are impossible ----------------*- tablegen -*-===//
#ifndef MKERNEL_TRANSFORMS_SIZES_PASSES
#define MKERNEL_TRANSFORMS_SIZES_PASSES

include "mlir/Pass/PassBase.td"

def VerifySizesPass : Pass<"mk-verify-sizes", "::mlir::ModuleOp"> {
  let summary = "Refuses sizes that no launch can have";
  let description = [{
    Conditions of `mk.require` that are known not to hold, arguments that are known to have more
    than 2^46 elements, extents of arguments, signals, counters and queues that are known to be
    negative, coordinates outside of their axis, and sizes that do not fit in 64 bits:
    sums, differences and products of indices that every launch computes and that are known
    (from bound dimensions, axes and parameters), and the items of loops. What is not known
    yet is tested by `mk_plan` before a launch.

    Runs behind `mk-bind` and before anything folds: folders keep what is left of a number
    that wraps.
  }];
}

def LowerAssertsPass : Pass<"mk-lower-asserts", "::mlir::ModuleOp"> {
  let summary = "Turns assertions into faults of a function's status";
  let description = [{
    A function that returns a status (an i64, 0 if all is well) returns a fault
    (mkernel/ABI/Package.h) where a `cf.assert` does not hold: what stands behind it is
    not executed. Which fault follows from the message's beginning: `bounds` (or
    upstream's runtime verification), `memory`, else that an assertion does not hold.
    Behind structured control flow.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect"];
}

#endif // MKERNEL_TRANSFORMS_SIZES_PASSES
