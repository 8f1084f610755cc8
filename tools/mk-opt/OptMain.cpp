//===- OptMain.cpp - Passes and pipelines on the command line -------------===//
#include "OneStep.h"
#include "mkernel/ABI/Hash.h"
#include "mkernel/Compiler/Guarded.h"
#include "mkernel/Compiler/Registration.h"
#include "mkernel/Compiler/Remarks.h"
#include "mkernel/Version.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>

using namespace mlir;

/// Has what runs by `config` show remarks.
static void showRemarks(MlirOptMainConfig &config, const std::string &filter) {
  MlirOptMainConfig before = config;
  // There is a context for each part of a file that is split.
  config.setPassPipelineSetupFn([before, filter](PassManager &pm) -> LogicalResult {
    std::string problem = mk::enableRemarks(*pm.getContext(), filter);
    if (problem.empty())
      return before.setupPassPipeline(pm);
    llvm::errs() << "error: --remarks: " << problem << '\n';
    return failure();
  });
}

/// Passes by name. Upstream's, with a look at the text and at what becomes of the
/// output.
static int runPasses(int argc, char **argv, llvm::StringRef input,
                     llvm::StringRef output, DialectRegistry &registry,
                     std::optional<std::string> remarks) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  if (remarks)
    showRemarks(config, *remarks);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> source = mk::openInput(input, error);
  std::unique_ptr<llvm::ToolOutputFile> file =
      source ? openOutputFile(output, &error) : nullptr;
  if (!file) {
    llvm::errs() << "error: " << error << '\n';
    return 1;
  }
  std::string problem = mk::checkSource(source->getBuffer(), input);
  if (!problem.empty()) {
    llvm::errs() << problem << '\n';
    return 1;
  }
  if (failed(MlirOptMain(file->os(), std::move(source), registry, config))) {
    file->os().clear_error(); // it goes
    return 1;
  }
  return mk::closeOutput(*file, output) ? 0 : 1;
}

static int run(int argc, char **argv) {
  DialectRegistry registry;
  mk::registerEverything(registry);
  mk::registerEveryPass();
  mk::OneStep oneStep;
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "mKernel optimizer driver\n", registry);
  if (oneStep.isWanted())
    return oneStep.run(input, output);
  if (std::string option = oneStep.findUnused(); !option.empty()) {
    llvm::errs() << "error: --" << option
                 << " belongs to one-step compilation: say how far by --emit "
                    "too, or give passes their own options\n";
    return 1;
  }
  return runPasses(argc, argv, input, output, registry, oneStep.getRemarks());
}

extern "C" int mk_opt_main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that grows too large (ulimit -f) is an error of writing.
  std::signal(SIGXFSZ, SIG_IGN);
  mk::exitIfNoMemory();
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "mKernel " MK_VERSION ", ABI "
       << llvm::StringRef(MK_ABI_HASH_HEX).take_front(12) << '\n';
  });
  int status = 1;
  std::string problem;
  if (!mk::runGuarded([&] { status = run(argc, argv); }, problem)) {
    llvm::errs() << "error: " << problem << '\n';
    // Static objects may be in the middle of something.
    llvm::outs().flush();
    std::_Exit(1);
  }
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::errs() << "error: standard output could not be written: "
                 << error.message() << '\n';
    llvm::outs().clear_error();
    status = status ? status : 1;
  }
  llvm::errs().clear_error(); // nobody is left to be told
  return status;
}
