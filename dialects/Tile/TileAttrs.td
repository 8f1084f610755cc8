//===- TileAttrs.td - Attributes of the tile dialect --------*- tablegen -*-===//
#ifndef MKERNEL_TILE_ATTRS
#define MKERNEL_TILE_ATTRS

include "TileBase.td"
include "mlir/IR/TensorEncoding.td"

class Mk_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Mk_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

/// The name of an `mk.param` in place of a number; null where there is a number.
class Mk_ParamName<string what> : OptionalParameter<"::mlir::StringAttr", "parameter for " # what>;

class Mk_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::mk";
  let genSpecializedAttr = 0;
}

def Mk_LinkKind : Mk_Enum<"LinkKind", "what connects the ranks along an axis", [
  I32EnumAttrCase<"Link", 0, "link">, I32EnumAttrCase<"Net", 1, "net">
]>;
def Mk_DimKind : Mk_Enum<"DimKind", "whether ranks agree on a dimension", [
  I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Rank", 1, "rank">
]>;
def Mk_ArgKind : Mk_Enum<"ArgKind", "what a kernel argument is for", [
  I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
  I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Scratch", 3, "scratch">
]>;
def Mk_Scope : Mk_Enum<"Scope", "who may raise a signal", [
  I32EnumAttrCase<"GPU", 0, "gpu">, I32EnumAttrCase<"Sys", 1, "sys">
]>;
def Mk_ScheduleKind : Mk_Enum<"ScheduleKind", "how items reach the CTAs of a role", [
  I32EnumAttrCase<"Static", 0, "static">, I32EnumAttrCase<"Ticket", 1, "ticket">,
  I32EnumAttrCase<"StreamK", 2, "stream_k">
]>;
def Mk_OwnPlace : Mk_Enum<"OwnPlace", "when the own part of a loop is visited", [
  I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"First", 1, "first">,
  I32EnumAttrCase<"Last", 2, "last">, I32EnumAttrCase<"Spread", 3, "spread">
]>;
def Mk_Reduction : Mk_Enum<"Reduction", "an associative reduction", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">
]>;
def Mk_Precision : Mk_Enum<"Precision", "how f32 operands of a dot are rounded", [
  I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"TF32", 1, "tf32">
]>;

def Mk_LinkKindAttr : EnumAttr<Mk_Dialect, Mk_LinkKind, "link_kind"> {
  let description = [{
    `link`: each rank addresses the memory of the other; `net`: a network is between them.

    ```mlir
    mk.put ... on %p via net
    ```
  }];
  let assemblyFormat = "$value";
}
def Mk_ReductionAttr : EnumAttr<Mk_Dialect, Mk_Reduction, "reduction"> {
  let description = [{
    `add`, `mul`, `max` or `min`; integers are signed.

    ```mlir
    #mk.reduction<add>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}
def Mk_PrecisionAttr : EnumAttr<Mk_Dialect, Mk_Precision, "precision"> {
  let description = [{
    `ieee`: f32 operands are multiplied as they are; `tf32`: a target may round them
    to 10 bits of mantissa first (one without such a unit, as the host, does not).

    ```mlir
    #mk.precision<tf32>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Mk_SymmetricAttr : Mk_Attr<"Symmetric", "symmetric"> {
  let summary = "memory space of the symmetric heap";
  let description = [{
    A memref in this space lies at the same offset of every rank's symmetric
    heap: an address of mine names the same place at each peer. Peers may read
    and write it by puts and remote stores; only such memory can be the
    destination of a put, and on a `net` axis also its source.

    ```mlir
    memref<?x?xbf16, #mk.symmetric>
    ```
  }];
}

def Mk_AxisAttr : Mk_Attr<"Axis", "axis"> {
  let summary = "one axis of a mesh";
  let description = [{
    Name, size (`?` until it is bound) and what connects the ranks that differ
    along it: over `link` peers load and store each other's memory, over `net`
    only the transport reaches them.

    ```mlir
    #mk.axis<"node" = ? via net>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the axis">:$name,
                        "int64_t":$size, "::mlir::mk::LinkKind":$link);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mk_CtasAttr : Mk_Attr<"Ctas", "ctas"> {
  let summary = "how many CTAs of the grid a role takes";
  let description = [{
    One of: a fixed number (`8`); a share of the grid, rounded down, but at least
    `min` (`share = 0.06, min = 1`); or what the others leave (`rest`, split
    evenly when several roles say it, at least `min` each). A parameter can stand for the
    fixed number (`param P`); if a share follows, that counts while the parameter is 0.
    The grid is an option of the target; the sums are verified for it.

    `beside @other` takes none of the grid: the role is run by all CTAs that start with the other
    one, at the same time as that. Behind `mk-assign-ctas` their number stands in front.

    `engines` takes none of the grid either: a GPU's copy engines carry the role out, from the start of a launch on.
    Where there are none, as on the host, it has one CTA.

    ```mlir
    #mk.ctas<8>
    #mk.ctas<share = 6.000000e-02, min = 1>
    #mk.ctas<rest, min = 4>
    #mk.ctas<param REDUCE, share = 1.200000e-01>
    #mk.ctas<beside @gemm>
    #mk.ctas<engines>
    ```
  }];
  // fixed > 0, or share > 0, or rest, or fixed_param; beside with or without fixed; engines with fixed = 1.
  let parameters = (ins "int64_t":$fixed, APFloatParameter<"share of the grid, 0 if absent">:$share,
                        "bool":$rest, "int64_t":$min, Mk_ParamName<"fixed">:$fixedParam,
                        OptionalParameter<"::mlir::StringAttr", "role beside which this one is run">:$beside,
                        "bool":$engines);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mk_ScheduleAttr : Mk_Attr<"Schedule", "schedule"> {
  let summary = "how the items of a loop are given to CTAs";
  let description = [{
    `static`: item i goes to CTA i mod n; with `parts = p`, 2 to 8, p CTAs side by side do an item together: each has
    a part of the steps of its fold, and finishes a part of the columns of what all parts add up to
    (`mk-divide-items`; on a target without clusters each item is one CTA's). `ticket`: CTAs draw the next item, in
    order. `stream_k, tail = t`: items that fill whole waves are `static`; the steps of
    the folds of the others (the last wave, which is not full, and t - 1 before it) are divided
    among the CTAs: each item into as many parts, up to 8, where there are CTAs for two or more of each,
    else all steps evenly. The fold's `combine` says how parts are put together. It is
    expanded into ordinary ops by `mk-expand-stream-k`.

    `param S` leaves the choice to the parameter `S` (0 static, 1 ticket, 2 stream_k); `tail` and `parts`
    may be parameters' names as well. The one is used if the choice is stream_k, the other if it is static.

    ```mlir
    #mk.schedule<ticket>
    #mk.schedule<stream_k, tail = 1>
    #mk.schedule<static, parts = 4>
    #mk.schedule<param S, tail = T, parts = P>
    ```
  }];
  // 0 means absent for tail and parts.
  let parameters = (ins "::mlir::mk::ScheduleKind":$kind, "int64_t":$tail, "int64_t":$parts,
                        Mk_ParamName<"kind">:$kindParam, Mk_ParamName<"tail">:$tailParam,
                        Mk_ParamName<"parts">:$partsParam);
  let extraClassDeclaration = [{
    /// CTAs that do an item together.
    int64_t getTogether() const { return getParts() ? getParts() : 1; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Mk_OrderAttr : Mk_Attr<"Order", "order"> {
  let summary = "the order in which the items of a loop are visited";
  let description = [{
    Row-major over the loop's dimensions unless said otherwise, by any of:
    - `raster = g`: groups of g along the first dimension are walked along the
      second before the next group starts (reuse in L2); g is a number or the name of a
      parameter;
    - `own = first | last | spread(n)`: the range of the first dimension that
      the loop names by `own(%first, %count)` comes first, last, or one own item
      after every n others. No group of `raster` has rows of both where they come first or last;
    - `stagger`: the first dimension starts behind the own linear rank, so that
      ranks do not address the same peer at once;
    - `longest_first = g`: the last dimension descends (where the longest
      item is the last) and is the slowest; groups of g indices of the first
      dimension are visited in sequence (reuse in L2), all of them together
      if g is 1 or left out;
    - `alternate = t`: the items of a CTA go to t teams of warpgroups in turn (t is 1 or 2,
      or the name of a parameter), so that one team ends its item, with all that stands behind
      its last dot, while the other's dots run. Nothing then orders own accesses of different items.
      Without it all warpgroups share each item.

    ```mlir
    #mk.order<raster = 8, own = first>
    ```
  }];
  // 0 means absent for raster, spread, longest and alternate.
  let parameters = (ins "int64_t":$raster, "::mlir::mk::OwnPlace":$own, "int64_t":$spread,
                        "bool":$stagger, "int64_t":$longestFirst, "int64_t":$alternate,
                        Mk_ParamName<"raster">:$rasterParam,
                        Mk_ParamName<"alternate">:$alternateParam);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasRaster() const { return getRaster() || getRasterParam(); }
    bool hasAlternate() const { return getAlternate() || getAlternateParam(); }
  }];
}

def Mk_ExtentsAttr : Mk_Attr<"Extents", "extents", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "extents of a tile that are parameters";
  let description = [{
    Names the `mk.param` that is the extent, for each `?` of a tile's shape in order. The
    extents become numbers when parameters are resolved (`mk-resolve-params`); until then two
    extents are the same if they have the same name. An alias keeps a file readable:

    ```mlir
    !acc = tensor<?x?xf32, #mk.extents<TM, TN>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
}

#endif // MKERNEL_TILE_ATTRS
