//===- CompileC.h - The compiler as a shared object -------------*- C -*-===//
//
// What libmkernel_jit.so exports. `mk-run` and programs that compile at run
// time find these by dlopen, so that a rank process never holds a compiler.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_JIT_COMPILEC_H
#define MKERNEL_JIT_COMPILEC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Compiles the kernel file at `path` into a package (mkernel/ABI/Package.h).
//
// `options_json` is one JSON object; every key may be absent:
//   target  "host" | "sm_90a"              default "host"
//   kernel  string, which kernel           default: the only one of the file
//   bind    {"M": "1024", "node": "2"}     dimensions and mesh axes by name; a
//           `rank` dimension takes one value for each rank: "100:80:0:33"
//   nodes   int, product of the net axes   fills the one unbound net axis
//   gpus    int, product of the link axes  fills the one unbound link axis
//   complete_mesh  bool: axes unbound after all that have size 1
//   complete_dims  bool: refuse, all at once, dimensions that are not bound
//   verify  bool: refuse kernels that would not end or that race; default true
//   bounds  bool: code checks that what ops name exists; default true
//   record  bool: host code records its accesses (LaunchOptions::record); default false
//   timeline  bool: code records when it does what (BoundKernel::timeline); default false
//   grid    int, CTAs                      default: the target's
//   set     {"TM": 128}, parameters by name
//   tuning  string, a tuning file for other parameters, or "none"
//           default: the one of the target beside the library, if any
//   cpu     string, "native" or a CPU name default "native"
//
// Returns 0 and sets *package and *size. 2: the options are wrong or name what
// the file does not have; anything else: the file does not compile. Both set
// *error to a message for the user. The caller frees either with mk_jit_free.
int mk_jit_compile(const char *path, const char *options_json, void **package,
                   size_t *size, char **error);
// The same for a file in memory, which messages call `name`.
int mk_jit_compile_text(const char *text, size_t bytes, const char *name,
                        const char *options_json, void **package, size_t *size,
                        char **error);
void mk_jit_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif // MKERNEL_JIT_COMPILEC_H
