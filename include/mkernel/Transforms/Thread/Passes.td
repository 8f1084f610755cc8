//===- Passes.td - Transformations at the thread level ------*- tablegen -*-===//
#ifndef MKERNEL_TRANSFORMS_THREAD_PASSES
#define MKERNEL_TRANSFORMS_THREAD_PASSES

include "mlir/Pass/PassBase.td"

def PromoteVariablesPass : Pass<"mk-thread-promote-variables", "::mlir::ModuleOp"> {
  let summary = "Turns variables of a thread into values that loops and branches carry";
  let description = [{
    A variable is an `llvm.alloca` of one scalar that is only loaded and stored whole: the stage
    and the parity of a use of a ring, a flag. Loads become the value stored last. A loop carries the
    variables that its body stores; a loop or a branch gives those that are loaded behind it.
    Variables with other uses stay.

    Stages and parities are SSA values from here on: a reader sees where they come from.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::mk_thread::MkThreadDialect"];
}

#endif // MKERNEL_TRANSFORMS_THREAD_PASSES
