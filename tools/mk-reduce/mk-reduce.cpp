//===- mk-reduce.cpp - Smaller files that still fail ----------------------===//
#include "../Support/LlvmOutput.h"
#include "mkernel/Compiler/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mkernel::reportLostOutput();
  mlir::mk::registerEveryPass();
  mlir::DialectRegistry registry;
  mlir::mk::registerEverything(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
