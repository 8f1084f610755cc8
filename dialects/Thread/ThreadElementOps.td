//===- ThreadElementOps.td - A thread's elements of a tile --*- tablegen -*-===//
#ifndef MKERNEL_THREAD_ELEMENT_OPS
#define MKERNEL_THREAD_ELEMENT_OPS

include "ThreadBase.td"

// A thread holds of a tile what the layout of its type says (`#mk_sm.mma` and others), an element a value:
// an index as an i64, an fp8 as an i8. Threads are counted from the first one that holds some of the tile.

def MkThread_Tile : TypeAttrOf<AnyRankedTensor>;
def MkThread_Elements : Variadic<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>;
def MkThread_Combination : I32EnumAttr<"Combination", "how elements are reduced; integers are signed", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::mlir::mk_thread";
}
def MkThread_RoomAttr : MkThread_Attr<"Room", "room"> {
  let summary = "shared memory through which threads exchange elements";
  let description = [{
    So many `threads` use `bytes` bytes from `offset` on. They meet at a barrier that the op names; a single warp
    needs none.

    ```mlir
    #mk_thread.room<threads = 256, offset = 1024, bytes = 2048>
    ```
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

def MkThread_ExchangeElementsOp : MkThread_CompositeOp<"exchange_elements", [AttrSizedOperandSegments]> {
  let summary = "gives threads the elements of a tile that they hold in another layout";
  let description = [{
    The element of the second tile with indices i is the one of the first tile whose number, in row-major order, is the sum of i times
    `strides`: a stride of 0 broadcasts. What does not fit the room goes in parts.

    ```mlir
    %c, %d = mk_thread.exchange_elements %x, %y of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>
        to tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 1>> strides [32, 1]
        in <threads = 128, offset = 1024, bytes = 1024> thread(%thread) barrier(%number) : (f32, f32) -> (f32, f32)
    ```
  }];
  let arguments = (ins MkThread_Elements:$elements, MkThread_Tile:$from, MkThread_Tile:$to,
                       DenseI64ArrayAttr:$strides, MkThread_RoomAttr:$room, I32:$thread, Optional<I32>:$barrier);
  let results = (outs MkThread_Elements:$results);
  let assemblyFormat = [{
    $elements `of` $from `to` $to `strides` $strides `in` $room `thread` `(` $thread `)`
    (`barrier` `(` $barrier^ `)`)? attr-dict `:` functional-type($elements, $results)
  }];
  let hasVerifier = 1;
}
def MkThread_SwapElementsOp : MkThread_CompositeOp<"swap_elements"> {
  let summary = "gives each CTA of a cluster its columns of accumulators that all of them have";
  let description = [{
    `ctas` CTAs do so together, of which this one is number `in`. Its threads send to the same threads of each CTA what they hold
    of its columns, into the room there, and get what all CTAs have of their own, CTA by CTA. At `barriers` lie the one
    that counts bytes that have come, and the one at which warps arrive that have read them: both are in a
    phase of `parity` for what comes now.

    ```mlir
    %c:8 = mk_thread.swap_elements %x0, %x1, %x2, %x3, %x0, %x1, %x2, %x3 of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>>
        ctas 2 in(%cta) room <threads = 128, offset = 1024, bytes = 4096> barriers 512 parity(%parity) thread(%thread)
        report(<kind = 1, role = 0, number = -1>) : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
    ```
  }];
  let arguments = (ins MkThread_Elements:$elements, MkThread_Tile:$tile, I64Attr:$ctas, MkThread_RoomAttr:$room,
                       MkThread_Offset:$barriers, I32:$cta, I32:$parity, I32:$thread, MkThread_ReportAttr:$report);
  let results = (outs MkThread_Elements:$results);
  let assemblyFormat = [{
    $elements `of` $tile `ctas` $ctas `in` `(` $cta `)` `room` $room `barriers` $barriers `parity` `(` $parity `)`
    `thread` `(` $thread `)` `report` `(` $report `)` attr-dict `:` functional-type($elements, $results)
  }];
  let hasVerifier = 1;
}
def MkThread_ReduceElementsOp : MkThread_CompositeOp<"reduce_elements", [AttrSizedOperandSegments]> {
  let summary = "reduces a tile along an axis";
  let description = [{
    In `chains` at once for each result. Accumulators are reduced along their rows within four lanes, along columns through a
    room, and so are tiles that are dealt out. Where the result is what `mk_sm.partial_sum` makes of the tile, a thread reduces
    what it holds of each row or column, and no element moves.

    ```mlir
    %c, %d = mk_thread.reduce_elements add %x0, %x1, %x2, %x3 of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> along 1
        to tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> chains 2
        : (f32, f32, f32, f32) -> (f32, f32)
    %e, %f = mk_thread.reduce_elements max %x0, %x1, %x2, %x3 of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>> along 0
        to tensor<8xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 1>>> chains 1
        in <threads = 128, offset = 1024, bytes = 1024> thread(%thread) barrier(%number)
        : (f32, f32, f32, f32) -> (f32, f32)
    ```
  }];
  let arguments = (ins MkThread_Combination:$kind, MkThread_Elements:$elements, MkThread_Tile:$from, I64Attr:$axis,
                       MkThread_Tile:$to, ConfinedAttr<I64Attr, [IntPositive]>:$chains,
                       OptionalAttr<MkThread_RoomAttr>:$room, Optional<I32>:$thread, Optional<I32>:$barrier);
  let results = (outs MkThread_Elements:$results);
  let assemblyFormat = [{
    $kind $elements `of` $from `along` $axis `to` $to `chains` $chains
    (`in` $room^ `thread` `(` $thread `)` (`barrier` `(` $barrier^ `)`)?)? attr-dict
    `:` functional-type($elements, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether what a thread holds stays in it.
    bool isPartial();
  }];
}

//===----------------------------------------------------------------------===//
// In a thread
//===----------------------------------------------------------------------===//

def MkThread_MaskElementsOp : MkThread_Op<"mask_elements", [MkThread_Composite, Pure, AttrSizedOperandSegments,
                                                            AllTypesMatch<["elements", "results"]>]> {
  let summary = "replaces the elements whose indices are not in a set";
  let description = [{
    ```mlir
    %c, %d = mk_thread.mask_elements %x, %y of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>>
        where affine_set<(r, c)[s] : (r - c + s >= 0)>[%n] else %low : f32 thread(%thread) : f32, f32
    ```
  }];
  let arguments = (ins MkThread_Elements:$elements, MkThread_Tile:$tile, IntegerSetAttr:$set, Variadic<I64>:$symbols,
                       AnyType:$otherwise, I32:$thread);
  let results = (outs MkThread_Elements:$results);
  let assemblyFormat = [{
    $elements `of` $tile `where` $set `[` $symbols `]` `else` $otherwise `:` type($otherwise)
    `thread` `(` $thread `)` attr-dict `:` type($elements)
  }];
  let hasVerifier = 1;
}
def MkThread_ScaleElementsOp : MkThread_CompositeOp<"scale_elements", [AttrSizedOperandSegments,
                                                                   AllTypesMatch<["elements", "results"]>]> {
  let summary = "multiplies accumulators by factors of rows or columns, which are mostly one";
  let description = [{
    A warp all of whose factors are one goes past the products. With `in_flight` the elements are results of matrix ops in
    flight, which a warp waits for when it has looked at its factors.

    ```mlir
    %s:4 = mk_thread.scale_elements %x0, %x1, %x2, %x3 of tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
        by %x, %y along 1 : f32, f32, f32, f32
    ```
  }];
  let arguments = (ins Variadic<F32>:$elements, MkThread_Tile:$tile, Variadic<F32>:$factors, I64Attr:$axis,
                       UnitAttr:$in_flight);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = "(`in_flight` $in_flight^)? $elements `of` $tile `by` $factors `along` $axis attr-dict `:` type($elements)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// In global memory
//===----------------------------------------------------------------------===//

def MkThread_LoadElementsOp : MkThread_CompositeOp<"load_elements", [AttrSizedOperandSegments]> {
  let summary = "loads some of a thread's elements of a tile";
  let description = [{
    The tile begins at `start`; its elements are `strides` bytes from each other in each dimension. Those exist whose index is
    below `limits` and, with `offsets`, at least 0; others become `pad`, or 0. The elements with these numbers are loaded;
    where `together` holds, those that are adjacent in a row at once: rows have all of the tile's elements then, or end between
    two runs of 16 bytes. Where `wide` holds, too, rows begin at multiples of 16 bytes.

    With `quads n` the four threads that hold a row of accumulators share n blocks of 8 columns, two or four, of 16-bit
    elements: each loads 2 n elements that are adjacent, where `wide` holds at once, and gets them in place of its own, which
    `exchange_quads` makes of them. The elements are whole such blocks of 64 rows, n at a time.

    With `list` row i of a tile of two dimensions is that of the i-th i32 from the address on, where these are `stride` places of 4
    bytes from each other; `offsets` and `limits` are those of the list, and rows exist whose entry is from the first of `entries` on
    and below the second. Entries count from the row at `start`.

    ```mlir
    %c, %d = mk_thread.load_elements [0, 1] of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> at %address
        strides(%n, %m) offsets(%n, %m) limits(%n, %m) pad(%x : f32) together(%yes) thread(%thread) : f32, f32
    %e:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] quads 2 of tensor<64x16xbf16, #mk_sm.mma<warpgroups = 1>>
        at %address strides(%n, %m) offsets(%n, %m) limits(%n, %m) together(%yes) wide(%yes) thread(%thread)
        : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
    %g, %h = mk_thread.load_elements [0, 1] of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> at %address
        strides(%n, %m) offsets(%n, %m) limits(%n, %m) together(%yes) list(%b stride %w) entries(%least, %below)
        thread(%thread) : f32, f32
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$which, OptionalAttr<I64Attr>:$quads, MkThread_Tile:$tile, I64:$start,
                       Variadic<I64>:$strides, Variadic<I64>:$offsets, Variadic<I64>:$limits, Optional<AnyType>:$pad,
                       Optional<I1>:$together, Optional<I1>:$wide, Optional<I64>:$list, Optional<I32>:$list_stride,
                       Optional<I32>:$entries_from, Optional<I32>:$entries_below, I32:$thread);
  let results = (outs MkThread_Elements:$elements);
  let assemblyFormat = [{
    $which (`quads` $quads^)? `of` $tile `at` $start `strides` `(` $strides `)` `offsets` `(` $offsets `)` `limits` `(` $limits `)`
    (`pad` `(` $pad^ `:` type($pad) `)`)? (`together` `(` $together^ `)`)? (`wide` `(` $wide^ `)`)?
    (`list` `(` $list^ `stride` $list_stride `)` `entries` `(` $entries_from `,` $entries_below `)`)?
    `thread` `(` $thread `)` attr-dict `:` type($elements)
  }];
  let hasVerifier = 1;
}
def MkThread_ExchangeQuadsOp : MkThread_CompositeOp<"exchange_quads", [AllTypesMatch<["elements", "results"]>]> {
  let summary = "has four threads exchange what each has loaded of a row";
  let description = [{
    Of `load_elements` with `quads`: the elements become the thread's own. All threads of the warp come to it.

    ```mlir
    %f:8 = mk_thread.exchange_quads 2 %h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7 : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
    ```
  }];
  let arguments = (ins I64Attr:$quads, MkThread_Elements:$elements);
  let results = (outs MkThread_Elements:$results);
  let assemblyFormat = "$quads $elements attr-dict `:` type($elements)";
  let hasVerifier = 1;
}
def MkThread_CopyElementsOp : MkThread_CompositeOp<"copy_elements"> {
  let summary = "has a warp bring a tile of one dimension into shared memory";
  let description = [{
    By a warp, of which this is `lane`. Elements of 4 or 8 bytes lie `stride` bytes from each other, and side by side at `dest`.
    Those exist whose index is below `limit` and, with `offset`, at least 0; others become 0. All come at once where they exist,
    lie side by side and begin at a multiple of 16 bytes; else each by itself. The barrier's phase does not end before all are there (PTX ISA, "cp.async.mbarrier.arrive").

    ```mlir
    mk_thread.copy_elements %address stride(%n) offset(%a) limit(%m) to %slot counted by %full lane(%lane)
        of tensor<128xf32>
    ```
  }];
  let arguments = (ins I64:$start, I64:$stride, I64:$offset, I64:$limit, MkThread_Shared:$dest, MkThread_Shared:$barrier,
                       I32:$lane, MkThread_Tile:$tile);
  let assemblyFormat = [{
    $start `stride` `(` $stride `)` `offset` `(` $offset `)` `limit` `(` $limit `)` `to` $dest `counted` `by` $barrier
    `lane` `(` $lane `)` `of` $tile attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_ReadElementsOp : MkThread_CompositeOp<"read_elements"> {
  let summary = "reads some of a thread's elements of a tile out of shared memory";
  let description = [{
    Those of a tile of one dimension, all of them, lie side by side at the only source. Of accumulators each source has
    `columns` columns, the last one maybe fewer: a chunk of them behind the other, in the swizzle of the copy engine.
    So lies the only source of a tile that is dealt out without idle threads. Adjacent elements are read together, of
    accumulators pairs, else runs of up to 16 bytes.

    ```mlir
    %c, %d = mk_thread.read_elements [0, 1] of tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
        at %slot columns 128 thread(%thread) : f32, f32
    %e, %f = mk_thread.read_elements [66, 67] of tensor<128x256xbf16, #mk_sm.mma<warpgroups = 2>>
        at %slot, %next columns 128 thread(%thread) : bf16, bf16
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$which, MkThread_Tile:$tile, Variadic<MkThread_Shared>:$sources,
                       ConfinedAttr<I64Attr, [IntPositive]>:$columns, I32:$thread);
  let results = (outs MkThread_Elements:$elements);
  let assemblyFormat = [{
    $which `of` $tile `at` $sources `columns` $columns `thread` `(` $thread `)` attr-dict `:` type($elements)
  }];
  let hasVerifier = 1;
}
def MkThread_StoreElementsOp : MkThread_CompositeOp<"store_elements", [AttrSizedOperandSegments]> {
  let summary = "stores some of a thread's elements of a tile, or adds them";
  let description = [{
    As `load_elements`; elements that do not exist are dropped, and one of the threads that hold the same element stores
    it. With `runs` those that are adjacent in a row are stored at once, with `together` where that
    holds. With `add` they are added, atomically at the scope.

    ```mlir
    mk_thread.store_elements %x, %y as [0, 1] of tensor<8x32xf32, #mk_sm.blocked<threads = 128, vector = 2>> to %address
        strides(%n, %m) offsets(%n, %m) limits(%n, %m) runs thread(%thread) : f32, f32
    ```
  }];
  let arguments = (ins MkThread_Elements:$elements, DenseI32ArrayAttr:$which, MkThread_Tile:$tile, I64:$start,
                       Variadic<I64>:$strides, Variadic<I64>:$offsets, Variadic<I64>:$limits, UnitAttr:$runs,
                       Optional<I1>:$together, OptionalAttr<MkThread_Scope>:$add, I32:$thread);
  let assemblyFormat = [{
    $elements `as` $which `of` $tile `to` $start `strides` `(` $strides `)` `offsets` `(` $offsets `)`
    `limits` `(` $limits `)` (`runs` $runs^)? (`together` `(` $together^ `)`)? (`add` $add^)?
    `thread` `(` $thread `)` attr-dict `:` type($elements)
  }];
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_ELEMENT_OPS
