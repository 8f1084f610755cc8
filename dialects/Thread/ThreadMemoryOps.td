//===- ThreadMemoryOps.td - Accesses to memory --------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_MEMORY_OPS
#define MKERNEL_THREAD_MEMORY_OPS

include "ThreadBase.td"

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def MkThread_LoadSharedOp : MkThread_EffectOp<"load_shared"> {
  let summary = "loads a word from shared memory where it stands";
  let description = [{
    LLVM neither moves nor merges it, so that the value takes no register from one use to the
    next. Without an address the offset is one in the kernel's shared memory.

    ```mlir
    %v = mk_thread.load_shared %slot + 8 : i32
    %f = mk_thread.load_shared 1032 : i32
    ```
  }];
  let arguments = (ins Optional<MkThread_Shared>:$address, MkThread_Offset:$offset);
  let results = (outs AnyTypeOf<[I16, I32, I64]>:$result);
  let assemblyFormat = "($address^ `+`)? $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def MkThread_StoreSharedOp : MkThread_EffectOp<"store_shared"> {
  let summary = "stores a word in shared memory where it stands";
  let description = [{
    ```mlir
    mk_thread.store_shared %w0, %slot + 8 : i32
    mk_thread.store_shared %w0, 1032 : i32
    ```
  }];
  let arguments = (ins I32:$value, Optional<MkThread_Shared>:$address, MkThread_Offset:$offset);
  let assemblyFormat = "$value `,` ($address^ `+`)? $offset attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Under a condition, without a branch
//===----------------------------------------------------------------------===//

def MkThread_LoadOp : MkThread_EffectOp<"load", [AttrSizedOperandSegments]> {
  let summary = "loads words, or keeps what there was where a condition does not hold";
  let description = [{
    From global memory (an i64) or shared memory (an i32): `bytes` in all, as words of 4 bytes, or as
    one value of 1, 2 or 8; a single byte becomes an i16. The condition is a word: other than 0, with
    `not` 0. There is no branch: beside products these are expensive.

    ```mlir
    %v = mk_thread.load %slot, 4 : i32 -> i32
    %c, %d = mk_thread.load %address, 8 if %exists else (%w0, %w1 : i32, i32) : i64 -> i32, i32
    %e = mk_thread.load %address, 2 if not %gone else (%bits : i16) : i64 -> i16
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64]>:$address, I64Attr:$bytes, Optional<I32>:$condition,
                       UnitAttr:$inverted, Variadic<AnyTypeOf<[I16, I32, I64]>>:$otherwise);
  let results = (outs Variadic<AnyTypeOf<[I16, I32, I64]>>:$results);
  let assemblyFormat = [{
    $address `,` $bytes (`if` (`not` $inverted^)? $condition^ `else` `(` $otherwise `:` type($otherwise) `)`)? attr-dict
    `:` type($address) `->` type($results)
  }];
  let builders = [OpBuilder<(ins "TypeRange":$types, "Value":$address, "int64_t":$bytes,
                                 CArg<"Value", "{}">:$condition, CArg<"ValueRange", "{}">:$otherwise,
                                 CArg<"bool", "false">:$inverted),
                            "build($_builder, $_state, types, address, bytes, condition, inverted, otherwise);">];
  let hasVerifier = 1;
}
def MkThread_StoreOp : MkThread_EffectOp<"store", [AttrSizedOperandSegments]> {
  let summary = "stores words, or adds an element, where a condition holds";
  let description = [{
    As `load`. With `add` the value is added to an element of this type in global memory, atomically at
    the scope.

    ```mlir
    mk_thread.store %w0, %w1 : i32, i32 to %address : i64 bytes(8) if %exists
    mk_thread.store %x : f32 to %address : i64 bytes(4) add(f32, gpu)
    ```
  }];
  let arguments = (ins Variadic<MkThread_Word>:$words, AnyTypeOf<[I32, I64]>:$address,
                       I64Attr:$bytes, Optional<I32>:$condition, UnitAttr:$inverted,
                       OptionalAttr<TypeAttr>:$add, OptionalAttr<MkThread_Scope>:$scope);
  let assemblyFormat = [{
    $words `:` type($words) `to` $address `:` type($address) `bytes` `(` $bytes `)`
    (`if` (`not` $inverted^)? $condition^)? (`add` `(` $add^ `,` $scope `)`)? attr-dict
  }];
  let builders = [OpBuilder<(ins "ValueRange":$words, "Value":$address, "int64_t":$bytes,
                                 CArg<"Value", "{}">:$condition, CArg<"bool", "false">:$inverted),
                            "build($_builder, $_state, words, address, bytes, condition, inverted, TypeAttr(), MemScopeAttr());">];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Words that other threads access as well
//===----------------------------------------------------------------------===//

def MkThread_AtomicAddOp : MkThread_EffectOp<"atomic_add", [AllTypesMatch<["amount", "result"]>]> {
  let summary = "adds to a word in global memory and gives what was there";
  let description = [{
    ```mlir
    %before = mk_thread.atomic_add acq_rel gpu %address, %one : i32
    ```
  }];
  let arguments = (ins MkThread_Order:$order, MkThread_Scope:$scope, MkThread_Global:$address,
                       AnyTypeOf<[I32, I64]>:$amount);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$order $scope $address `,` $amount attr-dict `:` type($amount)";
}
def MkThread_ReduceAddOp : MkThread_EffectOp<"reduce_add"> {
  let summary = "adds to a word in global memory";
  let description = [{
    Relaxed or release: nothing is read that could be acquired.

    ```mlir
    mk_thread.reduce_add release sys %address, %one : i32
    ```
  }];
  let arguments = (ins MkThread_Order:$order, MkThread_Scope:$scope, MkThread_Global:$address,
                       AnyTypeOf<[I32, I64]>:$amount);
  let assemblyFormat = "$order $scope $address `,` $amount attr-dict `:` type($amount)";
  let hasVerifier = 1;
}
def MkThread_LoadAtomicOp : MkThread_EffectOp<"load_atomic"> {
  let summary = "loads a word of global memory that others write, acquire or relaxed";
  let description = [{
    ```mlir
    %seen = mk_thread.load_atomic acquire sys %address : i32
    ```
  }];
  let arguments = (ins MkThread_Order:$order, MkThread_Scope:$scope, MkThread_Global:$address);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$order $scope $address attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def MkThread_StoreAtomicOp : MkThread_EffectOp<"store_atomic"> {
  let summary = "stores a word of global memory that others read, release or relaxed";
  let description = [{
    ```mlir
    mk_thread.store_atomic release gpu %one, %address : i32
    ```
  }];
  let arguments = (ins MkThread_Order:$order, MkThread_Scope:$scope, AnyTypeOf<[I32, I64]>:$value,
                       MkThread_Global:$address);
  let assemblyFormat = "$order $scope $value `,` $address attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def MkThread_StoreCommandOp : MkThread_EffectOp<"store_command"> {
  let summary = "stores half a command for the proxy in one access";
  let description = [{
    Whoever sees one of its bits sees all of them (mkernel/ABI/Command.h).

    ```mlir
    mk_thread.store_command %n, %m to %address
    ```
  }];
  let arguments = (ins I64:$low, I64:$high, MkThread_Global:$address);
  let assemblyFormat = "$low `,` $high `to` $address attr-dict";
}

#endif // MKERNEL_THREAD_MEMORY_OPS
