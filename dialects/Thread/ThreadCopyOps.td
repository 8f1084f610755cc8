//===- ThreadCopyOps.td - The copy engine -------------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_COPY_OPS
#define MKERNEL_THREAD_COPY_OPS

include "ThreadBase.td"

def MkThread_PrefetchMapOp : MkThread_EffectOp<"prefetch_map"> {
  let summary = "brings a tensor map close";
  let description = [{
    ```mlir
    mk_thread.prefetch_map %map : !llvm.ptr
    ```
  }];
  let arguments = (ins MkThread_Map:$map);
  let assemblyFormat = "$map attr-dict `:` type($map)";
}
def MkThread_CopyTensorOp : MkThread_EffectOp<"copy_tensor", [AttrSizedOperandSegments]> {
  let summary = "starts to copy a box of a tensor into shared memory";
  let description = [{
    Coordinates, outermost first, are in elements; what lies outside of the tensor is 0. The bytes
    are counted by the barrier. With `ctas`, a bit for each, they come to the same place of each of these
    CTAs of the cluster, and are counted by its barrier there. With `once` the L2 cache gives the box up
    before anything else.

    ```mlir
    mk_thread.copy_tensor %map[%row, %column] to %slot counted by %full once : !llvm.ptr
    mk_thread.copy_tensor %map[%row, %column] to %slot counted by %full ctas(%bits) : !llvm.ptr
    ```
  }];
  let arguments = (ins MkThread_Map:$map, Variadic<I32>:$coordinates, MkThread_Shared:$dest,
                       MkThread_Shared:$barrier, Optional<I16>:$ctas, UnitAttr:$once);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $dest `counted` `by` $barrier (`ctas` `(` $ctas^ `)`)?
    (`once` $once^)? attr-dict `:` type($map)
  }];
  let hasVerifier = 1;
}
def MkThread_StoreTensorOp : MkThread_EffectOp<"store_tensor"> {
  let summary = "starts to copy a box from shared memory into a tensor, or to add it there";
  let description = [{
    What lies outside of the tensor is dropped.

    ```mlir
    mk_thread.store_tensor %buffer to %map[%row, %column] : !llvm.ptr
    mk_thread.store_tensor %buffer to %map[%row, %column] add : !llvm.ptr
    ```
  }];
  let arguments = (ins MkThread_Shared:$source, MkThread_Map:$map, Variadic<I32>:$coordinates,
                       UnitAttr:$add);
  let assemblyFormat = [{
    $source `to` $map `[` $coordinates `]` (`add` $add^)? attr-dict `:` type($map)
  }];
  let hasVerifier = 1;
}
def MkThread_CopyBulkOp : MkThread_EffectOp<"copy_bulk"> {
  let summary = "starts to copy bytes from global into shared memory";
  let description = [{
    Addresses and bytes are multiples of 16.

    ```mlir
    mk_thread.copy_bulk %source to %slot, %bytes counted by %full
    ```
  }];
  let arguments = (ins MkThread_Global:$source, MkThread_Shared:$dest, I32:$bytes,
                       MkThread_Shared:$barrier);
  let assemblyFormat = "$source `to` $dest `,` $bytes `counted` `by` $barrier attr-dict";
  let hasVerifier = 1;
}
def MkThread_CopyPieceOp : MkThread_EffectOp<"copy_piece"> {
  let summary = "starts to copy 16 bytes from global into shared memory, or to write zeros there";
  let description = [{
    Zeros where the word is other than 0. One of a group of such copies (PTX ISA, "cp.async"). Addresses are multiples of 16.

    ```mlir
    mk_thread.copy_piece %source to %slot unless %gone
    ```
  }];
  let arguments = (ins MkThread_Global:$source, MkThread_Shared:$dest, I32:$gone);
  let assemblyFormat = "$source `to` $dest `unless` $gone attr-dict";
}
def MkThread_StoreBulkOp : MkThread_EffectOp<"store_bulk"> {
  let summary = "starts to copy bytes from shared into global memory, or to add elements there";
  let description = [{
    Addresses and bytes are multiples of 16.

    ```mlir
    mk_thread.store_bulk %slot to %dest, %bytes
    mk_thread.store_bulk %slot to %dest, %bytes add(f32)
    ```
  }];
  let arguments = (ins MkThread_Shared:$source, MkThread_Global:$dest, I32:$bytes,
                       OptionalAttr<TypeAttr>:$add);
  let assemblyFormat = "$source `to` $dest `,` $bytes (`add` `(` $add^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_CommitGroupOp : MkThread_EffectOp<"commit_group"> {
  let summary = "the stores that this thread has started since the last one are a group";
  let description = [{
    ```mlir
    mk_thread.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_WaitGroupOp : MkThread_EffectOp<"wait_group"> {
  let summary = "waits until at most so many groups of stores are under way";
  let description = [{
    With `read` it is enough that their source has been read.

    ```mlir
    mk_thread.wait_group 0
    mk_thread.wait_group 1 read
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

#endif // MKERNEL_THREAD_COPY_OPS
