//===- Versions.h - Several versions of a kernel in a package --*- C++ -*-===//
//
// A version is compiled like a kernel alone, for all sizes, with parameters of its own; the package
// of all of them has code that chooses one when the kernel is bound (mkernel/ABI/Package.h). A
// version may have candidates, each compiled with other parameters for the same sizes: those that
// --variants names, or that the cost model takes for the fastest. Not to be confused with variants
// of a GPU's code (mkernel/Dialect/SM/Variants.h), which each of them has.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_JIT_VERSIONS_H
#define MKERNEL_LIB_JIT_VERSIONS_H

#include "mkernel/Compiler/Compiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {

using DimSizes = std::vector<std::pair<std::string, int64_t>>;

/// One of several sets of parameters for the same sizes, of which the fastest is found when the
/// kernel runs.
struct CandidateRequest {
  std::string text; // as --variants has it
  std::vector<std::pair<std::string, std::string>> params;
  std::map<std::string, int64_t> choice; // CompileOptions::choice
};

/// A version as --variants has it.
struct VersionRequest {
  DimSizes serves; // the largest sizes; dimensions that are not named may have any
  std::vector<CandidateRequest> candidates; // at least one

  const std::string &text() const { return candidates.front().text; }
};

struct VersionRequests {
  std::vector<VersionRequest> list; // without --variants one, for all sizes
  std::vector<std::string> dims; // of the kernel, in order
  size_t numArgs = 0;            // that the file declares
};

/// Whether `sizes`, or anything less, is for `by`, too.
bool isServedBy(const DimSizes &sizes, const DimSizes &by);

/// A file and what is asked of it.
struct VersionsOf {
  StringRef source, name;
  const CompileOptions &given;
  const VersionRequests &requests;
};

/// Compiles each, and writes a package of all, or what else given.emit asks for. `module` is where
/// messages are about; `messages` has those of single versions.
bool compileVersions(const VersionsOf &what, ModuleOp module, llvm::raw_ostream &output,
                     std::string &messages);

/// A version for mk_select.
struct SelectedVersion {
  DimSizes serves;
  int64_t number; // of its first candidate in the package
};

/// A module in the LLVM dialect with mk_select: the first of `versions` that has room for all
/// sizes, else the last.
OwningOpRef<ModuleOp> buildSelect(MLIRContext &context, Location loc,
                                  ArrayRef<SelectedVersion> versions, ArrayRef<std::string> dims);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_VERSIONS_H
