//===- ThreadLaunchOps.td - The kernel and its launch -------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_LAUNCH_OPS
#define MKERNEL_THREAD_LAUNCH_OPS

include "ThreadBase.td"
include "mlir/IR/SymbolInterfaces.td"

def MkThread_KernelOp
    : Op<MkThread_Dialect, "kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator,
                                      HasParent<"::mlir::ModuleOp">]> {
  let summary = "the code of one thread";
  let description = [{
    `threads` of a CTA, CTAs of a `cluster`, bytes of the `params` block and of `shared` memory. A
    module with several is not lowered. The body has no arguments: `param` reads the parameters.

    ```mlir
    mk_thread.kernel @mk_kernel threads(384) cluster(1) params(512) shared(196608)
        frame(<launch = 64, failed = 1032>) {
      mk_thread.sync_cta
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$threads, I64Attr:$cluster,
                       I64Attr:$param_bytes, I64Attr:$shared_bytes, MkThread_FrameAttr:$frame);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `threads` `(` $threads `)` `cluster` `(` $cluster `)` `params` `(` $param_bytes `)`
    `shared` `(` $shared_bytes `)` `frame` `(` $frame `)` attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def MkThread_ThreadIdOp : MkThread_EffectOp<"thread_id"> {
  let summary = "the number of the thread in its CTA, read where it stands";
  let description = [{
    Read anew instead of kept, where a register costs more than an instruction. With `pinned`
    LLVM does not move it across accesses to memory either.

    ```mlir
    %t = mk_thread.thread_id
    ```
  }];
  let arguments = (ins UnitAttr:$pinned);
  let results = (outs I32:$result);
  let assemblyFormat = "(`pinned` $pinned^)? attr-dict";
}
def MkThread_CtaIdOp : MkThread_EffectOp<"cta_id"> {
  let summary = "the number of the CTA in the grid, read where it stands";
  let description = [{
    ```mlir
    %c = mk_thread.cta_id
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def MkThread_ParamOp : MkThread_Op<"param", [MemoryEffects<[MemRead]>]> {
  let summary = "a word of the parameters";
  let description = [{
    The word `offset` bytes from the start of the block. With `pinned` it is read where it
    stands: LLVM would read it once and keep it. Words have 4 or 8 bytes, pinned ones 8.

    ```mlir
    %n = mk_thread.param 16 : i64
    %p = mk_thread.param pinned 24 : i64
    ```
  }];
  let arguments = (ins MkThread_Offset:$offset, UnitAttr:$pinned);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "(`pinned` $pinned^)? $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def MkThread_ParamAddressOp : MkThread_Op<"param_address", [Pure]> {
  let summary = "where something lies in the parameters";
  let description = [{
    `offset` bytes from the start of the block, and with `index` as many more.

    ```mlir
    %first = mk_thread.param_address 128
    %map = mk_thread.param_address 128, %offset
    ```
  }];
  let arguments = (ins MkThread_Offset:$offset, Optional<I32>:$index);
  let results = (outs LLVM_PointerInAddressSpace<0>:$result);
  let builders = [OpBuilder<(ins "int64_t":$offset, CArg<"::mlir::Value", "{}">:$index)>];
  let assemblyFormat = "$offset (`,` $index^)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_SharedBaseOp : MkThread_EffectOp<"shared_base"> {
  let summary = "the address of the kernel's shared memory, and `offset` bytes";
  let description = [{
    With `pinned` it is found where it stands: LLVM would keep one value for the whole kernel. Only
    then may there be an offset.

    ```mlir
    %s = mk_thread.shared_base 0
    %word = mk_thread.shared_base pinned 1032
    ```
  }];
  let arguments = (ins MkThread_Offset:$offset, UnitAttr:$pinned);
  let results = (outs MkThread_Shared:$result);
  let assemblyFormat = "(`pinned` $pinned^)? $offset attr-dict";
  let hasVerifier = 1;
}

#endif // MKERNEL_THREAD_LAUNCH_OPS
