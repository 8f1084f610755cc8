//===- OneStep.cpp - Compile a file in one step ---------------------------===//
#include "OneStep.h"
#include "../Support/Input.h"
#include "mkernel/JIT/Compiler.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdlib>

using namespace mlir;

/// Splits `name=value`; says what is wrong if it is not that.
static bool
readPairs(const llvm::cl::list<std::string> &list,
          std::vector<std::pair<std::string, std::string>> &pairs) {
  for (llvm::StringRef item : list) {
    auto [name, value] = item.split('=');
    if (name.empty() || value.empty()) {
      llvm::errs() << "error: --" << list.ArgStr << ": '" << item
                   << "' is not of the form NAME=VALUE\n";
      return false;
    }
    pairs.emplace_back(name.str(), value.str());
  }
  return true;
}

bool mk::OneStep::isWanted() const {
  return target.getNumOccurrences() || emit.getNumOccurrences();
}

std::string mk::OneStep::findUnused() const {
  // Lists have an operator & of their own.
  const llvm::cl::Option *options[] = {
      std::addressof(bind), std::addressof(set), &tuning, &kernel,
      &cpu,                 &nodes,              &gpus,   &grid,
      &noVerify,            &noBounds, &timeline};
  for (const llvm::cl::Option *option : options)
    if (option->getNumOccurrences())
      return option->ArgStr.str();
  return {};
}

std::optional<std::string> mk::OneStep::getRemarks() const {
  if (!remarks.getNumOccurrences())
    return std::nullopt;
  return remarks.getValue();
}

int mk::OneStep::run(llvm::StringRef input, llvm::StringRef output) {
  CompileOptions options;
  options.target = target;
  options.emit = emit;
  options.kernel = kernel;
  options.tuning = tuning;
  options.cpu = cpu;
  options.nodes = nodes;
  options.gpus = gpus;
  options.grid = grid;
  options.verify = !noVerify;
  options.bounds = !noBounds;
  options.timeline = timeline;
  options.remarks = getRemarks();
  // As for the runtime, which looks elsewhere, too: here it is asked only where it is named.
  const char *ptxas = std::getenv("MK_PTXAS");
  if (ptxas && StringRef(ptxas) != "off")
    options.assembler = ptxas;
  options.setup = [](PassManager &pm) {
    return applyPassManagerCLOptions(pm);
  };
  if (!readPairs(bind, options.bind) || !readPairs(set, options.params))
    return 1;
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> source = openInput(input, error);
  if (!source) {
    llvm::errs() << "error: " << error << '\n';
    return 1;
  }
  std::string result, messages;
  bool ok =
      compile(source->getBuffer(), input, options, result, messages);
  llvm::errs() << messages;
  if (!ok)
    return 1;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << "error: " << error << '\n';
    return 1;
  }
  file->os() << result;
  return closeOutput(*file, output) ? 0 : 1;
}

std::unique_ptr<llvm::MemoryBuffer> mk::openInput(llvm::StringRef name,
                                                  std::string &error) {
  if (std::string why = mkernel::findEndless(name.str()); !why.empty()) {
    error = ("'" + name + "' " + why).str();
    return nullptr;
  }
  return openInputFile(name, &error);
}

bool mk::closeOutput(llvm::ToolOutputFile &file, llvm::StringRef name) {
  // Without this LLVM aborts when the file is closed.
  file.os().flush();
  std::error_code problem = file.os().error();
  if (problem) {
    llvm::errs() << "error: " << (name == "-" ? "standard output" : name)
                 << " could not be written: " << problem.message() << '\n';
    file.os().clear_error();
    return false;
  }
  file.keep();
  return true;
}
