//===- Package.h - The file a compiled kernel travels in --------*- C -*-===//
//
// A package is: mk_package_header, then metadata (JSON, UTF-8), then the
// payload (host target: an ELF shared object; a GPU's: PTX text). Integers are
// little-endian. `digest` is the SHA-256 of everything behind the header, so
// that a truncated or altered file is refused before any of it is run.
//
// Metadata (all keys present unless said):
//   kernel    string
//   target    "host" | a GPU's, as Runtime/Gpu.h lists them
//   cpu       string, the CPU the payload was compiled for
//   cpu_features [string] of MK_CPU_FEATURES, what the payload may use of them
//             (optional: not checked)
//   grid      int, CTAs
//   stack_bytes int, stack one CTA needs
//   mesh      [{name, link: "link"|"net", size: int or null when unbound}]
//   dims      [{name, kind: "uniform"|"rank", value: int or null, or list of
//              ints with one value for each rank}]
//   params    {name: {value: int, or null if it follows from what is given at launch,
//             from: "given"|"tuned"|"model"|"default"}} (optional: for people)
//   args      [{name, kind: "in"|"out"|"inout"|"scratch", type: "bf16"...,
//              rank: int, symmetric: bool,
//              split: [[axis name...] for each dimension],
//              local: [bool for each dimension: its extent depends on a
//              `rank` dimension] (optional: found out by trying),
//              extents: [string for each dimension, as the file writes it]
//              (optional: for messages)}]
//   signals   [{name, rank: int, scope: "gpu"|"sys", dynamic: bool}]
//   counters  [{name, rank: int}]
//   queues    [{name, width: int}]
//   loops     [{role: int, schedule: "static"|"ticket"|"queue"}]
//   requires  [string], the messages of the kernel's requirements
//   roles     [{name, ctas: int, then: int (-1: none), beside?: int (a GPU's CTAs
//             of that role run this one as well; on the host it has as many of its own),
//             engines?: bool (a GPU's copy engines do what it puts, Gpu.h; on the host it has a
//             CTA)}]
//   prepare   bool: the payload has mk_prepare
//   sites     [{op: "mk.put"..., at: "file.mlir:12:5"}], see Site.h (optional: no op
//             is checked when it runs)
//   engine_sites [the same], those of roles of copy engines for a GPU (optional)
//   timeline  {records: int, tracks: int, communicates: [bool for each role], computes:
//             [the same]}, see Timeline.h (optional: launches record no times)
//   reference null, or {inputs: [arg index...], outputs: [arg index...],
//              types: ["f64"|"i64"|"i32"...: of inputs, then outputs],
//              dims: [dimension index...] (optional),
//              check_epsilon: [number for each output] (optional: as inputs),
//              check_k: int, terms of a sum (optional: largest extent)}
//
// Versions. A package can hold up to MK_MAX_VERSIONS of a kernel, compiled with different
// parameters; which is run follows from dimensions that are given when it is bound. Of each there
// can be up to MK_MAX_CANDIDATES, whose parameters differ: which is the fastest is found by
// measuring. Then it is a container: its payload is a shared object with mk_select, and behind
// that, one after the other, a whole package of each. Its own metadata has what all have in common:
//   kernel, target, cpu, cpu_features, mesh, dims  as above, the same in all
//   args      as above: what the kernel's file declares. A version may have scratch behind it
//   grid      int, the largest of all
//   versions  [{serves: {dimension: int...}, the largest sizes it is for: of `uniform` dimensions
//               without value. The first version is run that is for all sizes given; the last
//               one also for all above. Empty: there is one version, for all sizes
//             candidate: int, from 1, behind the first one of a version, which serves the same
//               (optional)
//             merged: [{dimension: int...}...], what versions that were asked for were to
//               serve, which got the same parameters and are this one (optional: for people)
//             bytes: int, of its package}]
//
// Symbols of a container's shared object: mk_metadata_digest, as below, and
//   int64_t mk_select(const mk_launch *)
//     The number of the version's first candidate in `versions`, from 0. Reads launch->dims
//     alone, and of them what `serves` names, so that all ranks get the same.
//
// Symbols of a host payload:
//   const uint8_t mk_metadata_digest[32]
//     SHA-256 of the metadata. What is allocated follows from the metadata, and what
//     is written from the code: a loader refuses a payload of other metadata.
//   int64_t mk_plan(const mk_launch *, int64_t *out)
//     Evaluates what depends on dimensions and mesh. Writes, in order: for
//     each argument its `rank` extents (the *global* shape where dimensions are
//     uniform); for each signal array its extents and its arrivals for each
//     launch (-1: dynamic); for each counter array its extents; for each queue
//     its capacity in records. `launch->args` is not read. Returns 0,
//     1 + the index of a requirement that does not hold, or a fault.
//   void mk_role_<i>(const mk_cta *)
//   void mk_prepare(const mk_cta *)   run by every CTA before any role
//   int64_t mk_reference(void *const *descriptors, int64_t row, int64_t rows)
//     descriptors: memref descriptors of inputs, then outputs, global shapes; then for
//     each of `dims` a list of i64, one value or, of a `rank` dimension, one for each rank.
//     Computes rows [row, row + rows) of dimension 0 of every output;
//     row = 0, rows = -1 computes everything. An output whose result has another
//     shape than its descriptor is not written. Returns 0, or a fault.
//
// A fault is -1 - (line + 2^32 * kind + 2^36 * place): a line of the kernel's file (0:
// not known), an mk_fault, and, if what went wrong is an extent of an argument,
// place = 1 + 256 * argument + dimension, else 0.
//
// Splitting: dimension d of an argument is split over the axes listed for it
// (linearised, first slowest, n = product of their sizes): shard s holds
// [min(s*c, E), min((s+1)*c, E)) of extent E with c = ceil(E / n). If the
// extent depends on a `rank` dimension, plan returns the local extent instead
// and the global one is the sum over shards.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_PACKAGE_H
#define MKERNEL_ABI_PACKAGE_H

#include "mkernel/ABI/Version.h"
#include <stddef.h>
#include <stdint.h>

#define MK_PACKAGE_MAGIC "MKPACK\r\n"
#define MK_MAX_VERSIONS 8
#define MK_MAX_CANDIDATES 8 // of a version

enum mk_fault {
  MK_FAULT_DIVISION = 0, // by zero, or the quotient does not fit
  MK_FAULT_OVERFLOW = 1, // a sum, difference or product that does not fit
  MK_FAULT_BOUNDS = 2,   // an index or a slice outside of a tensor, or tensors whose
                         // extents disagree
  MK_FAULT_MEMORY = 3,   // no memory for a temporary
  MK_FAULT_ASSERT = 4,   // an assertion of the file's
  MK_FAULT_SHAPE = 5,    // of a reference: a result has not the shape of its argument; the
                         // low 32 bits are its extent, not a line, the place is the
                         // output's number * 256 + dimension + 1
};

// What some x86-64 CPUs have and others do not, as LLVM and GCC call it.
#define MK_CPU_FEATURES(X)                                                     \
  X("sse3") X("ssse3") X("sse4.1") X("sse4.2") X("sse4a") X("popcnt") X("aes") \
  X("pclmul") X("avx") X("avx2") X("fma") X("fma4") X("xop") X("f16c")         \
  X("bmi") X("bmi2") X("lzcnt") X("movbe") X("adx") X("sha") X("tbm")          \
  X("gfni") X("vaes") X("vpclmulqdq") X("avxvnni") X("avx512f") X("avx512cd")  \
  X("avx512bw") X("avx512dq") X("avx512vl") X("avx512ifma") X("avx512vbmi")    \
  X("avx512vbmi2") X("avx512vnni") X("avx512bitalg") X("avx512vpopcntdq")      \
  X("avx512vp2intersect") X("avx512bf16") X("avx512fp16") X("amx-tile")        \
  X("amx-int8") X("amx-bf16")

// The largest value of a dimension that packages hold.
#define MK_MAX_DIM (INT64_C(1) << 47)

typedef struct mk_package_header {
  char magic[8];
  uint32_t abi_version;
  uint32_t header_bytes;
  uint64_t metadata_bytes;
  uint64_t payload_bytes;
  uint8_t abi_hash[32];
  uint8_t digest[32];
} mk_package_header;

MK_ABI_ASSERT(sizeof(mk_package_header) == 96, "package layout");
MK_ABI_ASSERT(offsetof(mk_package_header, abi_hash) == 32, "package layout");
MK_ABI_ASSERT(offsetof(mk_package_header, digest) == 64, "package layout");

#endif // MKERNEL_ABI_PACKAGE_H
