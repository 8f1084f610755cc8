//===- Passes.td - Transformations --------------------------*- tablegen -*-===//
#ifndef MKERNEL_TRANSFORMS_PASSES
#define MKERNEL_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def BindPass : Pass<"mk-bind", "::mlir::ModuleOp"> {
  let summary = "Fixes sizes of mesh axes, uniform dimensions and parameters";
  let description = [{
    `sizes` lists `name=value` for axes and uniform dimensions, `set` for
    parameters (`mk.param`). Axes get their size in `mk.mesh`; dimensions
    become constants, parameters get the number as their default (`mk-resolve-params`
    replaces them). A name that nothing in the module has, a size below one for an
    axis and a negative dimension are errors.
  }];
  let options = [
    ListOption<"sizes", "sizes", "std::string", "name=value for axes and dimensions">,
    ListOption<"params", "set", "std::string", "name=value for parameters">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DropGuessesPass : Pass<"mk-drop-guesses", "::mlir::ModuleOp"> {
  let summary = "Puts values in place of mk.likely, and leaves out what only guesses follow from";
  let description = [{
    The cost model counts with guesses before parameters have numbers. Nothing behind this pass meets one.
  }];
}

def ResolveParamsPass : Pass<"mk-resolve-params", "::mlir::ModuleOp"> {
  let summary = "Puts numbers for parameters, in types and attributes too";
  let description = [{
    Each parameter becomes a constant (as far as its default is one), and so do extents of
    tiles (`#mk.extents`), schedules, orders and CTAs of roles that name it. Functions that
    a fold combines by are rewritten with the kernel. What names no parameter of the kernel,
    or one without a constant value, is an error.

    Runs behind `mk-bind` and `mk-inline-calls`; nothing behind it meets a parameter.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def WidenReductionsPass : Pass<"mk-widen-reductions", "::mlir::ModuleOp"> {
  let summary = "Adds up 16-bit floats in f32";
  let description = [{
    `mk.reduce add` (and `mul`) of bf16 or f16 becomes one of f32 whose result is rounded: each addition in 16 bits
    would round, and small terms would be lost behind a large sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TransposeDotsPass : Pass<"mk-transpose-dots", "::mlir::ModuleOp"> {
  let summary = "Computes products transposed whose rows no instruction takes";
  let description = [{
    A matrix unit takes a number of rows at a time (64), and any number of columns in small steps. Where a tile's
    rows do not fill that, but its columns do, as those of a few tokens times many features, `B^T * A^T`
    is computed: 16 rows take a quarter of the work, of the shared memory and of the registers that 64 would, and
    144 rows fit sizes that 128 and 192 do not.
    What a fold makes of the product, and what it and the loops around it carry, is transposed with it; behind these
    stands `mk.transpose`, which moves nothing.

    A product stays as it is if an operand is not loaded, or if what it is added to is neither the same everywhere
    nor carried by loops that begin so, yield the product and combine by no function: a fold, and `mk.fold` or
    `scf.for` around it.

    ```mlir
    %acc = mk.fold (%kt) in (%n) iter(%sum = %zero) combine(add) : tensor<16x64xf32> {
      %next = mk.dot %x, %y, %sum transpose_b : tensor<16x128xbf16>, tensor<64x128xbf16>, tensor<16x64xf32>
      mk.yield %next : tensor<16x64xf32>
    }
    // becomes
    %t = mk.fold (%kt) in (%n) iter(%sum = %zero) combine(add) : tensor<64x16xf32> {
      %next = mk.dot %y, %x, %sum transpose_b : tensor<64x128xbf16>, tensor<16x128xbf16>, tensor<64x16xf32>
      mk.yield %next : tensor<64x16xf32>
    }
    %acc = mk.transpose %t : tensor<64x16xf32> -> tensor<16x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def AssignCtasPass : Pass<"mk-assign-ctas", "::mlir::ModuleOp"> {
  let summary = "Divides the CTAs of the grid among the roles";
  let description = [{
    Each role gets a number: fixed ones stay, shares are rounded down but at least their minimum, and
    what is left goes evenly to the roles that take the rest, earlier ones first. All that depends on
    these numbers comes behind; the grid is their sum.
  }];
  let options = [Option<"grid", "grid", "int64_t", "16", "CTAs of the grid">];
}

def DropIdleRolesPass : Pass<"mk-drop-idle-roles", "::mlir::ModuleOp"> {
  let summary = "Leaves out roles that do nothing on this mesh";
  let description = [{
    A role `beside` another one, or of copy engines, of which conditions that are known and loops over no peers let
    nothing happen. What a target keeps ready for such roles (warps, registers, a hand-shake) is not spent then.

    Sizes and parameters have been bound as far as they are known, and roles have their CTAs.
  }];
}

def ExpandStreamKPass : Pass<"mk-expand-stream-k", "::mlir::ModuleOp"> {
  let summary = "Splits the last items of stream-K loops among the CTAs";
  let description = [{
    A loop with `schedule(stream_k, tail = t)` becomes a static loop over the items of whole
    waves, without the last t - 1 of them, and one over even parts of what is left; all of it
    ordinary ops. What parts add up to is said by the `combine` of the fold inside; parts that
    end before their item does are passed through a scratch argument that the kernel gets,
    a place for each CTA, and added in order. Nothing is split where the items fill
    their waves.

    Where there are CTAs for two parts of each item or more, each item is cut alike. If what stands behind its fold works
    on each row by itself, all CTAs that have a part of an item store it, wait for one another, and add up and finish a slice of rows each;
    else the CTA with the last part does so alone, and a remark says why.

    The fold's count must not depend on the item. Parameters have been resolved and calls
    inlined; a combine function is called, so inlining runs again behind it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DivideItemsPass : Pass<"mk-divide-items", "::mlir::ModuleOp"> {
  let summary = "Has CTAs of a cluster do an item together";
  let description = [{
    Of `mk_sm.items ... parts(p)` each item becomes p, of which CTAs side by side do one each: the steps of the item's
    fold are cut into p even parts, in order. Behind the fold `mk_sm.swap_parts` gives each CTA some columns of
    all parts, which it combines in their order and finishes. A vector with an element for each row, as a sum of it, each CTA gets
    whole. No memory but that of the CTAs is used, and the result is the same each time.

    The CTAs of the role are whole clusters, and what stands behind the fold works on each column by itself.

    Runs between the expansion of loops and that of folds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mk_sm::MkSMDialect", "::mlir::tensor::TensorDialect"];
}

def InlineCallsPass : Pass<"mk-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inlines every function that a kernel calls";
  let description = [{
    Helper functions of a file exist for its author; a kernel is lowered without
    calls. Recursion and functions without a body are errors that name the call.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def MarkInnerStoresPass : Pass<"mk-mark-inner-stores", "::mlir::ModuleOp"> {
  let summary = "Marks stores whose leading indices exist";
  let description = [{
    A store to a buffer of this rank whose indices in front of the tile's dimensions are known to lie in the buffer gets
    `inside`: they are constants, indices of loops that end there, coordinates, or what remainders, quotients and minima
    leave of these. On GPUs the others are checked.

    ```mlir
    mk.foreach (%l, %i) in (%L, %tiles) {
      mk.store %t, %c[%l, %row, %c0] inside : tensor<64x64xf32>, memref<?x?x?xf32>
    }
    ```
  }];
}

def MarkOwnReadsPass : Pass<"mk-mark-own-reads", "::mlir::ModuleOp"> {
  let summary = "Marks loads of what no other item of the launch writes";
  let description = [{
    A load of an argument that the kernel writes gets `own` where only stores of the same item write the argument, of just this tile,
    behind the load, and tiles of two items have no element in common: each index of the `mk.foreach` moves
    the tile by its extent or more, in a dimension of its own. Later passes may load the tile of the next item before this one has been stored.

    ```mlir
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) {
      %x = mk.load %a[%row, %column] own : memref<?x?xf32> -> tensor<64x64xf32>
      ...
      mk.store %y, %a[%row, %column] : tensor<64x64xf32>, memref<?x?xf32>
    }
    ```
  }];
}

def MarkSingleReadsPass : Pass<"mk-mark-single-reads", "::mlir::ModuleOp"> {
  let summary = "Marks loads of what is read once in a launch";
  let description = [{
    A load of an input gets `once` where no other op takes the input, and each loop around the load that has more than one
    iteration moves the tile on: its index is an offset, alone or with factors and other terms. As the weights of a product
    whose rows are one tile:

    ```mlir
    mk.foreach (%m, %n) in (%one, %column_tiles) {
      %y = mk.load %b[%column, %k] once : memref<?x?xbf16> -> tensor<256x64xbf16>
    }
    ```
  }];
}

def MarkUnseenPass : Pass<"mk-mark-unseen", "::mlir::ModuleOp"> {
  let summary = "Marks tiles of dots whose elements behind the buffer's end nobody sees";
  let description = [{
    Where a tile reaches behind the end of an argument the copy engine writes zeros, which takes longer than to copy
    as much. Dimensions in which these only reach rows or columns of a product that no store keeps are `unseen`: stores
    begin at the same offset in a dimension that is as long, or shorter. Boxes that lie behind the end are then left out, and
    the slot keeps what it had.

    ```mlir
    %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    // becomes
    %x = mk.load %a[%row, %k] unseen [0] : memref<?x?xbf16> -> tensor<128x64xbf16>
    ```
  }];
}

def ExpandRanksPass : Pass<"mk-expand-ranks", "::mlir::ModuleOp"> {
  let summary = "Turns ranks, coordinates and sizes of the mesh into arithmetic";
  let description = [{
    Axes must be bound. What is left are the own linear rank (`mk.rank`) and the
    own coordinates (`mk.coord`), and these only along axes of more than one rank.
    With `checked`, a rank by coordinates is -1 if one of them lies outside of its axis.
  }];
  let options = [Option<"checked", "checked", "bool", "false",
                        "coordinates outside of their axis make rank -1, which is none">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandLoopsPass : Pass<"mk-expand-loops", "::mlir::ModuleOp"> {
  let summary = "Turns the loops of roles into loops over the items of a CTA";
  let description = [{
    The one place where items are divided among CTAs and put in order, for every target and
    for the verifier of progress. A loop in static order becomes `mk_sm.items`; one with tickets
    is an `scf.while` that draws them (`mk_sm.ticket`), a loop over a queue also pops its records
    (`mk_sm.pop`). With `static-first` the loop with which the CTAs of a role begin, behind nothing but
    scalars, has its first items dealt out: CTA i begins with item i, and tickets are for the items
    behind those. CTAs that come from other roles (`mk_sm.initial_item`) draw from the start. This is
    one of the ways in which tickets might have been drawn. Inner loops and loops over peers become `scf.for`. Folds stay
    (`mk-expand-folds`). Mesh axes must be bound and calls inlined.
  }];
  let options = [
    Option<"items", "items", "bool", "false",
           "say at each item of a numbered loop which it is (mk_sm.at_item)">,
    Option<"staticFirst", "static-first", "bool", "false",
           "the first items of loops with tickets with which a role begins need no ticket">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::mk_sm::MkSMDialect",
                           "::mlir::scf::SCFDialect"];
}

def KeepRolesPass : Pass<"mk-keep-roles", "::mlir::ModuleOp"> {
  let summary = "Empties the roles that are not for a part of a package";
  let description = [{
    A GPU's kernel has no code for roles of copy engines (`ctas(engines)`): the host finds out what they copy. With
    `engines` their bodies stay, and those of all other roles go; without it the other way round. Roles keep their numbers.
  }];
  let options = [Option<"engines", "engines", "bool", "false", "keep roles of copy engines">];
}

def ExpandFoldsPass : Pass<"mk-expand-folds", "::mlir::ModuleOp"> {
  let summary = "Turns folds into scf.for";
  let description = [{
    In order from the first iteration on; what needs to know that parts may be put together in
    any order (`combine`) runs before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def VerifyPhasePass : Pass<"mk-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Checks that a phase has left nothing of the one before";
  let description = [{
    An op whose name or dialect is in `forbid`, or, if `allow` is given, is not in it,
    is an error that names the op. Pipelines run it behind each phase; `phase` is for
    the message.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"this phase\"", "name of the phase">,
    ListOption<"allow", "allow", "std::string", "dialects and ops that may remain">,
    ListOption<"forbid", "forbid", "std::string", "dialects and ops that may not remain">
  ];
}

def MaterializeCarriesPass : Pass<"mk-materialize-carries"> {
  let summary = "Writes what a loop carries into the buffer it carries it in";
  let description = [{
    One-shot bufferisation wants a loop to yield, for each carried tensor, the
    buffer that it got. Yielded tensors that are not computed in place are
    copied into the carried one, through a temporary where the values of
    several carried tensors depend on each other.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
}

def HoistBuffersPass : Pass<"mk-hoist-buffers", "::mlir::func::FuncOp"> {
  let summary = "Turns buffers of static size into stack slots of the function";
  let description = [{
    A tile's buffer lives no longer than an iteration (carried tiles have been
    materialised in place), so each allocation becomes one stack slot at the
    function's entry.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def VectorizeContractionsPass : Pass<"mk-vectorize-contractions", "::mlir::func::FuncOp"> {
  let summary = "Lowers matrix products on buffers to register-blocked vector code";
  let description = [{
    A contraction C[m, n] += A[m, k] * B[k, n] in any layout of its operands becomes a
    loop nest around a block of C held in vector registers: the operands are
    first converted to the accumulator's type in packed order, one column
    panel of B at a time (the scheme of Goto and van de Geijn, "Anatomy of
    high-performance matrix multiplication", 2008, without the cache levels that a
    tile is too small for).
  }];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", "16", "f32 lanes of a vector register">,
    Option<"blockRows", "block-rows", "int64_t", "8", "rows of a register block">,
    Option<"blockVectors", "block-vectors", "int64_t", "2", "vectors in a row of a register block">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect"];
}

def ExpandFp8Pass : Pass<"mk-expand-fp8"> {
  let summary = "Turns conversions from and to fp8 into integer arithmetic";
  let description = [{
    `arith.extf` and `arith.truncf` between f8E4M3FN or f8E5M2 and wider floats, of scalars
    and vectors. Narrowing rounds to the nearest, ties to even, and saturates: what is too
    large, infinity too, becomes the largest number; NaN stays NaN. Other arithmetic in
    fp8 is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CompleteFloatsPass : Pass<"mk-complete-floats"> {
  let summary = "Rewrites ops on floats for which upstream's lowerings have no code, or inexact code";
  let description = [{
    `arith.truncf` of f64 to 16 or 8 bits goes by way of an f32 that is rounded to odd, `math.fma` of
    16 bits by way of f64, each rounded once; `math.expm1` and `math.log1p` keep small numbers exact to a few units in the
    last place, `math.isinf` and `math.isnormal` become comparisons. A rounding mode other than to
    the nearest, ties to even, is an error. Scalars and vectors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SinkTilesPass : Pass<"mk-sink-tiles", "::mlir::ModuleOp"> {
  let summary = "Computes tiles that stand beside the roles in each role that uses them";
  let description = [{
    Threads of a role hold them. Tiles of constants, or whose elements are all one value, stay: they take no registers.
  }];
}

def SaturateConversionsPass : Pass<"mk-saturate-conversions", "::mlir::ModuleOp"> {
  let summary = "Has floats beyond an integer's range become its nearest number, and NaN 0";
  let description = [{
    `arith.fptosi` and `arith.fptoui` of scalars and vectors, which are undefined there. With `hardware` scalars are converted by instructions of
    NVVM that do so.
  }];
  let options = [Option<"hardware", "hardware", "bool", "false", "By instructions of NVVM">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def GuardDivisionsPass : Pass<"mk-guard-divisions", "::mlir::ModuleOp"> {
  let summary = "Reports integer divisions that are not defined";
  let description = [{
    A division by zero, or of the least integer by -1, stops the process on some
    machines and gives anything on others. Where the divisor is not a constant it is tested: a
    function of a CTA calls `mkrt_division`, which does not return; one that returns a
    status (an i64, 0 if all is well) goes on with another divisor and returns -1 - line
    if its own status is 0.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def LowerCopiesPass : Pass<"mk-lower-copies", "::mlir::func::FuncOp"> {
  let summary = "Turns memref.copy into loops";
  let description = [{
    Upstream calls a library function for copies between strided buffers, which
    compiled kernels do not have.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif // MKERNEL_TRANSFORMS_PASSES
