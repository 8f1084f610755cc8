//===- SMOpBase.td - What all ops share -------------------*- tablegen -*-===//
#ifndef MKERNEL_SM_OP_BASE
#define MKERNEL_SM_OP_BASE

include "SMTypes.td"
include "SMInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def MkSM_PartitionKind : I32EnumAttr<"PartitionKind", "what a partition is for", [
  I32EnumAttrCase<"Producer", 0, "producer">, I32EnumAttrCase<"Consumer", 1, "consumer">,
  I32EnumAttrCase<"Mover", 2, "mover">
]> {
  let cppNamespace = "::mlir::mk_sm";
  let genSpecializedAttr = 0;
}
def MkSM_PartitionKindAttr : EnumAttr<MkSM_Dialect, MkSM_PartitionKind, "partition_kind"> {
  let assemblyFormat = "$value";
}

def MkSM_Fragment : RankedTensorOf<[AnyType]>;
def MkSM_Signal : Type<CPred<"::llvm::isa<::mlir::mk::SignalType>($_self)">, "signal">;
def MkSM_DotOperand : AnyTypeOf<[MkSM_StagedType, MkSM_Fragment]>;

/// Where pieces of shared memory lie, by their names.
def MkSM_Offsets : ConfinedAttr<DictionaryAttr, [AttrConstraint<CPred<
    "::llvm::all_of(::llvm::cast<::mlir::DictionaryAttr>($_self), [](::mlir::NamedAttribute piece) {"
    " return ::llvm::isa<::mlir::IntegerAttr>(piece.getValue()); })">, "with the offset of each piece by its name">]>;

class MkSM_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::mlir::mk_sm"; }
class MkSM_In<string kind> : ParamNativeOpTrait<"In", "::mlir::mk_sm::PartitionKind::" # kind> {
  let cppNamespace = "::mlir::mk_sm";
}
def MkSM_InProducer : MkSM_In<"Producer">;
def MkSM_InConsumer : MkSM_In<"Consumer">;
def MkSM_InScope : MkSM_Trait<"InScope">;
def MkSM_HasPlace : MkSM_Trait<"HasPlace">;
def MkSM_HasSlot : MkSM_Trait<"HasSlot">;

class MkSM_EffectOp<string mnemonic, list<Trait> traits = []>
    : MkSM_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

#endif // MKERNEL_SM_OP_BASE
