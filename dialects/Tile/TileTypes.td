//===- TileTypes.td - Types of the tile dialect -------------*- tablegen -*-===//
#ifndef MKERNEL_TILE_TYPES
#define MKERNEL_TILE_TYPES

include "TileAttrs.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Mk_Type<string name, string mnemonic_, list<Trait> traits = []>
    : TypeDef<Mk_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def Mk_SignalType : Mk_Type<"Signal", "signal"> {
  let summary = "an array of arrival counts";
  let description = [{
    Each element counts arrivals for ever: nothing is zeroed between launches.
    The scope says who may raise it: `gpu`, CTAs of the owner's GPU; `sys`, any rank.
    The third parameter says how many arrivals each element gets in one launch:
    `arrivals = n`; `arrivals = ?`, a number fixed for the launch that `mk.signals` is
    given as an operand; or `dynamic`, known only when every peer has closed the
    launch. A wait asks for a number of arrivals *of this launch*.

    With a fixed number an element may also get none at all in a launch as long
    as it does so in every launch and nothing waits for it.

    ```mlir
    !mk.signal<?, sys, arrivals = 1>
    !mk.signal<?x?, sys, dynamic>
    ```
  }];
  // arrivals: > 0, kRuntimeArrivals or kDynamicArrivals.
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::mk::Scope":$scope,
                        "int64_t":$arrivals);
  let extraClassDeclaration = [{
    static constexpr int64_t kDynamicArrivals = -1;
    static constexpr int64_t kRuntimeArrivals = -2;
    bool isDynamic() const { return getArrivals() == kDynamicArrivals; }
    bool hasRuntimeArrivals() const { return getArrivals() == kRuntimeArrivals; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mk_CounterType : Mk_Type<"Counter", "counter"> {
  let summary = "an array of rank-local counters";
  let description = [{
    Zero at the start of each launch; `mk.count` adds and returns the value
    before, which makes the last arriver known to itself.

    ```mlir
    !mk.counter<?>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mk_QueueType : Mk_Type<"Queue", "queue"> {
  let summary = "a rank-local queue of records";
  let description = [{
    Capacity and width of a record, in words of the element type. Empty at the
    start of each launch; roles push records, `mk.foreach_item` visits them.

    ```mlir
    !mk.queue<?x2xi32>
    ```
  }];
  let parameters = (ins "int64_t":$capacity, "int64_t":$width, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // MKERNEL_TILE_TYPES
