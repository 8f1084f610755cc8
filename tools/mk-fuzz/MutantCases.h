//===- MutantCases.h - What kernels are checked with ------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTCASES_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTCASES_H

#include "Seeds.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Compiler/Compiler.h"

namespace mlir::mk::fuzz {

struct Mesh {
  int64_t nodes, gpus;
  std::string toString() const;
};

/// Sizes of a kernel: small ones, for which CTAs have several items.
struct Sizes {
  std::vector<std::pair<std::string, std::string>> bind, params;
  std::string random; // as mk-run takes it
  /// Inputs of i32, as "1:2:3".
  std::vector<std::pair<std::string, std::string>> lists;
};

/// One kernel of a file.
struct MutantCase {
  std::string file, kernel;
  ModuleOp module; // of Seeds, unchanged
  std::vector<Sizes> sizes;
  bool net = false; // its mesh has an axis across the network that is unbound

  /// 20 shapes, the first few of which tell the most.
  std::vector<Mesh> meshes() const;
  /// What it is compiled with on the i-th mesh.
  const Sizes &sizesOf(size_t i) const { return sizes[i % sizes.size()]; }
  CompileOptions options(const Mesh &mesh, const Sizes &sizes) const;
};

/// The kernels of all seeds, with the sizes that `path` gives them: lines of
/// "KERNEL --bind NAME=V,... [--set NAME=V,...] [--random NAME=A:B] [--list NAME=V:V:...]";
/// further lines of the same kernel are further sizes. Says what is wrong, if anything is.
std::vector<MutantCase> readCases(const Seeds &seeds, StringRef path,
                                  std::string &problem);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTCASES_H
