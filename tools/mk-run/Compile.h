//===- Compile.h - Packages from kernel files -------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_COMPILE_H
#define MKERNEL_TOOLS_MKRUN_COMPILE_H

#include "Options.h"

#include "mkernel/JIT/JIT.h"

namespace mk::run {

struct Compiled {
  rt::Package package;
  double compileMs = 0; // 0: it was a package already
};

/// Reads options.file, compiling it first when it is a .mlir. The compiler is
/// loaded only for that.
Result<Compiled> loadOrCompile(const Options &options);

jit::Options compilerOptions(const Options &options);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_COMPILE_H
