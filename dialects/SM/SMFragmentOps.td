//===- SMFragmentOps.td - When fragments are computed ------*- tablegen -*-===//
#ifndef MKERNEL_SM_FRAGMENT_OPS
#define MKERNEL_SM_FRAGMENT_OPS

include "SMOpBase.td"

def MkSM_DeferOp : MkSM_Op<"defer", [Pure, SameOperandsAndResultType]> {
  let summary = "has a fragment's elements computed where they are taken";
  let description = [{
    The tile as it is. The op that makes `source`, an elementwise op, a transposition within threads, a broadcast or a load, is done
    for each element by the op that takes it, so that the tile is never whole in registers. Nothing else
    takes `source`, and what takes the result stands in the same block. A load waits only past ops that do not write, one of
    an input past any. So many elements of each thread as `ahead` says are loaded here (mk-sm-hoist-loads).

    ```mlir
    %t = arith.truncf %x : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>> to tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
    %d = mk_sm.defer %t : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
    %e = mk_sm.defer %r ahead(32) : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$ahead);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source (`ahead` `(` $ahead^ `)`)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}
def MkSM_MaterializeOp : MkSM_Op<"materialize", [Pure, SameOperandsAndResultType]> {
  let summary = "has what is deferred to a store computed once";
  let description = [{
    The tile as it is. A store from registers has two ways, in runs and one by one, and what is deferred to it (`mk_sm.defer`) is
    computed in each. With this op it is computed once, in front of both. Only `mk.store` takes the result.

    ```mlir
    %w = mk_sm.materialize %d : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
    mk.store %w, %c[%i, %j] : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>, memref<?x?xbf16>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}
def MkSM_RescaleOp : MkSM_EffectOp<"rescale", [AllTypesMatch<["source", "result"]>]> {
  let summary = "scales rows or columns of an accumulator by factors that are mostly one";
  let description = [{
    Multiplies each element by that of `factors`, a slice without dimension `axis`: the product with `mk.broadcast` of them. A
    warp whose factors are all one goes past the products. With `in_flight` the source is the result of matrix ops in flight: a
    warp looks at its factors first, and then waits for all of them (`mk_sm.mma_wait 0`).

    ```mlir
    %n = mk_sm.rescale %x by %f along 1
        : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
    ```
  }];
  let arguments = (ins MkSM_Fragment:$source, MkSM_Fragment:$factors, I64Attr:$axis, UnitAttr:$in_flight);
  let results = (outs MkSM_Fragment:$result);
  let assemblyFormat = "(`in_flight` $in_flight^)? $source `by` $factors `along` $axis attr-dict `:` type($source) `,` type($factors)";
  let hasVerifier = 1;
}

#endif // MKERNEL_SM_FRAGMENT_OPS
