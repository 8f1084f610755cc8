//===- SMMatrixOps.td - Products of the matrix unit --------*- tablegen -*-===//
#ifndef MKERNEL_SM_MATRIX_OPS
#define MKERNEL_SM_MATRIX_OPS

include "SMOpBase.td"

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

def MkSM_MmaFenceOp : MkSM_EffectOp<"mma_fence", [MkSM_InConsumer, InferTypeOpAdaptor]> {
  let summary = "orders accesses to registers before matrix ops";
  let description = [{
    Fragments that matrix ops are about to use, and that other ops have written, pass
    through it. Without operands it fences only (accumulators in flight must not be
    touched).

    ```mlir
    mk_sm.mma_fence none
    %p1, %o1 = mk_sm.mma_fence %p, %o : tensor<128x128xbf16, #mk_sm.mma<warpgroups = 2>>, tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins Variadic<MkSM_Fragment>:$fragments);
  let results = (outs Variadic<MkSM_Fragment>:$results);
  // A name on the next line would be taken for an operand without a keyword.
  let assemblyFormat = "($fragments^ `:` type($fragments)) : (`none`)? attr-dict";
  let hasVerifier = 1;
}
def MkSM_MmaOp : MkSM_EffectOp<"mma", [MkSM_InConsumer, AllTypesMatch<["acc", "result"]>]> {
  let summary = "starts acc + a * b on the tensor cores";
  let description = [{
    Shapes and transpositions are those of `mk.dot`. `a` is staged or a fragment with the
    accumulator's layout; `b` is staged. The result is in flight: only `mma` (as
    accumulator) and `mma_wait` may use it. Matrix ops complete in order, and each op
    is one group for `mma_wait`. With `accumulate(%c)` the accumulator counts as zero
    where %c is false.

    ```mlir
    %n = mk_sm.mma %x, %y, %c transpose_b : !mk_sm.staged<tensor<128x64xbf16>>, !mk_sm.staged<tensor<256x64xbf16>>, tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins MkSM_DotOperand:$lhs, MkSM_DotOperand:$rhs, MkSM_Fragment:$acc,
                       Optional<I1>:$accumulate, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`accumulate` `(` $accumulate^ `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `,` type($acc)
  }];
  let hasVerifier = 1;
}
def MkSM_MmaWaitOp : MkSM_EffectOp<"mma_wait", [MkSM_InConsumer, InferTypeOpAdaptor]> {
  let summary = "waits until at most so many matrix ops are in flight";
  let description = [{
    The fragments named are complete behind it: they are results of ops that the wait covers.

    ```mlir
    %s1 = mk_sm.mma_wait 1, %s : tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
    mk_sm.mma_wait 0
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<MkSM_Fragment>:$fragments);
  let results = (outs Variadic<MkSM_Fragment>:$results);
  let assemblyFormat = "$pending (`,` $fragments^ `:` type($fragments))? attr-dict";
  let hasVerifier = 1;
}
def MkSM_ConvertLayoutOp : MkSM_Op<"convert_layout", [Pure]> {
  let summary = "moves a fragment's elements to the threads of another layout";
  let description = [{
    ```mlir
    %b = mk_sm.convert_layout %a : tensor<128xf32, #A> -> tensor<128xf32, #B>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def MkSM_PartialSumOp : MkSM_Op<"partial_sum", [Pure, InferTypeOpAdaptor]> {
  let summary = "adds up what a thread holds of each row, or column";
  let description = [{
    What a thread has of a sum along `axis` (1 if it is left out) stays in it, so that no element moves; `mk.reduce add` of the
    result along that axis is that of the source. The order of a sum is not defined.

    - Of `#mk_sm.mma`, rows: column c of the result, which has 8, is the sum of the columns that are congruent to c mod 8.
    - Of `#mk_sm.blocked` without idle threads, rows: each run of a row becomes one element.
    - Of such a tile, columns: rows that a thread has the same columns of become one.

    ```mlir
    %p = mk_sm.partial_sum %x : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
    %q = mk_sm.partial_sum %y axis 0 : tensor<64x128xf32, #mk_sm.blocked<threads = 256, vector = 8>>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source, DefaultValuedAttr<I64Attr, "1">:$axis);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source (`axis` $axis^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}
def MkSM_StoreOp : MkSM_EffectOp<"store", [MkSM_InConsumer, AttrSizedOperandSegments]> {
  let summary = "writes a fragment through shared memory and the copy engine";
  let description = [{
    Like `mk.store` without a signal, also as to `inside`; `add` is `reduce(add)`. Returns when the fragment has
    been read; the copy engine writes on. Later signals of the partition wait for it. Tiles
    that are partly valid, and buffers that have no tensor map, are stored directly. What goes to several ranks, `peer` and
    each of `others`, is put into shared memory once.

    A warpgroup stores 64 rows of 128 bytes at a time: `unrolled` ones in sequence, else
    in a loop. Of a tile with `#mk_sm.transposed` it stores up to 64 rows of the 64 columns that it holds.

    With `by_rows` threads store what is in the staging area, eight rows of the tile at a time, each as a whole.

    A `posted` store is left to the CTA's sender, a warp of its own, once the tile is in the staging area, which has room
    for all of it. The sender has few bytes under way at a time: stores that wait for a link hold up the
    copies of their SM. It sends the tile to one rank after the other, and raises `signal` at `peer` when
    the tile is there. `posting` counts what is posted (`mk-sm-assign-stages`); stores that are not posted, but use the same
    staging area, have it as well.

    ```mlir
    mk_sm.store %t, %c[%i, %j] through %out
        : tensor<128x256xbf16, #mk_sm.mma<warpgroups = 2>>, memref<?x?xbf16>, !mk_sm.staging<2>
    mk_sm.store %t, %slot[%i, %j] on %p posted signal %part[%n] through %out
        : tensor<128x256xbf16, #mk_sm.mma<warpgroups = 2>>, memref<?x?xbf16, #mk.symmetric>, !mk_sm.staging<4>,
          !mk.signal<?, sys, arrivals = 1>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$tile, AnyMemRef:$dest, Variadic<Index>:$offsets,
                       Variadic<Index>:$valid, Optional<Index>:$peer, Variadic<Index>:$others,
                       MkSM_StagingType:$staging, Optional<MkSM_Signal>:$signal,
                       Variadic<Index>:$signal_index, Optional<MkSM_CursorType>:$posting, UnitAttr:$add,
                       UnitAttr:$unrolled, UnitAttr:$posted, UnitAttr:$inside, UnitAttr:$by_rows);
  let assemblyFormat = [{
    $tile `,` $dest `[` $offsets `]` (`valid` `(` $valid^ `)`)? (`on` $peer^)? (`and` `(` $others^ `)`)?
    (`add` $add^)? (`posted` $posted^)? (`signal` $signal^ `[` $signal_index `]`)? `through` $staging
    (`at` `(` $posting^ `)`)? (`by_rows` $by_rows^)? (`unrolled` $unrolled^)?
    (`inside` $inside^)? attr-dict `:` type($tile) `,` qualified(type($dest)) `,` qualified(type($staging)) (`,` qualified(type($signal))^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$tile, "::mlir::Value":$dest, "::mlir::ValueRange":$offsets,
                                 "::mlir::ValueRange":$valid, "::mlir::Value":$peer,
                                 "::mlir::Value":$staging, "bool":$add), [{
    build($_builder, $_state, tile, dest, offsets, valid, peer, /*others=*/::mlir::ValueRange(), staging,
          /*signal=*/::mlir::Value(), /*signal_index=*/::mlir::ValueRange(), /*posting=*/::mlir::Value(),
          add, /*unrolled=*/false, /*posted=*/false, /*inside=*/false, /*by_rows=*/false);
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The ranks that get the tile; none if it stays here.
    ::llvm::SmallVector<::mlir::Value> getPeers() {
      ::llvm::SmallVector<::mlir::Value> peers;
      if (getPeer())
        peers.push_back(getPeer());
      ::llvm::append_range(peers, getOthers());
      return peers;
    }
  }];
}

def MkSM_SpillOp : MkSM_EffectOp<"spill", [MkSM_InConsumer]> {
  let summary = "writes a fragment to memory in the order of registers";
  let description = [{
    Each thread writes what it holds, 16 bytes at a time, and those of neighbouring threads lie side by
    side: nothing is moved between threads, and all accesses are whole. Elements have no place of their own there: only
    `mk_sm.reload` of the same type reads them. The fragment takes the place of a whole tile, the buffer's last two
    dimensions; `index` has the others. Outside the buffer nothing is written, and a launch fails, unless that is known not
    to happen (`inside`). As with `mk.store`, a signal behind
    it says that it is there.

    ```mlir
    mk_sm.spill %t, %parts[%w] : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>, memref<132x128x64xf32>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$tile, AnyMemRef:$buffer, Variadic<Index>:$index, UnitAttr:$inside);
  let assemblyFormat = [{
    $tile `,` $buffer `[` $index `]` (`inside` $inside^)? attr-dict `:` type($tile) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}
def MkSM_ReloadOp : MkSM_EffectOp<"reload", [MkSM_InConsumer]> {
  let summary = "reads a fragment that mk_sm.spill has written";
  let description = [{
    Outside the buffer elements are 0.

    ```mlir
    %t = mk_sm.reload %parts[%w] : memref<132x128x64xf32> -> tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, Variadic<Index>:$index);
  let results = (outs MkSM_Fragment:$tile);
  let assemblyFormat = [{
    $buffer `[` $index `]` attr-dict `:` qualified(type($buffer)) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def MkSM_SwapPartsOp : MkSM_EffectOp<"swap_parts", [MkSM_InScope]> {
  let summary = "gives each CTA of a cluster its columns of the tiles that all of them have";
  let description = [{
    The CTAs of a cluster, as many as there are results, come to it together, each with a tile. CTA r gets of all tiles
    columns r * n to r * n + n - 1, in the order of the CTAs. Threads keep their elements: what goes to another CTA goes
    to the same thread there, through the shared memory of that CTA. `counted`, the cursor of these exchanges, is added by
    mk-sm-assign-stages.

    ```mlir
    %a, %b = mk_sm.swap_parts %t : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
        -> tensor<128x32xf32, #mk_sm.mma<warpgroups = 2>>, tensor<128x32xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$tile, Optional<MkSM_CursorType>:$counter);
  let results = (outs Variadic<MkSM_Fragment>:$parts);
  let assemblyFormat = "$tile (`counted` `(` $counter^ `)`)? attr-dict `:` type($tile) `->` type($parts)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getCtas() { return getParts().size(); }
    /// Bytes of what a CTA gets.
    int64_t getBytes() { return 4 * getTile().getType().getNumElements(); }
  }];
}

#endif // MKERNEL_SM_MATRIX_OPS
