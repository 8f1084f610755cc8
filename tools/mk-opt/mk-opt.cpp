//===- mk-opt.cpp - Passes and pipelines on the command line --------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mlir::mk::MkDialect>();
  mlir::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mKernel optimizer driver\n", registry));
}
