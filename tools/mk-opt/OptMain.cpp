//===- OptMain.cpp - Passes and pipelines on the command line -------------===//
#include "OneStep.h"
#include "mkernel/ABI/Hash.h"
#include "mkernel/JIT/Registration.h"
#include "mkernel/Version.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

extern "C" int mk_opt_main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "mKernel " MK_VERSION ", ABI "
       << llvm::StringRef(MK_ABI_HASH_HEX).take_front(12) << '\n';
  });
  mlir::DialectRegistry registry;
  mlir::mk::registerEverything(registry);
  mlir::mk::registerEveryPass();
  mlir::mk::OneStep oneStep;
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "mKernel optimizer driver\n", registry);
  if (oneStep.isWanted())
    return oneStep.run(input, output);
  if (std::string option = oneStep.findUnused(); !option.empty()) {
    llvm::errs() << "error: --" << option
                 << " belongs to one-step compilation: say how far by --emit "
                    "too, or give passes their own options\n";
    return 1;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
