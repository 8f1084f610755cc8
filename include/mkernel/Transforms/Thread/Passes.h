//===- Passes.h - Transforms at the thread level -------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_THREAD_PASSES_H
#define MKERNEL_TRANSFORMS_THREAD_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mk_thread {
#define GEN_PASS_DECL
#include "mkernel/Transforms/Thread/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mkernel/Transforms/Thread/Passes.h.inc"
} // namespace mlir::mk_thread

#endif // MKERNEL_TRANSFORMS_THREAD_PASSES_H
