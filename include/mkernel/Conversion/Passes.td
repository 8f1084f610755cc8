//===- Passes.td - Conversions ------------------------------*- tablegen -*-===//
#ifndef MKERNEL_CONVERSION_PASSES
#define MKERNEL_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTileToHostPass : Pass<"convert-mk-to-host", "::mlir::ModuleOp"> {
  let summary = "Turns a kernel into one function a role for the host target";
  let description = [{
    The kernel is replaced by functions that the runtime calls (see
    mkernel/ABI/Package.h): `mk_plan`, `mk_prepare` and one `mk_role_<i>` each.
    Loops become `scf` loops over the items of a CTA, tile ops become `linalg`
    on tensors, communication becomes calls of mkernel/ABI/HostCalls.h. Mesh axes must be
    bound; calls must be inlined. Other functions of the module are dropped: helpers are
    inlined by then and the reference is lowered by `mk-lower-reference`.
  }];
  let options = [
    Option<"grid", "grid", "int64_t", "16", "CTAs of the grid">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // MKERNEL_CONVERSION_PASSES
