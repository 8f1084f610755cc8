//===- Passes.h - Transforms ---------------------------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_PASSES_H
#define MKERNEL_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk {
#define GEN_PASS_DECL
#include "mkernel/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_PASSES_H
