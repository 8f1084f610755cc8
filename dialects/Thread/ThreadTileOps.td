//===- ThreadTileOps.td - Tiles in shared memory ------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_TILE_OPS
#define MKERNEL_THREAD_TILE_OPS

include "ThreadBase.td"

// A tile lies in shared memory in columns of chunks of 128 bytes, whose pieces of 16 bytes are
// swizzled: piece p of row r lies at p ^ (r % 8).

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
def MkThread_RequestCopyOp : MkThread_EffectOp<"request_copy"> {
  let summary = "asks the copiers to bring a tile into its slot";
  let description = [{
    By a warp, of which this is `lane`. The tile begins at `base` of an argument that begins at `start`; its rows and
    elements are `row_stride` and `column_stride` bytes from each other. Of its rows, and of the bytes of
    a row, those from the first number on and below the second one exist; the others become 0. The tile has so
    many rows of `chunks` of 128 bytes, and elements of `size` bytes. The barrier waits for a byte of each copier.

    ```mlir
    mk_thread.request_copy %a in %b strides(%n, %m) rows(%first, %rows) bytes(%first, %bytes)
        of 64 x 2 size 2 to %slot counted by %full lane(%lane)
        copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins I64:$base, I64:$start, I64:$row_stride, I64:$column_stride, I32:$rows_from,
                       I32:$rows_left, I32:$bytes_from, I32:$bytes_left,
                       ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       ConfinedAttr<I64Attr, [IntPositive]>:$chunks, I64Attr:$size,
                       MkThread_Shared:$dest, MkThread_Shared:$barrier, I32:$lane,
                       MkThread_CopiersAttr:$copiers);
  let assemblyFormat = [{
    $base `in` $start `strides` `(` $row_stride `,` $column_stride `)` `rows` `(` $rows_from `,` $rows_left `)`
    `bytes` `(` $bytes_from `,` $bytes_left `)` `of` $rows `x` $chunks `size` $size `to` $dest
    `counted` `by` $barrier `lane` `(` $lane `)` `copiers` `(` $copiers `)` attr-dict
  }];
  let hasVerifier = 1;
}
def MkThread_DismissCopiersOp : MkThread_EffectOp<"dismiss_copiers"> {
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
def MkThread_ServeCopiesOp : MkThread_EffectOp<"serve_copies"> {
  let summary = "brings tiles as long as there are requests";
  let description = [{
    By each of the copiers. Elements have one of these sizes.

    ```mlir
    mk_thread.serve_copies sizes [2, 4] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$sizes, MkThread_CopiersAttr:$copiers);
  let assemblyFormat = "`sizes` $sizes `copiers` `(` $copiers `)` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What is not valid of a tile
//===----------------------------------------------------------------------===//

def MkThread_TrimTileOp : MkThread_EffectOp<"trim_tile"> {
  let summary = "writes a pad over what is not valid of a tile in its slot";
  let description = [{
    By a warp, of which this is `lane`. Rows and columns from the first number on and below the second one stay;
    a word of pads is written over the others. The tile has so many rows of `chunks` of 128 bytes, and elements of
    `size` bytes.

    ```mlir
    mk_thread.trim_tile %slot rows(%first, %rows) columns(%first, %columns) of 64 x 2 size 2 pad(%pad) lane(%lane)
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

#endif // MKERNEL_THREAD_TILE_OPS
