//===- ThreadFragmentOps.td - Fragments as values -----------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_FRAGMENT_OPS
#define MKERNEL_THREAD_FRAGMENT_OPS

include "ThreadDispatchOps.td"
include "ThreadElementOps.td"

// A fragment is a value that stands for all elements that a thread holds of a tile. Ops of arith and math compute
// fragments until `mk-thread-unroll-fragments`, which puts elements in their place.

defvar MkThread_Fragment = AnyRankedTensor;

def MkThread_HoldElementsOp : MkThread_Op<"hold_elements", [MkThread_Composite, Pure]> {
  let summary = "the fragment of these elements, or of the words in which they are packed";
  let description = [{
    ```mlir
    %c = mk_thread.hold_elements %x0, %x1 : f32, f32 -> tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>
    ```
  }];
  let arguments = (ins MkThread_Elements:$elements);
  let results = (outs MkThread_Fragment:$fragment);
  let assemblyFormat = "$elements attr-dict `:` type($elements) `->` type($fragment)";
  let hasVerifier = 1;
}
def MkThread_TakeElementsOp : MkThread_CompositeOp<"take_elements"> {
  let summary = "elements of a fragment, or words in which they are packed";
  let description = [{
    Those with the given numbers, or all. Elements that are computed on demand are computed here, once for all that
    takes them in the block and those in it.

    ```mlir
    %c:4 = mk_thread.take_elements %tile : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>> -> bf16, bf16, bf16, bf16
    %d = mk_thread.take_elements only [2, 3] of %tile : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>> -> i32
    ```
  }];
  let arguments = (ins OptionalAttr<DenseI32ArrayAttr>:$which, MkThread_Fragment:$fragment);
  let results = (outs MkThread_Elements:$elements);
  let assemblyFormat = "(`only` $which^ `of`)? $fragment attr-dict `:` type($fragment) `->` type($elements)";
  let hasVerifier = 1;
}
def MkThread_LoadAheadOp : MkThread_CompositeOp<"load_ahead"> {
  let summary = "loads what elements of a fragment are computed from, if they are computed on demand";
  let description = [{
    ```mlir
    mk_thread.load_ahead [2, 3] of %tile : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$which, MkThread_Fragment:$fragment);
  let assemblyFormat = "$which `of` $fragment attr-dict `:` type($fragment)";
  let hasVerifier = 1;
}
def MkThread_OnDemandOp : MkThread_DispatchOp<"on_demand"> {
  let summary = "a fragment whose elements are computed where they are taken, as many as are taken";
  let description = [{
    By the last op of the region: an elementwise op, `spread`, or a load of all elements. What stands in front of
    it, where loads find the elements, is computed anew at each of these places.

    ```mlir
    %c = mk_thread.on_demand : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>> {
      %d = arith.addf %tile, %tile : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>
    }
    ```
  }];
  let results = (outs MkThread_Fragment:$fragment);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict `:` type($fragment) $body";
  let extraClassDeclaration = [{
    ::mlir::Operation *getOp() { return &getBody().front().back(); }
  }];
  let hasVerifier = 1;
}
def MkThread_SpreadOp : MkThread_Op<"spread", [MkThread_Composite, Pure]> {
  let summary = "the fragment whose elements the thread holds in another one";
  let description = [{
    Of a slice, along the axis that it does not have; of one element, which all of them are; or of the transposed tile,
    whose layout is the transposed one.

    ```mlir
    %c = mk_thread.spread %slice : tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
        to tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins MkThread_Fragment:$source);
  let results = (outs MkThread_Fragment:$fragment);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($fragment)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// To memory
//===----------------------------------------------------------------------===//

def MkThread_StoreFragmentOp : MkThread_CompositeOp<"store_fragment", [AttrSizedOperandSegments]> {
  let summary = "stores a fragment, or adds it";
  let description = [{
    As `store_elements`. Where `together` holds elements that are adjacent in a row are stored at once, so
    many elements at a time. What is computed on demand is computed in each of the two ways, or with `materialize` in front of both.

    ```mlir
    mk_thread.store_fragment %tile to %address strides(%n, %m) offsets(%n, %m) limits(%n, %m) together(%yes)
        grouped 32 materialize thread(%thread) : tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins MkThread_Fragment:$fragment, I64:$start, Variadic<I64>:$strides, Variadic<I64>:$offsets,
                       Variadic<I64>:$limits, Optional<I1>:$together, OptionalAttr<MkThread_Scope>:$add,
                       ConfinedAttr<I64Attr, [IntPositive]>:$grouped, UnitAttr:$materialize, I32:$thread);
  let assemblyFormat = [{
    $fragment `to` $start `strides` `(` $strides `)` `offsets` `(` $offsets `)` `limits` `(` $limits `)`
    (`together` `(` $together^ `)`)? (`add` $add^)? `grouped` $grouped (`materialize` $materialize^)? `thread` `(` $thread `)`
    attr-dict `:` type($fragment)
  }];
  let hasVerifier = 1;
}
def MkThread_StageFragmentOp : MkThread_CompositeOp<"stage_fragment", [SingleBlock, NoTerminator,
                                                                    AttrSizedOperandSegments]> {
  let summary = "stores a fragment through staging buffers, part by part";
  let description = [{
    By each warpgroup but the first one, `buffers` of them for itself, which lie from `staging` on; it meets at its named
    barrier, that of the first of them is `barrier`. It puts a part, 64 rows of 128 bytes, into a buffer once the engine
    has read what was there; where `usable` holds, one thread sends it off, `rows` rows at a time, with each of the maps to the
    tile's coordinates, or adds it; without maps it stays there. Elsewhere all threads run the region, which
    gets the buffer and the row and column of its first element. With `regular` each user of the buffers begins with the
    first one. Parts are `unrolled`, or numbers of a loop's iterations.

    ```mlir
    mk_thread.stage_fragment %wide in 1024 buffers 1 regular barrier 2 where %yes
        maps(%map : !llvm.ptr) at(%i, %j) rows 64 add unrolled : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>> {
    ^bb0(%buffer: i32, %row: i32, %column: i32):
      mk_thread.sync_warp
    }
    ```
  }];
  let arguments = (ins MkThread_Fragment:$fragment, MkThread_Offset:$staging,
                       ConfinedAttr<I64Attr, [IntPositive]>:$buffers, UnitAttr:$regular, MkThread_NamedBarrier:$barrier,
                       I1:$usable, Variadic<MkThread_Map>:$maps, Variadic<I32>:$coordinates,
                       ConfinedAttr<I64Attr, [IntPositive]>:$rows, UnitAttr:$add, UnitAttr:$unrolled);
  let regions = (region SizedRegion<1>:$otherwise);
  let assemblyFormat = [{
    $fragment `in` $staging `buffers` $buffers (`regular` $regular^)? `barrier` $barrier `where` $usable
    (`maps` `(` $maps^ `:` type($maps) `)`)? `at` `(` $coordinates `)` `rows` $rows (`add` $add^)?
    (`unrolled` $unrolled^)? attr-dict `:` type($fragment) $otherwise
  }];
  let hasVerifier = 1;
}

def MkThread_StageRowsOp : MkThread_CompositeOp<"stage_rows"> {
  let summary = "stores a fragment row by row, through staging buffers";
  let description = [{
    By each warpgroup but the first one, which has `buffers` for itself, as with `stage_fragment`. Each warp has a quarter
    of them, puts eight rows of the tile there and stores them, each row as a whole, 16 bytes a lane. Where these are not
    aligned it stores element by element. Element 0, 0 of the tile goes to `start`, others to rows and columns that are
    so many bytes from each other; of rows and columns those from the first number on and below the second one exist.
    Unless `alone`, the engine may still read the buffers before.

    ```mlir
    mk_thread.stage_rows %wide in 1024 buffers 1 alone barrier 2 to %dest strides(%n, %m) rows(%first, %rows)
        columns(%first, %columns) unrolled : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins MkThread_Fragment:$fragment, MkThread_Offset:$staging,
                       ConfinedAttr<I64Attr, [IntPositive]>:$buffers, UnitAttr:$alone, MkThread_NamedBarrier:$barrier,
                       I64:$start, I64:$row_stride, I64:$column_stride, I32:$rows_from, I32:$rows_left,
                       I32:$columns_from, I32:$columns_left, UnitAttr:$unrolled);
  let assemblyFormat = [{
    $fragment `in` $staging `buffers` $buffers (`alone` $alone^)? `barrier` $barrier `to` $start
    `strides` `(` $row_stride `,` $column_stride `)` `rows` `(` $rows_from `,` $rows_left `)`
    `columns` `(` $columns_from `,` $columns_left `)` (`unrolled` $unrolled^)? attr-dict `:` type($fragment)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// In memory in the order of registers
//===----------------------------------------------------------------------===//

// Elements 4 i to 4 i + 3 of all threads lie behind those of 4 i - 4 to 4 i - 1, thread by thread: a warp
// moves 512 bytes by one instruction.

def MkThread_SpillFragmentOp : MkThread_CompositeOp<"spill_fragment"> {
  let summary = "writes a fragment of 32-bit elements to memory in the order of registers";
  let description = [{
    From the thread's `address` on, `step` bytes to its next four elements, where `exists` is not 0.

    ```mlir
    mk_thread.spill_fragment %sums to %address step 2048 where %exists : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins MkThread_Fragment:$fragment, I64:$address, ConfinedAttr<I64Attr, [IntPositive]>:$step,
                       I32:$exists);
  let assemblyFormat = "$fragment `to` $address `step` $step `where` $exists attr-dict `:` type($fragment)";
  let hasVerifier = 1;
}
def MkThread_ReloadElementsOp : MkThread_CompositeOp<"reload_elements"> {
  let summary = "reads elements of a fragment that was spilled, four at a time; 0 where nothing is";
  let description = [{
    ```mlir
    %c:4 = mk_thread.reload_elements [0, 1, 2, 3] of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> at %address
        step 2048 where %exists : f32, f32, f32, f32
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$which, MkThread_Tile:$tile, I64:$address,
                       ConfinedAttr<I64Attr, [IntPositive]>:$step, I32:$exists);
  let results = (outs MkThread_Elements:$elements);
  let assemblyFormat = "$which `of` $tile `at` $address `step` $step `where` $exists attr-dict `:` type($elements)";
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_FRAGMENT_OPS
