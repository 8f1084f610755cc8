//===- mk-opt.cpp - Passes and pipelines on the command line --------------===//
#include "OneStep.h"
#include "mkernel/JIT/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::mk::registerEverything(registry);
  mlir::mk::registerEveryPass();
  mlir::mk::OneStep oneStep;
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "mKernel optimizer driver\n", registry);
  if (oneStep.isWanted())
    return oneStep.run(input, output);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
