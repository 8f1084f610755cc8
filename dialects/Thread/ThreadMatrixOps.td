//===- ThreadMatrixOps.td - The tensor cores ----------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_MATRIX_OPS
#define MKERNEL_THREAD_MATRIX_OPS

include "ThreadBase.td"

/// Added to a descriptor: units of 16 bytes, as many as its address has.
def MkThread_Step : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<16383>]>;

def MkThread_ProductOp : MkThread_CompositeOp<"product", [AttrSizedOperandSegments]> {
  let summary = "starts a product of a warpgroup's rows, as one group";
  let description = [{
    So many rows x columns, contracted over `depth` elements of one of the types of `wgmma`; an instruction has `width`
    columns. Operands are staged tiles in chunks of 128 bytes, which have so many rows: the left one from this warpgroup's
    first row on, or in registers, 4 words for each instruction, and no rows. Rows of a tile lie along the
    contraction, of one that is `transposed` columns do. Of the thread's part of the accumulator, rows x columns /
    128 values of f32, the results are in flight. With `accumulate` it counts as 0 where that is false; without an
    accumulator it is 0.

    ```mlir
    %s:4 = mk_thread.product 64 x 8 x 16 width 8 "bf16" * "bf16" left(%w0 of 128) right(%w1 of 8)
        acc(%x, %y, %low, %high) accumulate(%yes) -> f32, f32, f32, f32
    %t:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w0, %w1, %w2, %w3 of 0)
        right(%w4 of 64) transposed -> f32, f32, f32, f32
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$rows, ConfinedAttr<I64Attr, [IntPositive]>:$columns,
                       ConfinedAttr<I64Attr, [IntPositive]>:$depth, ConfinedAttr<I64Attr, [IntPositive]>:$width,
                       StrAttr:$left_type, StrAttr:$right_type, Variadic<I32>:$left,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$left_rows, MkThread_Shared:$right,
                       ConfinedAttr<I64Attr, [IntPositive]>:$right_rows, Variadic<F32>:$acc,
                       Optional<I1>:$accumulate, UnitAttr:$transpose_left, UnitAttr:$transpose_right);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $rows `x` $columns `x` $depth `width` $width $left_type `*` $right_type
    `left` `(` $left `of` $left_rows `)` (`transposed` $transpose_left^)?
    `right` `(` $right `of` $right_rows `)` (`transposed` $transpose_right^)?
    (`acc` `(` $acc^ `)`)? (`accumulate` `(` $accumulate^ `)`)? attr-dict `->` type($results)
  }];
  let hasVerifier = 1;
}
def MkThread_WgmmaOp : MkThread_EffectOp<"wgmma", [AttrSizedOperandSegments]> {
  let summary = "starts one product of a warpgroup: 64 rows, n columns, k steps";
  let description = [{
    Of the thread's part of the accumulator, n / 2 values of f32, the results are in flight. The
    left operand is a descriptor, or 4 registers; the right one is a descriptor. `left_offset` and
    `right_offset` are added to descriptors here, in units of 16 bytes: LLVM would compute
    all descriptors of a loop before it, and keep each in two registers. Types of operands are
    bf16, f16, tf32, e4m3 or e5m2; a step is 32 bytes of each row. With `accumulate` the
    accumulator counts as 0 where that is false; without an accumulator it is 0.

    ```mlir
    %s:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%a : i64) + 2 right(%b) + 2
        acc(%x, %y, %low, %high : f32, f32, f32, f32) -> f32, f32, f32, f32
    %t:4 = mk_thread.wgmma n(8) k(16) "f16" * "f16" left(%w0, %w1, %w2, %w3 : i32, i32, i32, i32) + 0
        right(%b) + 0 transposed -> f32, f32, f32, f32
    ```
  }];
  let arguments = (ins I64Attr:$n, I64Attr:$k, StrAttr:$left_type, StrAttr:$right_type,
                       Variadic<AnyTypeOf<[I32, I64]>>:$left, MkThread_Step:$left_offset,
                       I64:$right, MkThread_Step:$right_offset, Variadic<F32>:$acc,
                       Optional<I1>:$accumulate, UnitAttr:$transpose_left,
                       UnitAttr:$transpose_right);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    `n` `(` $n `)` `k` `(` $k `)` $left_type `*` $right_type
    `left` `(` $left `:` type($left) `)` `+` $left_offset (`transposed` $transpose_left^)?
    `right` `(` $right `)` `+` $right_offset (`transposed` $transpose_right^)?
    (`acc` `(` $acc^ `:` type($acc) `)`)? (`accumulate` `(` $accumulate^ `)`)?
    attr-dict `->` type($results)
  }];
  let hasVerifier = 1;
}
def MkThread_WgmmaFenceOp : MkThread_EffectOp<"wgmma_fence", [AllTypesMatch<["values", "results"]>]> {
  let summary = "orders accesses to these registers before products that use them";
  let description = [{
    ```mlir
    %c, %d = mk_thread.wgmma_fence %x, %y : f32, f32
    mk_thread.wgmma_fence none
    ```
  }];
  let arguments = (ins Variadic<MkThread_Word>:$values);
  let results = (outs Variadic<MkThread_Word>:$results);
  let assemblyFormat = "($values^ `:` type($values)) : (`none`)? attr-dict";
}
def MkThread_WgmmaCommitOp : MkThread_EffectOp<"wgmma_commit"> {
  let summary = "the products started since the last one are a group";
  let description = [{
    ```mlir
    mk_thread.wgmma_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_WgmmaWaitOp : MkThread_EffectOp<"wgmma_wait", [AllTypesMatch<["values", "results"]>]> {
  let summary = "waits until at most so many groups are in flight";
  let description = [{
    The values that pass through are complete behind it.

    ```mlir
    %c, %d = mk_thread.wgmma_wait 0, %x, %y : f32, f32
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$pending,
                       Variadic<MkThread_Word>:$values);
  let results = (outs Variadic<MkThread_Word>:$results);
  let assemblyFormat = "$pending (`,` $values^ `:` type($values))? attr-dict";
}
def MkThread_StMatrixOp : MkThread_EffectOp<"stmatrix"> {
  let summary = "stores four 8 x 8 matrices of 16-bit elements that the warp holds";
  let description = [{
    Lane l gives the address of row l % 8 of matrix l / 8; of column l % 8 with `transpose`.

    ```mlir
    mk_thread.stmatrix %row, %w0, %w1, %w2, %w3
    mk_thread.stmatrix %column, %w0, %w1, %w2, %w3 transpose
    ```
  }];
  let arguments = (ins MkThread_Shared:$address, I32:$w0, I32:$w1, I32:$w2, I32:$w3,
                       UnitAttr:$transpose);
  let assemblyFormat = "$address `,` $w0 `,` $w1 `,` $w2 `,` $w3 (`transpose` $transpose^)? attr-dict";
}
def MkThread_PinOp : MkThread_EffectOp<"pin", [AllTypesMatch<["values", "results"]>]> {
  let summary = "these values are computed here: LLVM moves nothing of them further down";
  let description = [{
    ```mlir
    %c, %d = mk_thread.pin %x, %y : f32, f32
    ```
  }];
  let arguments = (ins Variadic<MkThread_Word>:$values);
  let results = (outs Variadic<MkThread_Word>:$results);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic that LLVM has no instruction for
//===----------------------------------------------------------------------===//

def MkThread_DivergentZeroOp : MkThread_Op<"divergent_zero", [Pure]> {
  let summary = "0, of which ptxas does not know that all threads have it";
  let description = [{
    An address with it is the thread's own, and what is loaded from there stays in the thread's
    registers. Else ptxas moves a value that all threads load to a uniform register, and waits
    for memory to do so.

    ```mlir
    %zero = mk_thread.divergent_zero %thread
    ```
  }];
  let arguments = (ins I32:$thread);
  let results = (outs I32:$result);
  let assemblyFormat = "$thread attr-dict";
}

def MkThread_ApproximateOp : MkThread_Op<"approximate", [Pure]> {
  let summary = "1 / x, sin x or cos x as the hardware approximates it";
  let description = [{
    ```mlir
    %y = mk_thread.approximate rcp %x
    ```
  }];
  let arguments = (ins MkThread_Approximation:$function, F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$function $x attr-dict";
}
def MkThread_ToFp8Op : MkThread_Op<"to_fp8", [Pure]> {
  let summary = "rounds two f32 to fp8, the first one into the lower byte";
  let description = [{
    ```mlir
    %bits = mk_thread.to_fp8 f8E4M3FN %low, %high
    ```
  }];
  let arguments = (ins TypeAttr:$type, F32:$low, F32:$high);
  let results = (outs I16:$result);
  let assemblyFormat = "$type $low `,` $high attr-dict";
  let hasVerifier = 1;
}
def MkThread_FromFp8Op : MkThread_Op<"from_fp8", [Pure]> {
  let summary = "two fp8 as f16, the lower byte in the lower half";
  let description = [{
    ```mlir
    %halves = mk_thread.from_fp8 f8E4M3FN %bits
    ```
  }];
  let arguments = (ins TypeAttr:$type, I16:$bits);
  let results = (outs I32:$result);
  let assemblyFormat = "$type $bits attr-dict";
  let hasVerifier = 1;
}
def MkThread_MaskedOrOp : MkThread_Op<"masked_or", [Pure]> {
  let summary = "bits of a word where a mask has them, and further bits";
  let description = [{
    `(x & mask) | bits`, in one instruction.

    ```mlir
    %w = mk_thread.masked_or %thread, mask 983055 bits 1124090624
    ```
  }];
  let arguments = (ins I32:$x, I32Attr:$mask, I32Attr:$bits);
  let results = (outs I32:$result);
  let assemblyFormat = "$x `,` `mask` $mask `bits` $bits attr-dict";
}
def MkThread_DivideOp : MkThread_EffectOp<"divide"> {
  let summary = "quotient of unsigned integers that are the same in all lanes, by whole warps";
  let description = [{
    In one 32-bit division where both fit, else bit by bit, in few registers.

    ```mlir
    %q = mk_thread.divide %n, %m
    ```
  }];
  let arguments = (ins I64:$x, I64:$y);
  let results = (outs I64:$result);
  let assemblyFormat = "$x `,` $y attr-dict";
}

#endif // MKERNEL_THREAD_MATRIX_OPS
