//===- PackageC.h - Writing packages ----------------------------*- C -*-===//
//
// The one function that writes the package format, used by the compiler and by
// tests. It refuses what the reader would refuse.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_PACKAGEC_H
#define MKERNEL_RUNTIME_PACKAGEC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Puts header, `metadata` (JSON text as mkernel/ABI/Package.h describes it) and
// `payload` together. Returns 0 and sets *package and *package_bytes, or 1 and
// sets *error to a message. The caller frees either with mk_package_free.
int mk_package_write(const char *metadata, size_t metadata_bytes,
                     const void *payload, size_t payload_bytes, void **package,
                     size_t *package_bytes, char **error);
void mk_package_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif // MKERNEL_RUNTIME_PACKAGEC_H
