//===- Compiler.h - The compiler's shared object ----------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_JIT_COMPILER_H
#define MKERNEL_RUNTIME_JIT_COMPILER_H

#include "mkernel/JIT/CompileC.h"
#include "mkernel/Runtime/Status.h"

namespace mk::jit {

/// Where libmkernel_jit.so is, or should be; `given` wins if not empty.
std::string compilerPath(const std::string &given);

/// Names one build of the compiler without loading it: its build ID, else size
/// and time of change. Nothing when there is no such file.
std::optional<std::string> compilerIdentity(const std::string &path);

/// The tuning file of a target that lies beside the compiler, found as the
/// compiler itself finds it; empty if there is none.
std::string tuningPath(const std::string &compiler, const std::string &target);

struct Compiler {
  decltype(&mk_jit_compile_text) compile = nullptr;
  decltype(&mk_jit_free) release = nullptr;
};
/// Loads it, once for each path; it stays for the life of the process, since a
/// compiler's static objects do not survive being closed.
rt::Result<Compiler> loadCompiler(const std::string &path);

/// Names what code for the native CPU may use.
std::string nativeCpuIdentity();

} // namespace mk::jit

#endif // MKERNEL_RUNTIME_JIT_COMPILER_H
