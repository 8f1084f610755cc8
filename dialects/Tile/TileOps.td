//===- TileOps.td - Tiles: load, store, dot, reduce ... -----*- tablegen -*-===//
#ifndef MKERNEL_TILE_OPS
#define MKERNEL_TILE_OPS

include "TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Mk_TileOf<list<Type> elements>
    : RankedTensorOf<elements, [CPred<"::mlir::mk::isTile($_self)">],
                     "tile (a tensor of static shape, or with #mk.extents)">;
def Mk_Tile : Mk_TileOf<[AnyFloat, AnyInteger, Index]>;

def Mk_LoadOp : Mk_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "reads a tile";
  let description = [{
    The tile of the result's shape that starts at the offsets (in elements);
    a tile of lower rank covers the last dimensions, and has one index in each of the
    others. Each element outside the buffer, before it (offsets may be negative) or behind it,
    or beyond `valid` elements from the offsets (a number for each tile
    dimension; negative counts as zero), read as `pad`, zero by default. The tile is a
    snapshot: later writes do not change it. With `once` no other item of the launch reads
    any of it (`mk-mark-single-reads`): the L2 cache of a GPU gives it up first, if the copy engine brings it. With `own` no other item of the launch writes any
    of it (`mk-mark-own-reads`). With `staged` (`mk-sm-stage-loads`) the
    copy engine brings it where the role has room for that, also if no `mk.dot` multiplies it.
    What lies behind the buffer's end along the `unseen` dimensions of the tile need not be zero: nobody sees it, and
    the tile begins nowhere in front of the buffer along them (`mk-mark-unseen`). With `spread` (`mk-sm-spread-loads`) all rows of a tile
    of two dimensions are alike, that of the offsets; `valid` and the buffer have one dimension less.

    With `rows(%list[%at])` the rows of a tile of two dimensions are gathered: row i is that of the offsets and
    `list[at + i]` further. A row whose entry does not exist in the list, or is behind `valid`, reads as zero, as do
    rows and columns outside the buffer; there is no `pad`. The list must not change until the tile has been used.

    ```mlir
    %x = mk.load %a[%i, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %g = mk.load %a[%c0, %k] rows(%tokens[%i] : memref<?xi32>) : memref<?x?xbf16> -> tensor<128x64xbf16>
    %y = mk.load %m[%i] valid(%n) pad(%ninf : f32) : memref<?xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$offsets,
                       Arg<Optional<MemRefRankOf<[I32], [1]>>, "", [MemRead]>:$rows, Optional<Index>:$rows_at, Variadic<Index>:$valid, Optional<AnyType>:$pad,
                       UnitAttr:$once, UnitAttr:$own, UnitAttr:$staged, UnitAttr:$spread, OptionalAttr<DenseI64ArrayAttr>:$unseen);
  let results = (outs Mk_Tile:$tile);
  let assemblyFormat = [{
    $source `[` $offsets `]` (`rows` `(` $rows^ `[` $rows_at `]` `:` type($rows) `)`)? (`valid` `(` $valid^ `)`)? (`pad` `(` $pad^ `:` type($pad) `)`)?
    (`once` $once^)? (`own` $own^)? (`staged` $staged^)? (`spread` $spread^)? (`unseen` $unseen^)? attr-dict `:` qualified(type($source)) `->` type($tile)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where the tile begins in dimension d of the tile.
    ::mlir::Value getTileOffset(int64_t d);
  }];
}

def Mk_StoreOp : Mk_Op<"store", [Mk_VisibleEffect, AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile, here or at a peer, and may signal it";
  let description = [{
    Offsets, lower ranks and `valid` are those of `mk.load`; elements outside the buffer,
    that of the peer with `on`, or beyond `valid` are dropped. An index in front of the tile's
    dimensions has to exist, unless nothing is stored: a launch fails where it does not. With `inside` it is known to
    (`mk-mark-inner-stores`), and not looked at on GPUs. `on` names the rank
    whose buffer is written: symmetric memory, reachable over `link` axes. Such a store is a remote
    one, also where that is the own rank: `mk.fence` orders two of them.
    `signal` raises that rank's signal by one when the tile is there. `reduce(add)`
    adds instead of overwriting; adds of different CTAs happen in any order.

    ```mlir
    mk.store %t, %c[%i, %j] : tensor<128x256xbf16>, memref<?x?xbf16>
    mk.store %t, %s[%i, %j] on %p signal %part[%i] reduce(add)
        : tensor<128x256xf32>, memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 4>
    ```
  }];
  let arguments = (ins Mk_Tile:$tile, AnyMemRef:$dest, Variadic<Index>:$offsets,
                       Variadic<Index>:$valid, Optional<Index>:$peer,
                       Optional<Mk_SignalType>:$signal, Variadic<Index>:$signal_index,
                       UnitAttr:$strong, OptionalAttr<Mk_ReductionAttr>:$reduction, UnitAttr:$inside);
  let assemblyFormat = [{
    $tile `,` $dest `[` $offsets `]` (`valid` `(` $valid^ `)`)? (`on` $peer^)?
    (`signal` (`strong` $strong^)? $signal^ `[` $signal_index `]`)?
    (`reduce` `(` custom<Word>($reduction)^ `)`)? (`inside` $inside^)? attr-dict
    `:` type($tile) `,` qualified(type($dest)) (`,` qualified(type($signal))^)?
  }];
  let hasVerifier = 1;
}

def Mk_SelectOp : Mk_Op<"select", [Pure]> {
  let summary = "chooses between buffers";
  let description = [{
    The buffers have the same shape and element type but may live in different
    memory spaces; the result is in the default space and can only be read.

    ```mlir
    %src = mk.select %own, %a, %full
        : memref<?x?xbf16>, memref<?x?xbf16, #mk.symmetric> -> memref<?x?xbf16>
    ```
  }];
  let arguments = (ins I1:$condition, AnyMemRef:$true_value, AnyMemRef:$false_value);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $condition `,` $true_value `,` $false_value attr-dict `:` qualified(type($true_value)) `,`
    qualified(type($false_value)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Mk_DotOp : Mk_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product accumulated in fp32";
  let description = [{
    `acc + a * b` with a : M x K (K x M with `transpose_a`), b : K x N (N x K with
    `transpose_b`), acc : M x N of f32. Operands are both bf16, both f16, both f32 or
    fp8; products and sums are rounded to f32 in any order. f32 operands are
    multiplied in full precision unless `precision = tf32` is given. `swapped` says that
    `mk-transpose-dots` has exchanged rows and columns of what was written: messages speak of that.

    ```mlir
    %c1 = mk.dot %a, %b, %c0 transpose_b
        : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Mk_Tile:$lhs, Mk_Tile:$rhs, Mk_Tile:$acc,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       OptionalAttr<Mk_PrecisionAttr>:$precision, UnitAttr:$swapped);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? (`swapped` $swapped^)?
    (`precision` `=` custom<Word>($precision)^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Mk_ReduceOp : Mk_Op<"reduce", [Pure]> {
  let summary = "reduces a tile along one axis";
  let description = [{
    The result has the source's shape without `axis`. Integers are signed for `max` and
    `min`; the order of a sum is not defined. Sums and products of bf16 and f16 are made in f32, and
    rounded once.

    ```mlir
    %m = mk.reduce max %s axis 1 : tensor<128x64xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Mk_ReductionAttr:$kind, Mk_Tile:$source, I64Attr:$axis);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = [{
    custom<Word>($kind) $source `axis` $axis attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Mk_BroadcastOp : Mk_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along new dimensions";
  let description = [{
    `dims` are the dimensions of the result that the source does not have.

    ```mlir
    %b = mk.broadcast %m dims [1] : tensor<128xf32> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Mk_Tile:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = "$source `dims` $dims attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Mk_TransposeOp : Mk_Op<"transpose", [Pure]> {
  let summary = "exchanges the rows and columns of a matrix";
  let description = [{
    Element (r, c) of the result is element (c, r) of the source. Where the source is what
    `mk.dot` gives no element moves: threads hold what they hold, and loads, stores and
    elementwise ops of the result follow.

    ```mlir
    %t = mk.transpose %s : tensor<128x16xf32> -> tensor<16x128xf32>
    ```
  }];
  let arguments = (ins Mk_Tile:$source);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mk_MaskOp : Mk_Op<"mask", [
    Pure, AllTypesMatch<["source", "result"]>,
    TypesMatchWith<"what replaces elements is of their type", "source", "otherwise",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "replaces the elements whose indices are not in a set";
  let description = [{
    The set's dimensions are the indices of the tile, its symbols the operands.

    `skippable` says of the fold around it: for a row of the tile of which the mask keeps nothing, an
    iteration leaves that row of all that the fold carries as it is, as scores of minus infinity do in
    attention that starts from a finite maximum. Code may leave the iteration out for such rows. Where it
    does, neither their own scores nor what they would have been multiplied by are seen, be they infinite
    or no numbers.

    ```mlir
    %z = mk.mask %s where affine_set<(r, c)[d] : (r - c + d >= 0)>[%d] else %ninf
        : tensor<128x128xf32>
    ```
  }];
  let arguments = (ins Mk_Tile:$source, IntegerSetAttr:$set, Variadic<Index>:$symbols,
                       AnyType:$otherwise, UnitAttr:$skippable);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = [{
    $source `where` $set (`[` $symbols^ `]`)? `else` $otherwise (`skippable` $skippable^)? attr-dict
    `:` type($source)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mk_IotaOp : Mk_Op<"iota", [Pure]> {
  let summary = "the index of each element along a dimension";
  let description = [{
    Elements of 32 or 64 bits are counted from the start of the tile: to the offset of an item, a splat is added.

    ```mlir
    %columns = mk.iota axis 1 : tensor<8x64xi32>
    ```
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Mk_Tile:$result);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // MKERNEL_TILE_OPS
