//===- SMInterfaces.td - What ops have in common ----------*- tablegen -*-===//
#ifndef MKERNEL_SM_INTERFACES
#define MKERNEL_SM_INTERFACES

include "mlir/IR/OpBase.td"

def MkSM_SharedOwner : OpInterface<"SharedOwner"> {
  let cppNamespace = "::mlir::mk_sm";
  let description = [{
    An op that owns pieces of shared memory. `offsets` are there once it is laid out, and have
    each piece by its name (`getSharedPieces`).
  }];
  let methods = [
    InterfaceMethod<"Where each piece lies; null if memory is not laid out.", "::mlir::DictionaryAttr", "getOffsetsAttr">,
    InterfaceMethod<"Lays the pieces out.", "void", "setOffsetsAttr", (ins "::mlir::DictionaryAttr":$offsets)>
  ];
}

#endif // MKERNEL_SM_INTERFACES
