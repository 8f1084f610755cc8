//===- OneStep.cpp - Compile a file in one step ---------------------------===//
#include "OneStep.h"
#include "../Support/Input.h"
#include "mkernel/Compiler/Compiler.h"
#include "mkernel/Target/Backend.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdlib>

using namespace mlir;

mk::OneStep::OneStep() {
  auto addFlag = [&](const mkernel::options::Option &option, auto &field) {
    if (option.isInMkOpt())
      add(option, field);
  };
  mkernel::options::forEachCompileOption(addFlag, options);
#define MK_EMIT_OPTION(kind, field, initial, key, c, tools, flag, value, meaning)           \
  add({mkernel::options::Kind::kind, mkernel::options::Tools::tools, key, flag, value, meaning},  \
      options.field);
#include "mkernel/Options/Options.def"
  options.completeMesh = false; // phases that can leave axes open do
}

void mk::OneStep::add(const mkernel::options::Option &option, std::string &text) {
  if (option.kind == mkernel::options::Kind::Texts) {
    texts.push_back({std::make_unique<llvm::cl::list<std::string>>(
                         llvm::StringRef(option.flag), llvm::cl::desc(option.meaning),
                         llvm::cl::value_desc(option.value), llvm::cl::cat(category)),
                     &text});
    return;
  }
  flags.push_back(std::make_unique<llvm::cl::opt<std::string, true>>(
      llvm::StringRef(option.flag), llvm::cl::desc(option.meaning), llvm::cl::value_desc(option.value),
      llvm::cl::location(text), llvm::cl::init(text), llvm::cl::cat(category)));
}

void mk::OneStep::add(const mkernel::options::Option &option, int64_t &number) {
  flags.push_back(std::make_unique<llvm::cl::opt<int64_t>>(
      llvm::StringRef(option.flag), llvm::cl::desc(option.meaning), llvm::cl::value_desc(option.value),
      llvm::cl::cat(category),
      llvm::cl::cb<void, int64_t>([this, &number, option](const int64_t &given) {
        number = given; // 0 is what nobody gives
        if (!given)
          problem = option.outOfRange(given);
      })));
}

void mk::OneStep::add(const mkernel::options::Option &option, bool &flag) {
  bool on = option.kind == mkernel::options::Kind::On;
  flags.push_back(std::make_unique<llvm::cl::opt<bool>>(
      llvm::StringRef(option.flag), llvm::cl::desc(option.meaning), llvm::cl::cat(category),
      llvm::cl::cb<void, bool>([&flag, on](const bool &given) { flag = given == on; })));
}

void mk::OneStep::add(const mkernel::options::Option &option,
                      std::vector<std::pair<std::string, std::string>> &out) {
  pairs.push_back({std::make_unique<llvm::cl::list<std::string>>(
                       llvm::StringRef(option.flag), llvm::cl::CommaSeparated, llvm::cl::desc(option.meaning),
                       llvm::cl::value_desc(option.value), llvm::cl::cat(category)),
                   &out});
}

/// Splits `name=value`; says what is wrong if it is not that.
bool mk::OneStep::readPairs() {
  for (auto &[given, out] : pairs)
    for (llvm::StringRef item : *given) {
      auto [name, value] = item.split('=');
      if (name.empty() || value.empty()) {
        llvm::errs() << "error: --" << given->ArgStr << ": '" << item
                     << "' is not of the form NAME=VALUE\n";
        return false;
      }
      out->emplace_back(name.str(), value.str());
    }
  return true;
}

std::string mk::OneStep::describeTargets() {
  std::string text = "Targets:";
  llvm::raw_string_ostream os(text);
  for (const TargetBackend *backend : getTargetBackends()) {
    SmallVector<StringRef> phases{backend->getKernelPhase(), backend->getCodePhase(),
                                  backend->getTextPhase()};
    llvm::erase(phases, StringRef());
    os << (text.back() == ':' ? " " : ", ") << backend->getName();
    if (!phases.empty())
      os << " (has phases " << llvm::join(phases, ", ") << ')';
  }
  return text + ".";
}

bool mk::OneStep::isWanted() const {
  return llvm::any_of(flags, [](const auto &flag) {
    return (flag->ArgStr == "target" || flag->ArgStr == "emit") && flag->getNumOccurrences();
  });
}

std::string mk::OneStep::findUnused() const {
  // Asked where neither --target nor --emit is given.
  SmallVector<const llvm::cl::Option *> all;
  for (const Pairs &list : pairs)
    all.push_back(list.given.get());
  for (const Texts &list : texts)
    all.push_back(list.given.get());
  for (const auto &flag : flags)
    all.push_back(flag.get());
  for (const llvm::cl::Option *option : all)
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
  options.remarks = getRemarks();
  // As for the runtime, which looks elsewhere, too: here it is asked only where it is named.
  const char *ptxas = std::getenv("MK_PTXAS");
  if (ptxas && StringRef(ptxas) != "off")
    options.assembler = ptxas;
  options.setup = [](PassManager &pm) {
    // Upstream's option is on unless it is given.
    if (llvm::cl::getRegisteredOptions().lookup("verify-each")->getNumOccurrences())
      pm.enableVerifier(MlirOptMainConfig::createFromCLOptions().shouldVerifyPasses());
    applyDefaultTimingPassManagerCLOptions(pm);
    return applyPassManagerCLOptions(pm);
  };
  if (!problem.empty())
    llvm::errs() << "error: " << problem << '\n';
  if (!problem.empty() || !readPairs())
    return 1;
  for (auto &[given, out] : texts)
    *out = llvm::join(*given, ",");
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
  if (uint64_t bytes = 0; !llvm::sys::fs::file_size(name, bytes) && bytes > mkernel::options::kMostSourceBytes) {
    error = ("'" + name + "' has " + llvm::Twine(bytes) + " bytes; the largest file that can be "
             "compiled has " + llvm::Twine(uint64_t(mkernel::options::kMostSourceBytes))).str();
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
