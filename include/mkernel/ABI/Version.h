//===- Version.h - Version of the compiler/runtime contract -----*- C -*-===//
//
// The headers of this folder are the whole contract between compiled kernels
// and the runtime. They are plain C. The build hashes their text
// (MK_ABI_HASH, see ABI/Hash.h in the build tree); every package carries the
// hash of the compiler that wrote it and the runtime refuses any other.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_VERSION_H
#define MKERNEL_ABI_VERSION_H

#define MK_ABI_VERSION 1u

#ifdef __cplusplus
#define MK_ABI_ASSERT(cond, what) static_assert(cond, what)
#else
#define MK_ABI_ASSERT(cond, what) _Static_assert(cond, what)
#endif

#endif // MKERNEL_ABI_VERSION_H
