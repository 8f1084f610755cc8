//===- mk-lsp-server.cpp - Diagnostics and navigation for editors ---------===//
#include "mkernel/Compiler/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::mk::registerEverything(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
