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
// `options_json` is one JSON object. Its keys are those of mkernel/Options/Options.def
// (docs/options.md); each may be absent and then has its default. Values are strings,
// numbers, true or false, and objects of names and values, as in
//   {"target": "host", "gpus": 2, "bounds": false,
//    "bind": {"M": "1024", "T": "100:80"}, "set": {"TM": 128}}
// where T has a value for each rank.
//
// Returns 0 and sets *package and *size, and *error to the compiler's warnings if
// there are any. 2: the options are wrong or name what the file does not have;
// anything else: the file does not compile. Both set *error to a message for the
// user. The caller frees either with mk_jit_free. *error is left alone otherwise.
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
