//===- OneStep.h - Compile a file in one step ------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKOPT_ONESTEP_H
#define MKERNEL_TOOLS_MKOPT_ONESTEP_H

#include "mkernel/Compiler/Compiler.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::mk {

/// The options of one-step compilation, known to the command line as long as
/// this lives.
class OneStep {
public:
  OneStep();
  /// Whether --target or --emit was given.
  bool isWanted() const;
  /// An option that was given and would have no effect without --target or
  /// --emit; empty if there is none.
  std::string findUnused() const;
  /// The filter of --remarks; none if that was not given.
  std::optional<std::string> getRemarks() const;
  /// Returns the exit status.
  int run(llvm::StringRef input, llvm::StringRef output);

private:
  struct Pairs {
    std::unique_ptr<llvm::cl::list<std::string>> given;
    std::vector<std::pair<std::string, std::string>> *out;
  };
  struct Texts {
    std::unique_ptr<llvm::cl::list<std::string>> given;
    std::string *out; // all of them, between commas
  };
  void add(const mkernel::options::Option &option, std::string &text);
  void add(const mkernel::options::Option &option, int64_t &number);
  void add(const mkernel::options::Option &option, bool &flag);
  void add(const mkernel::options::Option &option,
           std::vector<std::pair<std::string, std::string>> &pairs);
  bool readPairs();
  /// Their names, and the phases of --emit that each has of its own.
  static std::string describeTargets();

  // Categories are listed by name, and this one is to come before MLIR's.
  std::string about =
      "From a file to what --emit says. mk-run compiles in the same way. " + describeTargets();
  llvm::cl::OptionCategory category{"A kernel in one step", about};
  CompileOptions options;
  std::vector<std::unique_ptr<llvm::cl::Option>> flags;
  std::vector<Pairs> pairs;
  std::vector<Texts> texts;
  std::string problem; // with a number
  llvm::cl::opt<std::string> remarks{
      "remarks", llvm::cl::ValueOptional,
      llvm::cl::desc("what passes did, and could not do and why; of those whose 'PASS: KIND' matches "
                     "a regular expression (kinds: passed, missed, analysis). For passes by name, too"),
      llvm::cl::value_desc("REGEX"), llvm::cl::cat(category)};
};

/// A file, or standard input for -; null, with the reason, if it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef name, std::string &error);

/// Writes what is left and keeps the file; says why not otherwise.
bool closeOutput(llvm::ToolOutputFile &file, llvm::StringRef name);

} // namespace mlir::mk

#endif // MKERNEL_TOOLS_MKOPT_ONESTEP_H
