//===- Passes.h - Sizes that are impossible ------------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_SIZES_PASSES_H
#define MKERNEL_TRANSFORMS_SIZES_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk {
#define GEN_PASS_DECL
#include "mkernel/Transforms/Sizes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Transforms/Sizes/Passes.h.inc"
} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_SIZES_PASSES_H
