//===- Json.h - Numbers by their names ---------------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_JSON_H
#define MKERNEL_LIB_JIT_JSON_H

#include "llvm/Support/JSON.h"

namespace mlir::mk {

/// Of a map, or a list of pairs, from names to numbers.
template <typename Numbers> llvm::json::Object toObject(const Numbers &numbers) {
  llvm::json::Object object;
  for (const auto &[name, number] : numbers)
    object[name] = number;
  return object;
}

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_JSON_H
