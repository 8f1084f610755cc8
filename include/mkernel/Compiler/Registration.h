//===- Registration.h - All dialects and passes ----------------*- C++ -*-===//
//
// The one place that knows what mk-opt, mk-lsp-server, mk-reduce and the
// compiler library can parse and run. Dialects are loaded when a file first
// uses them.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_COMPILER_REGISTRATION_H
#define MKERNEL_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::mk {

/// Upstream's dialects and extensions, and ours.
void registerEverything(DialectRegistry &registry);
/// Upstream's passes and pipelines, and ours, by name; for command lines.
void registerEveryPass();

} // namespace mlir::mk

#endif // MKERNEL_COMPILER_REGISTRATION_H
