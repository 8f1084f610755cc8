//===- Input.h - What a fuzzer's input is made of ---------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_INPUT_H
#define MKERNEL_TOOLS_MKFUZZ_INPUT_H

#include "mkernel/Compiler/Compiler.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace mlir::mk::fuzz {

inline constexpr unsigned kMaxMutations = 4;

/// A function of the fuzzer's seed and the number alone.
struct Input {
  uint64_t number;
  size_t seed; // index in Seeds
  unsigned mutations;
  uint32_t mask = ~0u; // of those that are applied
  uint64_t random;     // seeds the mutations and the options

  bool applies(unsigned mutation) const { return mask >> mutation & 1; }
};

Input makeInput(uint64_t fuzzerSeed, uint64_t number, size_t seeds);

/// What the changed module is compiled with: kernel, target, phase, mesh, grid,
/// most dimensions, and parameters smaller than their defaults, which keeps code
/// short. False if it has no kernel.
bool chooseOptions(const Input &input, ModuleOp module,
                   CompileOptions &options);

/// The options as mk-opt takes them.
std::string commandLine(const CompileOptions &options);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_INPUT_H
