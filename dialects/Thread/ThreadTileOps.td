//===- ThreadTileOps.td - Tiles in shared memory ------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_TILE_OPS
#define MKERNEL_THREAD_TILE_OPS

include "ThreadBase.td"

// A tile lies in shared memory in columns of chunks of 128 bytes, whose pieces of 16 bytes are
// swizzled: piece p of row r lies at p ^ (r % 8).

//===----------------------------------------------------------------------===//
// Copies by the engine
//===----------------------------------------------------------------------===//

def MkThread_CopyTileOp : MkThread_CompositeOp<"copy_tile", [AttrSizedOperandSegments]> {
  let summary = "has the copy engine bring a tile into its slot";
  let description = [{
    By a whole warp. The tile has so many rows of so many chunks of 128 bytes, and comes box by box:
    rows of a chunk, which has so many elements. The last chunk is filled also where the tile ends within
    it. The barrier counts all bytes of the boxes that come. Where so many CTAs of a cluster share the tile each brings its
    part of the rows for all of them; this is the one at `place` of the cluster. Their numbers there are `stride` apart.
    `once` is that of `mk.load`. Boxes that begin at row `rows_left` of the tile or behind it are left out, and so
    are those at column `columns_left` or behind: the slot keeps there what it had. Of `one_box` the argument has no
    more rows than a box, whatever their number, and `rows_left` says no more either: the first CTA brings it, at row 0.

    ```mlir
    mk_thread.copy_tile %map at(%n, %m) of 512 x 2 box 256 x 64 to %slot counted by %full : !llvm.ptr
    mk_thread.copy_tile %map at(%n, %m) of 512 x 2 box 256 x 64 to %slot counted by %full
        shared(%place of 2) : !llvm.ptr
    mk_thread.copy_tile %map at(%n, %m) of 512 x 2 box 256 x 64 to %slot counted by %full
        shared(%place of 2 stride 4) : !llvm.ptr
    ```
  }];
  let arguments = (ins MkThread_Map:$map, Variadic<I64>:$coordinates, ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$chunks, ConfinedAttr<I64Attr, [IntPositive]>:$box_rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$box_columns, MkThread_Shared:$dest,
                       MkThread_Shared:$barrier, Optional<I32>:$place, OptionalAttr<I64Attr>:$shared,
                       DefaultValuedAttr<I64Attr, "1">:$stride, UnitAttr:$once,
                       Optional<I32>:$rows_left, Optional<I32>:$columns_left, UnitAttr:$one_box);
  let assemblyFormat = [{
    $map `at` `(` $coordinates `)` `of` $rows `x` $chunks `box` $box_rows `x` $box_columns `to` $dest
    `counted` `by` $barrier (`shared` `(` $place^ `of` $shared (`stride` $stride^)? `)`)? (`once` $once^)?
    (`rows_left` `(` $rows_left^ `)`)? (`columns_left` `(` $columns_left^ `)`)? (`one_box` $one_box^)? attr-dict
    `:` type($map)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies by threads
//===----------------------------------------------------------------------===//

def MkThread_CopiersAttr : MkThread_Attr<"Copiers", "copiers"> {
  let summary = "warps that copy, and where they are asked to";
  let description = [{
    So many `warps`, the first of which is warp 1. Requests lie from byte `requests` of shared memory on, how many
    there were is the word at `posted`; warps meet at the named `barrier`.

    ```mlir
    #mk_thread.copiers<warps = 3, requests = 512, posted = 1024, barrier = 2>
    ```
  }];
  let parameters = (ins "int64_t":$warps, "int64_t":$requests, "int64_t":$posted, "int64_t":$barrier);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def MkThread_RequestCopyOp : MkThread_CompositeOp<"request_copy", [AttrSizedOperandSegments]> {
  let summary = "asks the copiers to bring a tile into its slot";
  let description = [{
    By a warp, of which this is `lane`. The tile begins at `base` of an argument that begins at `start`; its rows and
    elements are `row_stride` and `column_stride` bytes from each other. Of its rows, and of the bytes of
    a row, those from the first number on and below the second one exist; the others become 0. The tile has so
    many rows of `chunks` of 128 bytes, and elements of `size` bytes. The barrier waits for a byte of each copier.
    With `list` row i is that of the i-th i32 from the address on, where these are `stride` places of 4 bytes from each other. It is
    counted from `base`, and exists if it is from the first of `entries` on and below the second; these are more than the least i32.

    ```mlir
    mk_thread.request_copy %a in %b strides(%n, %m) rows(%first, %rows) bytes(%first, %bytes)
        of 64 x 2 size 2 to %slot counted by %full lane(%lane)
        copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    mk_thread.request_copy %a in %b strides(%n, %m) rows(%first, %rows) bytes(%first, %bytes)
        list(%b stride %w) entries(%least, %below) of 64 x 2 size 2 to %slot counted by %full lane(%lane)
        copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins I64:$base, I64:$start, I64:$row_stride, I64:$column_stride, Optional<I64>:$list,
                       Optional<I32>:$list_stride, Optional<I32>:$entries_from, Optional<I32>:$entries_below, I32:$rows_from,
                       I32:$rows_left, I32:$bytes_from, I32:$bytes_left,
                       ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$chunks, I64Attr:$size,
                       MkThread_Shared:$dest, MkThread_Shared:$barrier, I32:$lane,
                       MkThread_CopiersAttr:$copiers);
  let assemblyFormat = [{
    $base `in` $start `strides` `(` $row_stride `,` $column_stride `)` `rows` `(` $rows_from `,` $rows_left `)`
    `bytes` `(` $bytes_from `,` $bytes_left `)`
    (`list` `(` $list^ `stride` $list_stride `)` `entries` `(` $entries_from `,` $entries_below `)`)? `of` $rows `x` $chunks `size` $size `to` $dest
    `counted` `by` $barrier `lane` `(` $lane `)` `copiers` `(` $copiers `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_RequestRowsOp : MkThread_CompositeOp<"request_rows"> {
  let summary = "asks the copiers to look up rows, and to remember where they lie";
  let description = [{
    So many rows of tiles, in a list as that of `request_copy`; those from the first of `rows` on and below the second
    are looked up, the others do not exist. Copies of selected rows use them until others are looked up.

    ```mlir
    mk_thread.request_rows 144 stride(%n) rows(%first, %rows) list(%b stride %w) entries(%least, %below) lane(%lane)
        copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$rows, I64:$row_stride, I32:$rows_from, I32:$rows_left,
                       I64:$list, I32:$list_stride, I32:$entries_from, I32:$entries_below, I32:$lane, MkThread_CopiersAttr:$copiers);
  let assemblyFormat = [{
    $rows `stride` `(` $row_stride `)` `rows` `(` $rows_from `,` $rows_left `)` `list` `(` $list `stride` $list_stride `)`
    `entries` `(` $entries_from `,` $entries_below `)` `lane` `(` $lane `)` `copiers` `(` $copiers `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_RequestSelectedOp : MkThread_CompositeOp<"request_selected"> {
  let summary = "asks the copiers to bring a tile of the rows that they remember";
  let description = [{
    The first of `entries` of the list names the row at `base`. Of a row `bytes` exist, and the others become 0; base, row
    stride and bytes are multiples of 16. Rows lie within 64 GiB.

    ```mlir
    mk_thread.request_selected %a bytes(%bytes) of 144 x 1 to %slot counted by %full lane(%lane)
        copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins I64:$base, I32:$bytes_left, ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$chunks, MkThread_Shared:$dest, MkThread_Shared:$barrier,
                       I32:$lane, MkThread_CopiersAttr:$copiers);
  let assemblyFormat = [{
    $base `bytes` `(` $bytes_left `)` `of` $rows `x` $chunks `to` $dest `counted` `by` $barrier
    `lane` `(` $lane `)` `copiers` `(` $copiers `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_DismissCopiersOp : MkThread_CompositeOp<"dismiss_copiers"> {
  let summary = "tells the copiers that there are no more requests";
  let description = [{
    ```mlir
    mk_thread.dismiss_copiers lane(%lane) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins I32:$lane, MkThread_CopiersAttr:$copiers);
  let assemblyFormat = "`lane` `(` $lane `)` `copiers` `(` $copiers `)` attr-dict";
  let hasVerifier = 1;
}
def MkThread_ServeCopiesOp : MkThread_CompositeOp<"serve_copies"> {
  let summary = "brings tiles as long as there are requests";
  let description = [{
    By each of the copiers. Elements have one of these sizes. Tiles of requests with a list have one of these numbers of
    rows and of chunks, in pairs; code for each is made.

    ```mlir
    mk_thread.serve_copies sizes [2, 4] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    mk_thread.serve_copies sizes [2] lists [144, 1, 64, 2] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lists,
                       MkThread_CopiersAttr:$copiers);
  let assemblyFormat = "`sizes` $sizes (`lists` $lists^)? `copiers` `(` $copiers `)` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What is not valid of a tile
//===----------------------------------------------------------------------===//

def MkThread_PadTileOp : MkThread_CompositeOp<"pad_tile"> {
  let summary = "writes a pad over what is not valid of a tile in its slot";
  let description = [{
    By a warp, of which this is `lane`. Rows and columns from the first number on and below the second one stay;
    a word of pads is written over the others. The tile has so many rows of `chunks` of 128 bytes, and elements of
    `size` bytes.

    ```mlir
    mk_thread.pad_tile %slot rows(%first, %rows) columns(%first, %columns) of 64 x 2 size 2 pad(%pad) lane(%lane)
    ```
  }];
  let arguments = (ins MkThread_Shared:$tile, I32:$rows_from, I32:$rows_left, I32:$columns_from,
                       I32:$columns_left, ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$chunks, I64Attr:$size, I32:$pad, I32:$lane);
  let assemblyFormat = [{
    $tile `rows` `(` $rows_from `,` $rows_left `)` `columns` `(` $columns_from `,` $columns_left `)`
    `of` $rows `x` $chunks `size` $size `pad` `(` $pad `)` `lane` `(` $lane `)` attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

def MkThread_StoreBufferOp : MkThread_CompositeOp<"store_buffer"> {
  let summary = "stores what exists of a tile's part in a staging buffer, or adds it";
  let description = [{
    By the 128 threads of a warpgroup, of which this is `thread`. The buffer holds `rows` rows of 128 bytes; its first
    element goes to `dest`, others to rows and columns that are so many bytes from each other. It is element
    `row`, `column` of the tile, of which rows and columns from the first number on and below the second one exist.
    With `add` elements are added, atomically at the scope.

    ```mlir
    mk_thread.store_buffer %buffer to %dest strides(%n, %m) at(%row, %column) rows(%first, %rows)
        columns(%first, %columns) of 64 bf16 thread(%thread)
    mk_thread.store_buffer %buffer to %dest strides(%n, %m) at(%row, %column) rows(%first, %rows)
        columns(%first, %columns) of 64 f32 add sys thread(%thread)
    ```
  }];
  let arguments = (ins MkThread_Shared:$source, I64:$dest, I64:$row_stride, I64:$column_stride, I32:$row,
                       I32:$column, I32:$rows_from, I32:$rows_left, I32:$columns_from, I32:$columns_left,
                       ConfinedAttr<I64Attr, [IntPositive]>:$rows, TypeAttr:$element,
                       OptionalAttr<MkThread_Scope>:$add, I32:$thread);
  let assemblyFormat = [{
    $source `to` $dest `strides` `(` $row_stride `,` $column_stride `)` `at` `(` $row `,` $column `)`
    `rows` `(` $rows_from `,` $rows_left `)` `columns` `(` $columns_from `,` $columns_left `)` `of` $rows $element
    (`add` $add^)? `thread` `(` $thread `)` attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles that a warp of its own sends
//===----------------------------------------------------------------------===//

def MkThread_PostedAttr : MkThread_Attr<"Posted", "posted"> {
  let summary = "how a tile that was posted is sent";
  let description = [{
    Each of `groups` warpgroups has `rows` x `columns` elements of the tile, and for them the first of its `buffers`, which
    lie from byte `staging` of shared memory on: `part_rows` rows of a `chunk` of so many elements each, of which
    `piece_rows` are sent at a time. The last chunk ends at `columns`. The tile goes to `peers` ranks; `map` is
    the number of the first rank's map, those of the others follow. It has so many `coordinates`; with `add` it is added.
    `signal` is where the parameters have the array of the signal, -1 if there is none. The barrier at `sent`
    says that the buffers are free.

    ```mlir
    #mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8,
      peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>
    ```
  }];
  let parameters = (ins "int64_t":$groups, "int64_t":$rows, "int64_t":$columns, "int64_t":$part_rows,
                        "int64_t":$chunk, "int64_t":$piece_rows, "int64_t":$staging, "int64_t":$buffers,
                        "int64_t":$peers, "int64_t":$map, "int64_t":$coordinates, "bool":$add,
                        "int64_t":$signal, "int64_t":$sent);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def MkThread_PostTileOp : MkThread_CompositeOp<"post_tile", [AttrSizedOperandSegments]> {
  let summary = "tells the sender in shared memory which tile is to be sent, and where it goes";
  let description = [{
    By the threads of the first warp of those that have staged it, of which this is `thread`; it calls the sender at the named
    `barrier`. It is the tile of the sender's list with this number, from 1 on; 0: there are no more. It is sent where `sends`
    is not 0, else threads have stored it. `element` is that of its signal, coordinates are of its first element. With `span`
    the signal is recorded.

    ```mlir
    mk_thread.post_tile 1 in 512 called at 12 by(%thread) sends(%sends) element(%n) at(%n, %m) on(%a, %b)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, MkThread_Offset:$post,
                       MkThread_NamedBarrier:$barrier, I32:$thread, I32:$sends, I64:$element,
                       Variadic<I64>:$coordinates, Variadic<I64>:$peers, OptionalAttr<MkThread_SpanAttr>:$span);
  let assemblyFormat = [{
    $number `in` $post `called` `at` $barrier `by` `(` $thread `)` `sends` `(` $sends `)` `element` `(` $element `)`
    `at` `(` $coordinates `)` `on` `(` $peers `)` (`span` `(` $span^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_FlushSenderOp : MkThread_CompositeOp<"flush_sender"> {
  let summary = "the sender pauses no more: who posts waits for others, or for the sender";
  let description = [{
    By the threads that post, of which this is `thread`. With `sent`, the offset of the sender's barrier, they wait until
    all that was posted has been sent: until the phase with this `parity` is over.

    ```mlir
    mk_thread.flush_sender in 512 by(%thread)
    mk_thread.flush_sender in 512 by(%thread) until(%parity) sent(520) report(<kind = 9, role = 0, number = -1>)
    ```
  }];
  let arguments = (ins MkThread_Offset:$post, I32:$thread, Optional<I32>:$parity, OptionalAttr<MkThread_Offset>:$sent,
                       OptionalAttr<MkThread_ReportAttr>:$report);
  let assemblyFormat = [{
    `in` $post `by` `(` $thread `)` (`until` `(` $parity^ `)` `sent` `(` $sent `)` `report` `(` $report `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_ServePostsOp : MkThread_CompositeOp<"serve_posts"> {
  let summary = "sends the tiles that are posted until there are no more";
  let description = [{
    By a warp of its own, piece by piece, one of which is under way at a time: a link that all SMs store to takes what
    is under way in turn, and what the engine fetches for the same SM stands behind it. Pieces are spread over three
    quarters of the time since the tile before, over `spread` nanoseconds at most, unless the consumer waits for others;
    all that is left is sent at once where it waits for the sender. The warp is called at the named `barrier`.

    ```mlir
    mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8,
      peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>] in 512 called at 12
      spread 37500
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<MkThread_PostedAttr, "posted tiles">:$tiles, MkThread_Offset:$post,
                       I64Attr:$barrier, ConfinedAttr<I64Attr, [IntNonNegative]>:$spread);
  let assemblyFormat = "$tiles `in` $post `called` `at` $barrier `spread` $spread attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_TILE_OPS
