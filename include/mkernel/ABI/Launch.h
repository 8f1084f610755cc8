//===- Launch.h - What a launch hands to compiled code ----------*- C -*-===//
//
// Compiled host code sees the launch through these two structures. Field
// order is part of the ABI: the lowering addresses fields by their index.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_LAUNCH_H
#define MKERNEL_ABI_LAUNCH_H

#include "mkernel/ABI/Version.h"
#include <stddef.h>
#include <stdint.h>

// One launch of one kernel on one rank; constant while it runs.
typedef struct mk_launch {
  uint32_t abi_version;
  uint32_t rank;             // linear rank: the first mesh axis varies slowest
  uint32_t world;            // number of ranks
  uint32_t num_axes;         // mesh axes
  const int64_t *axis_sizes; // [num_axes]
  const int64_t *coords;     // [num_axes], this rank's
  const int64_t *dims;       // kernel dimensions in order, this rank's values
  void *const *args;         // for each argument a strided memref descriptor:
                             // {void *allocated; void *aligned; int64 offset;
                             //  int64 sizes[rank]; int64 strides[rank]},
                             // offset and strides in elements
  void *runtime;             // opaque
} mk_launch;

// One CTA (on the host target: one thread) in one role.
typedef struct mk_cta {
  const mk_launch *launch;
  uint32_t index;  // index of this CTA among those of the role
  uint32_t count;  // CTAs of the role (helpers not counted)
  uint32_t role;   // index of the role
  uint32_t linear; // index of this CTA in the grid
  void *state;     // opaque
} mk_cta;

MK_ABI_ASSERT(offsetof(mk_launch, rank) == 4, "launch layout");
MK_ABI_ASSERT(offsetof(mk_launch, axis_sizes) == 16, "launch layout");
MK_ABI_ASSERT(offsetof(mk_launch, coords) == 24, "launch layout");
MK_ABI_ASSERT(offsetof(mk_launch, dims) == 32, "launch layout");
MK_ABI_ASSERT(offsetof(mk_launch, args) == 40, "launch layout");
MK_ABI_ASSERT(sizeof(mk_launch) == 56, "launch layout");
MK_ABI_ASSERT(offsetof(mk_cta, index) == 8, "cta layout");
MK_ABI_ASSERT(offsetof(mk_cta, count) == 12, "cta layout");
MK_ABI_ASSERT(sizeof(mk_cta) == 32, "cta layout");

#endif // MKERNEL_ABI_LAUNCH_H
