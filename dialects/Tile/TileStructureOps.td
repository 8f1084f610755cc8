//===- TileStructureOps.td - Meshes, kernels, roles ---------*- tablegen -*-===//
#ifndef MKERNEL_TILE_STRUCTURE_OPS
#define MKERNEL_TILE_STRUCTURE_OPS

include "TileTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Mk_MeshOp : Mk_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "the ranks a kernel runs on";
  let description = [{
    Names the axes of the machine from slowest to fastest, with what connects
    ranks that differ along each. Sizes are `?` until bound. The linear rank
    counts the last axis fastest.

    ```mlir
    mk.mesh @mesh (node = ? via net, gpu = ? via link)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$axes);
  let assemblyFormat = "$sym_name `(` custom<Axes>($axes) `)` attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumAxes() { return getAxes().size(); }
    AxisAttr getAxis(unsigned i);
    /// Index of the axis with this name, or -1.
    int64_t findAxis(::llvm::StringRef name);
    /// Number of ranks, or kDynamic while an axis is unbound.
    int64_t getNumRanks();
    /// How far apart ranks are that differ by one along an axis; all axes are bound.
    int64_t getStride(unsigned axis);
    /// Where a rank is along an axis; all axes are bound.
    int64_t getCoordinate(int64_t rank, unsigned axis);
    /// Whether a network may be between two of them.
    bool hasNet();
    /// A net axis along which two ranks differ; empty if links lead there.
    ::llvm::StringRef findNetAxis(int64_t from, int64_t to);
    /// The axis names, for messages.
    std::string describeAxes();
  }];
}

def Mk_KernelOp : Mk_Op<"kernel", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>, Mk_Ranged,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one persistent kernel for each rank of a mesh";
  let description = [{
    `dims` are run-time sizes, as `index` values: `uniform` ones are the same on every
    rank, `rank` ones are each rank's own. Each argument says what it is for (`in`,
    `out`, `inout`, `scratch`), its memref type, its shape as affine expressions of the
    dimensions and of the sizes of the axes that `sizes` lists, and how its dimensions are
    split over axes. A split dimension of extent E over n ranks gives rank s the
    elements [min(s*c, E), min((s+1)*c, E)) with c = ceil(E / n); shards may be uneven
    or empty. Where an extent depends on a `rank` dimension it is the rank's own extent
    and the global one is the sum. Without `split` each rank holds the whole.

    The body holds pure scalar ops, the declarations of signals, counters and
    queues, an optional `mk.prepare`, and roles; all of them are evaluated by every CTA
    except roles, which are given to CTAs as their `ctas` says. When a role is done the
    CTA goes on with the role that `then` names, if any. The kernel ends on a rank
    when all roles have ended and everything that peers write to it has arrived.

    Beside ops of `mk` there may be `arith` and `math`, `tensor.splat`, `tensor.extract` and
    `tensor.dim`, `scf.for`, `scf.if` and `scf.while`, `memref.load`, `memref.store` and
    `memref.dim`, and calls of functions, which are inlined. Buffers are arguments, or chosen by
    `mk.select`. All else is refused, since the checks for deadlocks and races would skip it.

    ```mlir
    mk.kernel @copy on @mesh sizes(node, gpu) dims(uniform M, uniform K) (
        in %a : memref<?x?xbf16, #mk.symmetric> [M, K] split [(node, gpu), ()],
        out %b : memref<?x?x?xbf16, #mk.symmetric> [node * gpu, M, K]) {
      ...
    }
    ```
    Inside, the dimensions are the values `%M` and `%K`. A dimension with a size that is known when
    the kernel is compiled is written `uniform M = 4096`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$mesh, StrArrayAttr:$size_axes,
                       StrArrayAttr:$dim_names, ArrayAttr:$dim_kinds,
                       OptionalAttr<DenseI64ArrayAttr>:$dim_sizes,
                       StrArrayAttr:$arg_names, ArrayAttr:$arg_kinds,
                       ArrayAttr:$arg_shapes, ArrayAttr:$arg_splits,
                       TypeArrayAttr:$arg_types);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumDims() { return getDimNames().size(); }
    int64_t getNumKernelArgs() { return getArgNames().size(); }
    ::mlir::BlockArgument getDim(unsigned i) { return getBody().getArgument(i); }
    ::mlir::BlockArgument getKernelArg(unsigned i) {
      return getBody().getArgument(getNumDims() + i);
    }
    DimKind getDimKind(unsigned i);
    /// The size of a dimension, if it is known.
    std::optional<int64_t> getDimSize(unsigned i);
    void setDimSize(unsigned i, int64_t size);
    ArgKind getArgKind(unsigned i);
    /// (dims)[axis sizes] -> extents.
    ::mlir::AffineMap getArgShape(unsigned i);
    /// An extent of argument i on every rank, if it is known and the same on all.
    std::optional<int64_t> getArgExtent(unsigned i, unsigned dim);
    /// For each dimension of argument i the axes that it is split over, or an
    /// empty attribute when it is whole on every rank.
    ::mlir::ArrayAttr getArgSplit(unsigned i);
    MeshOp getMeshOp();
    /// Whether copy engines carry out one of its roles.
    bool hasEngines();
  }];
}

def Mk_RoleOp : Mk_Op<"role", [SingleBlock, NoTerminator,
                               ParentOneOf<["::mlir::mk::KernelOp"]>]> {
  let summary = "what some of the CTAs do";
  let description = [{
    The outermost `mk.foreach` loops of a role are distributed over its CTAs;
    everything else in it is executed by each of its CTAs. Consecutive loops
    have no barrier between them. `then @other` lets a CTA that is done here
    help there; the loops of a role that gets helpers must be scheduled
    by `ticket` or be queues.

    A role `beside` another takes no CTAs of the grid: each CTA that starts with the other role runs both at
    the same time. It moves data and has no tiles: a GPU runs it in a warp that has nothing else to do. Neither
    role may count on the other to go on or to be done; what has to come first is a signal's to say.

    A role with `engines` is carried out by the copy engines of a GPU, beside all CTAs. It consists of puts to ranks that
    the GPU addresses, and of the loops, branches and index arithmetic around them: which copies there are is found out on the
    host, when arguments are bound. They begin with the launch and come in any order, so their sources are what
    nothing in the launch writes. Each element of a signal that such a put raises gets all its arrivals from this role of one rank.

    ```mlir
    mk.role @push ctas(8) then @gemm { ... }
    mk.role @gemm ctas(rest) { ... }
    mk.role @send ctas(beside @gemm) { ... }
    mk.role @copy ctas(engines) { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Mk_CtasAttr:$ctas,
                       OptionalAttr<FlatSymbolRefAttr>:$then);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `ctas` `(` custom<Ctas>($ctas) `)` (`then` $then^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The role beside which the CTAs run this one; null if it has CTAs of its own.
    ::mlir::StringAttr getBeside() { return getCtas().getBeside(); }
    /// Whether a GPU's copy engines carry it out.
    bool isOfEngines() { return getCtas().getEngines(); }
    /// Whether CTAs of a GPU's grid begin with it.
    bool isInGrid() { return !getBeside() && !isOfEngines(); }
  }];
}

def Mk_PrepareOp : Mk_Op<"prepare", [SingleBlock, NoTerminator, HasParent<"KernelOp">]> {
  let summary = "what happens before peers may write to this rank";
  let description = [{
    Run by all CTAs before any role starts and before the rank tells its peers
    that it is ready; for instance zeroing an output that peers add to. It may
    not communicate.

    ```mlir
    mk.prepare { mk.foreach (%i) in (%n) { mk.store %zero, %c[%i] : ... } }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

// Not pure: a parameter whose value nothing uses may be named by a type or an attribute.
def Mk_ParamOp : Mk_Op<"param"> {
  let summary = "a tunable number";
  let description = [{
    A compile-time choice that the tuner may change (`--set NAME=V`); the
    default is used otherwise. The same on every rank. Besides its value a
    parameter can be an extent of tiles (`#mk.extents`), a schedule, the group of a
    raster order or a role's number of CTAs, by its name. It is at least 0, or what `least` says. `in` lists values that are worth
    a try: of these the compiler takes what its model says is fastest where nobody has
    measured (docs/cost-model.md), and the tuner measures them. Other values may still be given.

    ```mlir
    %tm = mk.param "TM" = 128 in [64, 128, 256]
    %piece = mk.param "PIECE" = 16 least 1
    %slots = mk.param "SL" default(%world)
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$number,
                       Optional<Index>:$default_value, DefaultValuedAttr<I64Attr, "0">:$least,
                       OptionalAttr<DenseI64ArrayAttr>:$choices);
  let results = (outs Index:$value);
  let assemblyFormat = [{
    $name (`=` custom<DefaultNumber>($number)^)? (`default` `(` $default_value^ `)`)? (`least` $least^)?
    (`in` $choices^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Says of a number that is less than `least` what it may be.
    std::string explainTooSmall(int64_t number);
  }];
}

def Mk_RequireOp : Mk_Op<"require", [HasParent<"KernelOp">]> {
  let summary = "a condition on dimensions and mesh";
  let description = [{
    A launch for which the condition does not hold is refused with the message; a compilation is,
    if that is known.

    ```mlir
    mk.require %ok, "M must be a multiple of the number of ranks"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

/// What a kernel declares. The host's plan counts it, also what no code uses.
def Mk_Declarations : Resource<"::mlir::mk::Declarations">;
// Two declarations are two arrays: an allocation is what CSE may not merge. One that a mesh leaves without
// users stays.
class Mk_DeclareOp<string mnemonic, Type type, list<Trait> traits = []> : Mk_Op<mnemonic, !listconcat(traits, [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    MemoryEffects<[MemWrite<Mk_Declarations>]>, HasParent<"KernelOp">])> {
  let results = (outs Res<type, "", [MemAlloc]>:$result);
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      if (!getName().empty() && !isdigit(getName().front()))
        setName(getResult(), getName());
    }
  }];
}

def Mk_SignalsOp : Mk_DeclareOp<"signals", Mk_SignalType, [AttrSizedOperandSegments]> {
  let summary = "declares an array of signals";
  let description = [{
    One extent for each `?` of the type. Those of scope `sys` are the same on every rank,
    since a peer finds an element by its own extents. `arrivals` gives the arrivals for each launch when the
    type says `arrivals = ?`. The result's name is kept: reports quote it.

    ```mlir
    %ready = mk.signals(%blocks) : !mk.signal<?, sys, arrivals = 1>
    %part = mk.signals(%t) arrivals(%world) : !mk.signal<?, sys, arrivals = ?>
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, Optional<Index>:$arrivals, StrAttr:$name);
  let assemblyFormat = [{
    `` custom<ResultName>($name) `(` $extents `)` (`arrivals` `(` $arrivals^ `)`)? attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def Mk_CountersOp : Mk_DeclareOp<"counters", Mk_CounterType> {
  let summary = "declares an array of rank-local counters";
  let description = [{
    One extent for each `?` of the type.

    ```mlir
    %done = mk.counters(%n) : !mk.counter<?>
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, StrAttr:$name);
  let assemblyFormat = [{
    `` custom<ResultName>($name) `(` $extents `)` attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def Mk_QueueOp : Mk_DeclareOp<"queue", Mk_QueueType> {
  let summary = "declares a rank-local queue";
  let description = [{
    The operand is the capacity in records; a launch may push no more.

    ```mlir
    %q = mk.queue(%tiles) : !mk.queue<?x2xi32>
    ```
  }];
  let arguments = (ins Optional<Index>:$capacity, StrAttr:$name);
  let assemblyFormat = [{
    `` custom<ResultName>($name) `(` ($capacity^)? `)` attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Mk_RankOp : Mk_Op<"rank", [Pure, Mk_Ranged, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a linear rank";
  let description = [{
    The own linear rank, or that of the rank with the coordinates given;
    axes that are not named keep the own coordinate. Coordinates must lie
    within the axis. One that is known not to is an error once the mesh is bound;
    the progress check and code for the host report whoever names a rank by
    another one; code for a GPU takes it for a rank further on.

    ```mlir
    %me = mk.rank
    %next = mk.rank(gpu = %j)
    ```
  }];
  let arguments = (ins Variadic<Index>:$coords, OptionalAttr<StrArrayAttr>:$axes);
  let results = (outs Index:$result);
  let assemblyFormat = "(`(` custom<AxisCoords>($axes, $coords)^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def Mk_CoordOp : Mk_Op<"coord", [Pure, Mk_Ranged, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a coordinate of a rank";
  let description = [{
    The place along an axis of this rank, or of the linear rank given by `of`.

    ```mlir
    %node = mk.coord node
    %its_node = mk.coord node of %p
    ```
  }];
  let arguments = (ins StrAttr:$axis, Optional<Index>:$rank);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<AxisName>($axis) (`of` $rank^)? attr-dict";
}
def Mk_SizeOp : Mk_Op<"size", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "number of ranks, all or along an axis";
  let description = [{
    The product of the sizes of all axes, or the size of the one that is named.

    ```mlir
    %world = mk.size
    %gpus = mk.size gpu
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "(custom<OptionalAxisName>($axis)^)? attr-dict";
}
def Mk_CtasOfOp : Mk_Op<"ctas", [Pure, Mk_Ranged]> {
  let summary = "number of CTAs of a role";
  let description = [{
    Those that start with the role, on this target; helpers are not counted.

    ```mlir
    %n = mk.ctas @gemm
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$role);
  let results = (outs Index:$result);
  let assemblyFormat = "$role attr-dict";
  let hasVerifier = 1;
}

def Mk_LikelyOp : Mk_Op<"likely", [Pure, AllTypesMatch<["value", "usual", "result"]>]> {
  let summary = "a number, and what it usually is";
  let description = [{
    The result is `value`. Where that follows from data, as the length of a list, `usual` tells the cost
    model what to count with when it compares parameters. Nothing else depends on it.

    ```mlir
    %rows = mk.likely %count as %average : index
    ```
  }];
  let arguments = (ins AnySignlessIntegerOrIndex:$value, AnySignlessIntegerOrIndex:$usual);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "$value `as` $usual attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Mk_YieldOp : Mk_Op<"yield", [Pure, Terminator, HasParent<"FoldOp">]> {
  let summary = "the tiles a fold carries on";
  let description = [{
    Ends the body of `mk.fold`; the values are the carried ones of the next iteration.

    ```mlir
    mk.yield %next : tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* yields nothing */ }]>];
}

#endif // MKERNEL_TILE_STRUCTURE_OPS
