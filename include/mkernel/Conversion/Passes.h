//===- Passes.h - Conversion ---------------------------------*- C++ -*-===//
#ifndef MKERNEL_CONVERSION_PASSES_H
#define MKERNEL_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk {
#define GEN_PASS_DECL
#include "mkernel/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

#endif // MKERNEL_CONVERSION_PASSES_H
