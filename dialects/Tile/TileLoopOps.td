//===- TileLoopOps.td - Iteration ---------------------------*- tablegen -*-===//
#ifndef MKERNEL_TILE_LOOP_OPS
#define MKERNEL_TILE_LOOP_OPS

include "TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Mk_ForeachOp : Mk_Op<"foreach", [AttrSizedOperandSegments, SingleBlock, NoTerminator,
                                     RecursiveMemoryEffects]> {
  let summary = "visits every item of an index space";
  let description = [{
    The outermost loop of a role is distributed over the role's CTAs by its
    schedule; inner ones run in order. Bounds may be run-time values, also
    zero; negative ones count as zero. `own` names the range of the first dimension
    that an order with `own = ...` speaks of. `likely` says how many items have something to do, as far as
    is known, where the bounds say how many there are at most, or are read from memory: the cost model counts so
    many, none if the number is negative. No result depends on it.

    ```mlir
    mk.foreach (%m, %n) in (%mt, %nt) schedule(ticket)
        order(raster = 8, own = first) own(%first, %count) { ... }
    mk.foreach (%t) in (%most_tiles) likely(%tiles) { ... }
    ```
  }];
  let arguments = (ins Variadic<Index>:$bounds, Optional<Index>:$likely, Variadic<Index>:$own,
                       OptionalAttr<Mk_ScheduleAttr>:$schedule,
                       OptionalAttr<Mk_OrderAttr>:$order);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ScheduleKind getScheduleKind();
  }];
}

// It waits for what others push, also where nothing is done with it.
def Mk_ForeachItemOp : Mk_Op<"foreach_item", [SingleBlock, NoTerminator,
                                              MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "visits the records pushed to a queue";
  let description = [{
    Visits `count` records in the order pushed, as CTAs become free, waiting
    for those not pushed yet; each record is visited once for every index of
    the inner space. Another loop over the queue begins with the first record again:
    two roles that visit one queue get all of its records each, and share none.

    ```mlir
    mk.foreach_item (%b, %e) of %q count(%tiles), (%f) in (%nf) : !mk.queue<?x2xi32> { ... }
    ```
  }];
  let arguments = (ins Mk_QueueType:$queue, Index:$count, Variadic<Index>:$bounds);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Mk_ForeachPeerOp : Mk_Op<"foreach_peer", [SingleBlock, NoTerminator, RecursiveMemoryEffects,
                                              DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "visits the ranks that differ from this one along some axes only";
  let description = [{
    In order, starting behind the own rank, so that ranks do not all address
    the same peer first. The own rank comes last if `including self` is said.

    ```mlir
    mk.foreach_peer (%p) along gpu { ... }
    mk.foreach_peer (%p) along node, gpu including self { ... }
    ```
  }];
  let arguments = (ins StrArrayAttr:$axes, UnitAttr:$including_self);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Whether all of the ranks, if there are any, are reached so.
    bool isAlong(MeshOp mesh, LinkKind kind);
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Mk_FoldOp : Mk_Op<"fold", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
                               AllTypesMatch<["inits", "results"]>,
                               DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a sequential loop that carries tiles";
  let description = [{
    Runs the body for 0 .. count-1 (never if count <= 0) and returns what the
    last iteration yields, or the initial tiles. `combine` says how results of
    two parts of the range that both started from the initial tiles are put
    together, which allows to split the range: a reduction, which also allows to go through it in
    any order, or a function of (left tiles..., right tiles...) returning tiles. Each part begins
    with the initial tiles, which must be neutral: for `max` and `min` all are, as they may be
    counted any number of times.

    ```mlir
    %acc = mk.fold (%k) in (%kt) iter(%c = %zero) combine(add) : tensor<128x256xf32> {
      ...
      mk.yield %next : tensor<128x256xf32>
    }
    ```
  }];
  let arguments = (ins Index:$count, Variadic<AnyType>:$inits, OptionalAttr<AnyAttr>:$combine);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // MKERNEL_TILE_LOOP_OPS
