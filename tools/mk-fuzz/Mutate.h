//===- Mutate.h - Random changes of a module --------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTATE_H
#define MKERNEL_TOOLS_MKFUZZ_MUTATE_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <random>
#include <vector>

namespace mlir::mk::fuzz {

enum class Mutation : uint32_t {
  SwapOperands,    // two operands of one type
  ReplaceOperand,  // by another value of its type
  ChangeConstant,  // an integer or float, to one that is special
  ChangeAttribute, // an integer, flag or element of an array
  DropAttribute,
  ExchangeAttribute, // with another op of the same name
  ChangeType,        // extent or element type of a result
  DeleteOp,
  DuplicateOp,
  MoveOp,
  Count
};
const char *toString(Mutation mutation);

/// One change of `module`; which, is a function of `seed` alone. It may make the
/// module invalid. Returns what was done; Count if there was nothing to do.
Mutation mutate(ModuleOp module, uint64_t seed);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTATE_H
