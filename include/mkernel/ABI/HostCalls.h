//===- HostCalls.h - Symbols that compiled host code may call ---*- C -*-===//
//
// The complete list of runtime entry points of the host target, next to
// the C library's memory and math functions. Compiled code that needs any other
// symbol is refused when it is compiled, not when it is loaded.
//
// A call that cannot succeed (abort raised, deadline passed, index out of
// range, put across a net axis that is not contiguous) does not return: it
// unwinds the CTA to the launcher, which reports. Compiled code owns no
// resource besides its stack, so nothing is lost.
//
// Signals, counters, queues and ticketed loops are named by their index in the
// kernel; `index` is the row-major element within the declared extents.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_HOSTCALLS_H
#define MKERNEL_ABI_HOSTCALLS_H

#include "mkernel/ABI/Launch.h"
#include "mkernel/ABI/Site.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mk_put_flags {
  MK_PUT_STRONG = 1, // the signal covers all earlier puts of this CTA to `peer`
  MK_PUT_ADD = 2,    // add to the destination (link axes only)
  MK_PUT_REMOTE = 4, // a store that names its rank: remote, also on the own rank
};

// Element types of tiles in memory; also used in package metadata by name.
enum mk_type {
  MK_F64 = 1, MK_F32 = 2, MK_F16 = 3, MK_BF16 = 4, MK_F8E4M3 = 5,
  MK_F8E5M2 = 6, MK_I64 = 7, MK_I32 = 8, MK_I16 = 9, MK_I8 = 10, MK_I1 = 11,
};

#define MK_NO_SIGNAL (-1)
#define MK_MAX_TILE_RANK 6

// Copies an ndims-dimensional region. `dst` is the address that the region has
// in *this* rank's symmetric heap; the runtime finds the peer's. Sizes and
// strides are in elements, innermost last. `src` must stay unchanged until a
// settle, or, with no settle, until the role's end. Raises signal[index] of
// `peer` by one when the bytes are there.
void mkrt_put(const mk_cta *cta, void *dst, const void *src, int32_t type,
              int32_t ndims, const int64_t *sizes, const int64_t *dst_strides,
              const int64_t *src_strides, int64_t peer, int32_t signal,
              int64_t index, int32_t flags);

// The same for `count` listed rows: entry i >= 0 copies source row rows[i] to
// destination row i; negative entries are skipped. Still one arrival.
void mkrt_put_rows(const mk_cta *cta, void *dst, const void *src, int32_t type,
                   int64_t count, const int32_t *rows, int64_t row_elements,
                   int64_t dst_row_stride, int64_t src_row_stride, int64_t peer,
                   int32_t signal, int64_t index, int32_t flags);

// Stores a private tile (row-major, static tile extents `tile_sizes`) of which
// `sizes` elements are valid. The tile may be reused when the call returns.
// peer == own rank is a local store without MK_PUT_REMOTE. Link axes only for other peers.
void mkrt_store(const mk_cta *cta, void *dst, const void *tile, int32_t type,
                int32_t ndims, const int64_t *sizes, const int64_t *dst_strides,
                const int64_t *tile_strides, int64_t peer, int32_t signal,
                int64_t index, int32_t flags);

// Raises signal[index] of `peer` by `amount`; releases this CTA's earlier
// local and link accesses. MK_PUT_STRONG: covers all earlier puts to `peer`.
void mkrt_signal(const mk_cta *cta, int32_t signal, int64_t index,
                 int64_t peer, int64_t amount, int32_t flags);

// Waits, boundedly, until signal[index] of this rank has seen `count` arrivals
// of this launch; acquires.
void mkrt_wait(const mk_cta *cta, int32_t signal, int64_t index, int64_t count);

// Orders this CTA's earlier puts before its later ones, for each peer.
void mkrt_fence(const mk_cta *cta);
// Waits until the sources of all earlier puts of this CTA may be overwritten.
void mkrt_settle(const mk_cta *cta);

// Adds to counter[index] and returns the value before; acquires and releases.
int64_t mkrt_count(const mk_cta *cta, int32_t counter, int64_t index,
                   int64_t amount);

// Appends a record (as many words as the queue is wide) to a queue; `site` (Site.h)
// names the op in a report, -1: none.
void mkrt_push(const mk_cta *cta, int32_t queue, const int64_t *record, int32_t site);
// Waits, boundedly, for entry `entry` (0-based, in push order) and copies it.
void mkrt_pop(const mk_cta *cta, int32_t queue, int64_t entry, int64_t *record);

// Next ticket (0-based) of ticketed loop `loop` in this launch.
int64_t mkrt_ticket(const mk_cta *cta, int32_t loop);

// Says which item of a loop this CTA works on, for reports; unused
// coordinates are -1.
void mkrt_item(const mk_cta *cta, int32_t loop, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3);

// An mk_fault of mkernel/ABI/Package.h at this line of the kernel's file (0: not
// known). Cannot succeed.
void mkrt_fault(const mk_cta *cta, int32_t fault, int32_t line);

// Checks of what ops name, see mkernel/ABI/Site.h; compiled in unless an option leaves
// them out. `named` is a mk_named.
//
// Fails unless `sizes` elements at `offsets` of an argument exist on a rank, in each
// dimension. A region of nothing may lie anywhere.
void mkrt_region(const mk_cta *cta, int32_t site, int32_t named, int32_t argument,
                 int64_t rank, int32_t ndims, const int64_t *offsets,
                 const int64_t *sizes);
// The same for sizes[0] listed rows: those of a source are offsets[0] + rows[i], those
// of a destination offsets[0] + i. Where rows[i] is negative there is none.
void mkrt_region_rows(const mk_cta *cta, int32_t site, int32_t named,
                      int32_t argument, int64_t rank, int32_t ndims,
                      const int64_t *offsets, const int64_t *sizes,
                      const int32_t *rows);
// Index `index` is outside of dimension `dim`, which has `extent` elements, of what
// `number` is the number of (-1: a buffer that is no argument). Cannot succeed.
void mkrt_outside(const mk_cta *cta, int32_t site, int32_t named, int32_t number,
                  int32_t dim, int64_t index, int64_t extent);

// Extent of dimension 0 of an argument on a rank; the others are the same everywhere.
int64_t mkrt_rows(const mk_cta *cta, int32_t argument, int64_t rank);

// The two calls of code that is compiled to be checked for races; code that records times
// makes the first of them, too.
// The line of the kernel's file that the calls and accesses behind this one are at.
void mkrt_line(const mk_cta *cta, int32_t line);
// This CTA reads (write = 0) or writes its own rank's memory here: a region of an
// argument that starts at `at` and has `sizes` elements along its last `ndims`
// dimensions (one along those before).
void mkrt_access(const mk_cta *cta, const void *at, int32_t ndims,
                 const int64_t *sizes, int32_t write);

#ifdef __cplusplus
}
#endif

#endif // MKERNEL_ABI_HOSTCALLS_H
