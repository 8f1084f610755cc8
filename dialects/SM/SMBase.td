//===- SMBase.td - The SM dialect ---------------------------*- tablegen -*-===//
#ifndef MKERNEL_SM_BASE
#define MKERNEL_SM_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferIntRangeInterface.td"

def MkSM_Dialect : Dialect {
  let name = "mk_sm";
  let cppNamespace = "::mlir::mk_sm";
  let summary = "Roles on one streaming multiprocessor: partitions, rings, fragments";
  let description = [{
    The SM level. The body of a role consists of *partitions* (groups of warps
    that run side by side) and of the *channels* between them: rings of staged
    tiles and mailboxes of scalars. Tiles held in registers are *fragments*:
    tensors whose encoding says which thread of a partition holds which element.
    `mk.kernel`, `mk.role`, scalars, `scf`, elementwise `arith` and `math`, and
    `mk` ops that are not about staged tiles (register loads and stores, reductions,
    broadcasts, masks, waits, signals, counters) stay as they are.

    Channels first, barriers last: passes name no stage, phase, mbarrier or address until the end. Stages and
    parities come from `mk-sm-assign-stages`, addresses in shared memory from
    `mk-sm-lay-out-shared`: `offsets` say where each piece lies that an op owns, by the piece's name.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::mk::MkDialect"];
  let extraClassDeclaration = [{
    /// Names the op that is meant, probably.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef) const override {
      return ::mlir::mk::refuseUnknownOp;
    }

    void registerAttrs();
    void registerTypes();
    void registerOps();
  }];
}

class MkSM_Op<string mnemonic, list<Trait> traits = []>
    : Op<MkSM_Dialect, mnemonic, traits>;

/// Says in SMRanges.cpp between what its numbers lie.
defvar MkSM_Ranged = DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

#endif // MKERNEL_SM_BASE
