//===- Passes.h - Verification of whole kernels ---------------*- C++ -*-===//
#ifndef MKERNEL_VERIFY_PASSES_H
#define MKERNEL_VERIFY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk {
#define GEN_PASS_DECL
#include "mkernel/Verify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Verify/Passes.h.inc"
} // namespace mlir::mk

#endif // MKERNEL_VERIFY_PASSES_H
