//===- Passes.td - Verification of whole kernels ------------*- tablegen -*-===//
#ifndef MKERNEL_VERIFY_PASSES
#define MKERNEL_VERIFY_PASSES

include "mlir/Pass/PassBase.td"

def VerifyProgressPass : Pass<"mk-verify-progress", "::mlir::ModuleOp"> {
  let summary = "Refuses kernels whose waits are not released, or whose accesses race";
  let description = [{
    Evaluates the index arithmetic of every CTA of every rank and carries out its signals,
    waits, counters and queues. Refused are: a wait that never returns (nobody raises
    the signal often enough, or a circle of waits), an element that gets another number of
    arrivals than its type says, an index outside of an array, a store or a put that cannot
    cross the `net` axis between two ranks, and two accesses that
    docs/memory-model.md does not order. Nothing else is: what holds for one order of
    CTAs and arrivals that is possible is what is reported.

    Sizes of axes and dimensions must be bound for that: axes in the mesh, dimensions by
    `sizes` and `rank-sizes`. What depends on data or on a size that is not bound,
    or is too large, is not decided. Then it is only checked that each signal that is
    waited for is raised somewhere, and that no load follows a store to the same place
    in a block with nothing to order them. `report` says what was decided, and if not, why; each
    access of which it is not known what it touches is a note.

    Runs at the tile level, calls inlined, parameters resolved and CTAs assigned. Changes nothing.
  }];
  let options = [
    ListOption<"sizes", "sizes", "std::string", "name=value for dimensions">,
    ListOption<"rankSizes", "rank-sizes", "std::string",
               "name=value:value:... for dimensions that each rank has its own of">,
    Option<"maxEvents", "max-events", "uint64_t", "100000",
           "larger kernels are not searched for races; 10 times as many: not decided">,
    Option<"report", "report", "bool", "false", "remark on what was decided">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mk_sm::MkSMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // MKERNEL_VERIFY_PASSES
