//===- CallGraph.h - What calls grow to when they are inlined --*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_CALLGRAPH_H
#define MKERNEL_TRANSFORMS_CALLGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mk {

/// Ops that a kernel or a reference may have when all its calls are inlined. Those of the
/// examples have some hundreds; passes that take n log n still take seconds at this.
constexpr int64_t kMaxInlinedOps = 1 << 14;

/// Checks what inlining would make of `root` (a kernel or a function) without doing it:
/// functions that call each other twice, thirty deep, are a thousand million. `what`
/// says whose they are. Recursion is an error too.
LogicalResult verifyInlinedSize(ModuleOp module, Operation *root, const Twine &what);

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_CALLGRAPH_H
