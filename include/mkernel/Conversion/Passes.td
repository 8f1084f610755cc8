//===- Passes.td - Conversions ------------------------------*- tablegen -*-===//
#ifndef MKERNEL_CONVERSION_PASSES
#define MKERNEL_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def BuildPlanPass : Pass<"mk-build-plan", "::mlir::ModuleOp"> {
  let summary = "Builds the function that says what a launch needs";
  let description = [{
    `mk_plan` (see mkernel/ABI/Package.h) computes shapes of arguments and extents of
    signals, counters and queues from dimensions and coordinates, and whether requirements
    hold; packages of all targets have it. Mesh axes must be bound, ranks expanded
    (`mk-expand-ranks`), calls inlined, loops still those of the tile level.
  }];
  let options = [
    Option<"only", "only", "bool", "false", "drop everything else in the module">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def ConvertTileToHostPass : Pass<"convert-mk-to-host", "::mlir::ModuleOp"> {
  let summary = "Turns a kernel into one function a role for the host target";
  let description = [{
    The kernel is replaced by functions that the runtime calls (see
    mkernel/ABI/Package.h): `mk_prepare` and one `mk_role_<i>` each. Tile ops become `linalg`
    on tensors, communication becomes calls of mkernel/ABI/HostCalls.h. Loops must be expanded
    (`mk-expand-loops`, `mk-expand-folds`) and ranks, too. Other functions of the file are
    dropped: helpers are inlined by then and the reference is lowered by `mk-lower-reference`.
    Where ops are checked the string `mk_sites` lists them, as JSON.
  }];
  let options = [
    Option<"record", "record", "bool", "false",
           "code says which lines and accesses it executes, for the race check">,
    Option<"lines", "lines", "bool", "false",
           "code says which lines it executes">,
    Option<"bounds", "bounds", "bool", "true",
           "code checks when it runs that what ops name exists, and lists its sites">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def VerifyTilesPass : Pass<"mk-sm-verify-tiles", "::mlir::ModuleOp"> {
  let summary = "Refuses tiles of more bytes than an SM has registers for, and ways that puts may not go";
  let description = [{
    Shared memory has fewer. Registers are counted exactly where tiles have layouts; this
    comes before, since until then a value is made for each element of a thread's part.

    A put with `via` has to go that way on every rank, since there is code for nothing else.
    Remarks name puts that are large, since one warp does a put.
  }];
}

def SplitRolesPass : Pass<"mk-sm-split-roles", "::mlir::ModuleOp"> {
  let summary = "Splits a role into a partition that loads and one that computes";
  let description = [{
    Tiles that `mk.dot` multiplies are *staged*: the producer, one warp, copies them
    into rings, ahead of the consumer, whose warpgroups hold all other tiles as
    fragments. Loads of one block whose tiles meet in a dot share the slots of a
    ring. Loads marked `staged` (`mk-sm-stage-loads`) come through such a ring as well,
    where it has room, and threads read them out of its slots. Each partition gets a copy of the role's control flow and of the scalars
    that it needs. Tickets and records of queues are drawn by the producer and sent to
    the consumer; waits are copied to each partition that needs them.
    Everything else stays in the consumer. Accumulators have layout `#mk_sm.mma`; it
    spreads over elementwise ops, reductions, broadcasts and loops; tiles that
    meet no dot are `#mk_sm.blocked`.

    A role that stages nothing has no producer: its consumer draws the items itself. What has no place in
    this scheme is an error: operands of dots that are computed in registers
    but must lie in shared memory, accumulators that do not fit the registers, addresses
    of staged tiles that depend on other tiles.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mk_sm::MkSMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SizeRingsPass : Pass<"mk-sm-size-rings", "::mlir::ModuleOp"> {
  let summary = "Chooses how many slots each ring has";
  let description = [{
    Rings of unknown depth share the shared memory that is left by the staging areas,
    mailboxes and barriers of their role. Rings that are filled in innermost loops get at least
    2 slots and all the same number, as many as fit and the target's `ring_depth` allows; others
    get 1, or 2 once the inner ones have `busy_slots`. Where two slots do not fit, one is enough if
    each iteration fills each ring once, and gives all slots back before the next; else that is an error.

    An only ring of an inner loop with `busy_slots` slots gets one more for the second buffers of
    staging areas, unless its loop is known to be short (`short_folds`). What rings leave becomes
    further buffers for stores, up to one for each part of a tile.
  }];
  let dependentDialects = ["::mlir::mk_sm::MkSMDialect"];
}

def ConvertSMToThreadPass : Pass<"convert-mk-sm-to-thread", "::mlir::ModuleOp"> {
  let summary = "Turns a kernel at the SM level into code of one thread";
  let description = [{
    The kernel is replaced by `mk_thread.kernel @mk_kernel`, whose control flow is `scf` and
    whose integers are `arith`, and by the string `mk_gpu`, the `gpu` part of the package's metadata
    as JSON (see mkernel/ABI/Gpu.h). Index values become i64; a fragment stays one value, until
    `mk-thread-unroll-fragments`. Other functions of the module are dropped. docs/sm90.md says how the code works, and what variants are.

    Shared memory has been laid out (`mk-sm-lay-out-shared`): code records when it does what, and
    copies by threads, where there is room for that.
  }];
  let options = [
    Option<"bounds", "bounds", "bool", "true",
           "code checks when it runs that what ops name exists, and lists its sites">,
    Option<"loops", "loops", "int64_t", "0",
           "loops that the metadata lists; at least those that draw tickets">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::mk_thread::MkThreadDialect", "::mlir::scf::SCFDialect"
  ];
}

def ConvertThreadToLLVMPass : Pass<"convert-mk-thread-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turns ops of the thread level into instructions";
  let description = [{
    A kernel becomes a function in the LLVM dialect, whose control flow is `scf` and whose integers
    are `arith` still; each op of `mk_thread` becomes an instruction (an op of NVVM, or inline PTX),
    or a call of a function that the module gets (lib/Target/SM90/ThreadToLLVM/Blocks.h).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def ConvertScalarsToLLVMPass : Pass<"convert-mk-scalars-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turns scalar arithmetic and branches into LLVM's, op by op";
  let description = [{
    Below the thread level types are LLVM's already: nearly each op of `arith` and `cf` has an
    op that takes the same operands. These are replaced in one walk, which takes a tenth of the time
    of upstream's conversions: a kernel is tens of thousands of such ops. The few that are several ops
    of LLVM (smallest, largest, division that rounds up or down) are expanded first, as arith-expand
    does it. What needs more than that (vectors, types that LLVM does not have, rounding modes, weights
    of branches) is left to convert-mk-rest-to-llvm.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertRestToLLVMPass : Pass<"convert-mk-rest-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turns arithmetic and branches that are left into LLVM's";
  let description = [{
    By upstream's conversions of `arith` and `cf`, which are given the ops of these dialects alone. The
    passes that upstream has for them look at each op of the kernel, twice.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // MKERNEL_CONVERSION_PASSES
