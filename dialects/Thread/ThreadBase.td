//===- ThreadBase.td - The thread dialect -------------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_BASE
#define MKERNEL_THREAD_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MkThread_Dialect : Dialect {
  let name = "mk_thread";
  let cppNamespace = "::mlir::mk_thread";
  let summary = "What one thread of a persistent kernel does with the machine";
  let description = [{
    The thread level. A kernel is code of one thread: integers are `arith`, control flow is
    `scf`, and each op of this dialect is one thing that the thread does with the machine:
    it arrives at a barrier or waits there, starts a copy or a matrix product, fences, raises a
    word, waits for one with a deadline, writes a command for the proxy.

    Addresses are integers: an `i32` in shared memory, an `i64` in global memory. Stages and
    parities are values. Nothing here knows tiles, roles or channels.

    Ops that LLVM must neither move nor merge read and write memory, as far as MLIR knows.
  }];
  let useDefaultAttributePrinterParser = 1;
  // The first for #mk.target, which says what the machine takes.
  let dependentDialects = ["::mlir::mk::MkDialect", "::mlir::LLVM::LLVMDialect"];
  let extraClassDeclaration = [{
    /// Names the op that is meant, probably.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef) const override {
      return ::mlir::mk::refuseUnknownOp;
    }

    void registerAttrs();
  }];
}

/// Somewhere in a kernel: nothing else is lowered.
def MkThread_InKernel : NativeOpTrait<"InKernel"> {
  let cppNamespace = "::mlir::mk_thread";
}
class MkThread_Op<string mnemonic, list<Trait> traits = []>
    : Op<MkThread_Dialect, mnemonic, !listconcat([MkThread_InKernel], traits)>;

/// An op with an effect on the machine that MLIR does not model further.
class MkThread_EffectOp<string mnemonic, list<Trait> traits = []>
    : MkThread_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

/// Work of several steps: a pass of lib/Transforms/Thread expands it, and the conversion to LLVM does not know it.
def MkThread_Composite : NativeOpTrait<"Composite"> {
  let cppNamespace = "::mlir::mk_thread";
}
class MkThread_CompositeOp<string mnemonic, list<Trait> traits = []>
    : MkThread_EffectOp<mnemonic, !listconcat([MkThread_Composite], traits)>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def MkThread_Scope : I32EnumAttr<"MemScope", "which threads an access is ordered for", [
    I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Gpu", 1, "gpu">,
    I32EnumAttrCase<"Sys", 2, "sys">]> {
  let cppNamespace = "::mlir::mk_thread";
}
def MkThread_Order : I32EnumAttr<"MemOrder", "order of an atomic access (PTX ISA, .sem)", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Release", 1, "release">,
    I32EnumAttrCase<"Acquire", 2, "acquire">, I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::mlir::mk_thread";
}
def MkThread_Approximation
    : I32EnumAttr<"Approximation", "a function that the hardware approximates", [
          I32EnumAttrCase<"Rcp", 0, "rcp">, I32EnumAttrCase<"Sin", 1, "sin">, I32EnumAttrCase<"Cos", 2, "cos">]> {
  let cppNamespace = "::mlir::mk_thread";
}
def MkThread_Clock
    : I32EnumAttr<"SpanClock", "which begin of a span a track keeps", [
          I32EnumAttrCase<"Role", 1, "role">, I32EnumAttrCase<"Item", 2, "item">,
          I32EnumAttrCase<"Op", 4, "op">, I32EnumAttrCase<"Wait", 6, "wait">]> {
  let cppNamespace = "::mlir::mk_thread";
}

class MkThread_Attr<string name, string mnemonic_> : AttrDef<MkThread_Dialect, name> {
  let mnemonic = mnemonic_;
}
def MkThread_FrameAttr : MkThread_Attr<"Frame", "frame"> {
  let summary = "where ops that report find what they need";
  let description = [{
    `launch` is the offset of `mk_gpu_launch` in the parameters (mkernel/ABI/Gpu.h); `failed` that
    of the word in shared memory that says that the CTA has failed. Where times are recorded
    (mkernel/ABI/Timeline.h), `timeline` is the offset of the tracks' address in the parameters,
    `tracks` their number in a CTA, at most 8, and `words` the offset of their words in shared
    memory: 32 bytes each for 8 tracks and for one that nobody reads.

    ```mlir
    #mk_thread.frame<launch = 64, failed = 1032>
    #mk_thread.frame<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>
    ```
  }];
  let parameters = (ins "int64_t":$launch, "int64_t":$failed,
                        DefaultValuedParameter<"int64_t", "0">:$timeline,
                        DefaultValuedParameter<"int64_t", "0">:$tracks,
                        DefaultValuedParameter<"int64_t", "0">:$words);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def MkThread_SpanAttr : MkThread_Attr<"Span", "span"> {
  let summary = "what a record of time says, and on which track it is";
  let description = [{
    `what` packs kind, role, object and site (`MK_TIMELINE_WHAT`, mkernel/ABI/Timeline.h). `track`
    is the number of the track; -1: that of the thread's warpgroup. `thread` is the one that records,
    if it is not the first of the warpgroup with the track's number.

    ```mlir
    #mk_thread.span<what = 4097, track = 1>
    #mk_thread.span<what = 4097, track = 3, thread = 96>
    ```
  }];
  let parameters = (ins "int64_t":$what, "int64_t":$track,
                        DefaultValuedParameter<"int64_t", "-1">:$thread);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def MkThread_ReportAttr : MkThread_Attr<"Report", "report"> {
  let summary = "what a report of a failure says from the start";
  let description = [{
    `kind` is one of `MK_WAIT_*` or `MK_FAIL_*` (mkernel/ABI/Gpu.h), `role` the number of the role,
    -1 outside of roles, `number` that of what is waited for, or of the site.

    ```mlir
    #mk_thread.report<kind = 1, role = 0, number = 2>
    ```
  }];
  let parameters = (ins "int64_t":$kind, "int64_t":$role, "int64_t":$number);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types of operands
//===----------------------------------------------------------------------===//

/// Addresses in shared memory and in global memory.
defvar MkThread_Shared = I32;
defvar MkThread_Global = I64;
/// What fits one register, or two.
def MkThread_Word : AnyTypeOf<[I16, I32, I64, BF16, F16, F32, F64], "a value of 2, 4 or 8 bytes">;
/// The address of a tensor map: in the parameters, or in global memory.
def MkThread_Map : AnyTypeOf<[I64, LLVM_AnyPointer], "the address of a tensor map">;
/// The number of a named barrier; all threads of the CTA are at 0.
def MkThread_NamedBarrier : ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<15>]>;
/// Bytes from an address, or from the start of the parameters or of shared memory.
def MkThread_Offset : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2147483647>]>;

#endif // MKERNEL_THREAD_BASE
