//===- Passes.h - Transforms at the SM level -----------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_SM_PASSES_H
#define MKERNEL_TRANSFORMS_SM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk_sm {
#define GEN_PASS_DECL
#include "mkernel/Transforms/SM/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

#endif // MKERNEL_TRANSFORMS_SM_PASSES_H
