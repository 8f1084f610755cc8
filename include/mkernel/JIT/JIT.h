//===- JIT.h - Compiling kernels from a program -----------------*- C++ -*-===//
//
//   MK_ASSIGN(auto source, mk::jit::Source::read("gemm.mlir"));
//   mk::jit::Options options;
//   options.bind = {{"N", {4096}}, {"K", {4096}}};
//   MK_ASSIGN(mk::rt::Package package, mk::jit::compile(source, options));
//
// What to do with a package: mkernel/Runtime/Kernel.h. This header and all that
// it includes need neither MLIR nor LLVM; the compiler is a shared object that
// is loaded when something really has to be compiled.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_JIT_JIT_H
#define MKERNEL_JIT_JIT_H

#include "mkernel/Options/Options.h"
#include "mkernel/Runtime/DiskCache.h"
#include "mkernel/Runtime/Package.h"
#include "mkernel/Runtime/Plan.h"

namespace mk::jit {

/// A kernel file in memory.
struct Source {
  std::string text;
  std::string name = "kernel.mlir"; // what messages call it

  /// NotFound when it cannot be read.
  static rt::Result<Source> read(const std::string &path);
};

/// What code is made (mkernel/Options/Options.def, as a table docs/options.md), and by
/// what. Dimensions that `bind` leaves out are given to Kernel::bind.
struct Options : mkernel::options::Compile<std::vector<rt::DimValue>> {
  /// Where packages are kept. Absent: DiskCache::standard(), that is what
  /// MK_CACHE_DIR says; DiskCache("") keeps nothing.
  std::optional<rt::DiskCache> cache;
  /// Path of libmkernel_jit.so. Empty: MK_JIT_LIBRARY, else beside
  /// libmkernel_runtime.so, else ../lib beside the program.
  std::string library;
};

struct Report {
  bool cached = false;      // nothing was compiled
  double milliseconds = 0;  // of the whole call
  std::string cacheProblem; // why the package could not be kept; else empty
};

/// Compiles, or takes from the cache what an equal call has compiled: with the
/// same text, options, tuning, target, CPU (when native), compiler and version.
/// Without a compiler at hand, what any compiler of this version left there.
/// May be called from several threads, which compile one after the other.
///
/// InvalidArgument: the compiler's messages about the options, or names in them
/// that the file does not have. FailedPrecondition: those about the file.
/// Unavailable: the compiler is needed and cannot be loaded.
rt::Result<rt::Package> compile(const Source &source,
                                const Options &options = {},
                                Report *report = nullptr);

/// The same for all ranks of a job: rank 0 compiles the file, which it alone has to
/// have, and the others get the package or the error from it. Unless nodes, gpus
/// or bind say otherwise, mesh axes are sized for the job. Collective.
rt::Result<rt::Package> compileFile(rt::Job &job, const std::string &path,
                                    Options options = {},
                                    Report *report = nullptr);

/// `options` as the compiler takes them (mkernel/JIT/CompileC.h), without those that have
/// their default: one text for all orders of equal bindings.
std::string toJson(const Options &options);

} // namespace mk::jit

#endif // MKERNEL_JIT_JIT_H
