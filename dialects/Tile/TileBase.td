//===- TileBase.td - The tile dialect -----------------------*- tablegen -*-===//
#ifndef MKERNEL_TILE_BASE
#define MKERNEL_TILE_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferIntRangeInterface.td"

def Mk_Dialect : Dialect {
  let name = "mk";
  let cppNamespace = "::mlir::mk";
  let summary = "Persistent fused kernels over a mesh of GPUs, in tiles";
  let description = [{
    The tile level. A kernel is a set of *roles* that run side by side on the
    CTAs of one persistent grid on every rank of a mesh; roles work on *tiles*
    (builtin tensors whose extents are numbers or parameters, values), move data between ranks by
    *puts* and tell each other about it by *signals*. Scalars, control flow and
    elementwise arithmetic are upstream `arith`, `math`, `scf`, `memref`.

    Inside a role nothing names a warp, a barrier or a pointer. What happens
    before what is defined by the memory model (docs/memory-model.md).
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The #mk.target for the SM level of modules that name none with SMs; null until somebody
    /// sets it. Whoever registers targets does (mkernel/Target/Backend.h).
    ::mlir::Attribute getDefaultTarget() const { return defaultTarget; }
    void setDefaultTarget(::mlir::Attribute target) { defaultTarget = target; }

    /// Names the op that is meant, probably.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef) const override {
      return ::mlir::mk::refuseUnknownOp;
    }

    void registerAttrs();
    void registerTypes();
    void registerStructureOps();
    void registerScalarOps();
    void registerLoopOps();
    void registerTileOps();
    void registerCommOps();

  private:
    ::mlir::Attribute defaultTarget;

  public:
  }];
}

/// Others may see what the op does, or wait for it: it is done once an item, in its place, by those
/// who compute.
def Mk_VisibleEffect : NativeOpTrait<"VisibleEffect"> {
  let cppNamespace = "::mlir::mk";
}

class Mk_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mk_Dialect, mnemonic, traits>;

/// Says in TileRanges.cpp between what its numbers lie.
defvar Mk_Ranged = DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

#endif // MKERNEL_TILE_BASE
