//===- Seeds.h - The kernels that are changed -------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_SEEDS_H
#define MKERNEL_TOOLS_MKFUZZ_SEEDS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::mk::fuzz {

/// All seeds, parsed once: a child of this process changes its copy of one.
class Seeds {
public:
  struct Seed {
    std::string name; // FILE, or FILE:LINE of a piece
    OwningOpRef<ModuleOp> module;
  };

  Seeds();
  /// Adds a file, or its pieces (`// -----` is between two) if it is not valid as
  /// a whole; only what is valid and has a kernel. Returns how many; nothing if the
  /// file cannot be read, for which `problem` has the reason.
  std::optional<unsigned> add(StringRef file, std::string &problem);

  size_t size() const { return seeds.size(); }
  const Seed &operator[](size_t i) const { return seeds[i]; }
  MLIRContext &getContext() { return context; }

private:
  MLIRContext context;
  std::vector<Seed> seeds;
};

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_SEEDS_H
