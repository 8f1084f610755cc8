//===- Timeline.h - What a kernel says about its time -----------*- C -*-===//
//
// A kernel that was compiled with the option `timeline` records spans of time. Metadata
// says so: timeline {records: int, what a track holds; tracks: int, of a CTA;
// communicates, computes: [bool for each role], whether it puts, or stores at other ranks,
// and whether it multiplies}.
//
// On a GPU the warps of a CTA are divided into tracks by warpgroup: 0 the producer, the
// others teams of the consumer (1 all of it where it has no teams). Warps that run roles beside
// others have the last tracks, one for each such role. The parameter block ends with {uint64_t
// timeline}, the address of the tracks, each of MK_TIMELINE_TRACK_BYTES(records) bytes: a header,
// then the records. Track t of CTA c is number c * tracks + t. What does not fit is counted and
// dropped. A launch begins anew.
//
// Times are the lower half of %globaltimer, in nanoseconds; the header has all of it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_TIMELINE_H
#define MKERNEL_ABI_TIMELINE_H

#include "mkernel/ABI/Version.h"
#include <stddef.h>
#include <stdint.h>

enum mk_timeline_kind {
  MK_TIMELINE_ROLE = 1,   // all that a track does in a role
  MK_TIMELINE_ITEM = 2,   // an item of a loop; value: its number
  MK_TIMELINE_PUT = 3,    // a put; value: the peer
  MK_TIMELINE_SIGNAL = 4, // raised at this moment; object: which, value: element
  MK_TIMELINE_PLACE = 5,  // as an item; value: 4 coordinates of 16 bits (host target)
  MK_TIMELINE_STORE = 6,  // of a tile at another rank; value: the peer (host target)
  // A wait that did not find at once what it waits for: this + mk_gpu_wait_kind.
  // object: which signal, queue or ring; value: its element, a peer, a stage.
  MK_TIMELINE_WAIT = 16,
};

// A record's `what`. A role, object or site that there is not has all bits set.
#define MK_TIMELINE_ROLE_BITS 6
#define MK_TIMELINE_OBJECT_BITS 8
#define MK_TIMELINE_SITE_BITS 13
#define MK_TIMELINE_WHAT(kind, role, object, site)                             \
  ((uint32_t)(kind) | (uint32_t)(role) << 5 | (uint32_t)(object) << 11 |       \
   (uint32_t)(site) << 19)

typedef struct mk_timeline_record {
  uint32_t what;  // MK_TIMELINE_WHAT; site: mkernel/ABI/Site.h
  uint32_t value;
  uint32_t begin, end;
} mk_timeline_record;

typedef struct mk_timeline_track {
  uint64_t begin, end; // of the track in this launch
  uint32_t count;      // records, dropped ones too
  uint32_t sm;         // the multiprocessor
  uint32_t unused[10];
} mk_timeline_track;

// What a track holds: of code for a GPU, and of a CTA of the host target, where there are
// no tracks in memory: the runtime keeps them.
#define MK_TIMELINE_RECORDS 4096
#define MK_TIMELINE_HOST_RECORDS 65536
#define MK_TIMELINE_TRACK_BYTES(records)                                       \
  (sizeof(mk_timeline_track) + (records) * sizeof(mk_timeline_record))

MK_ABI_ASSERT(sizeof(mk_timeline_record) == 16, "timeline layout");
MK_ABI_ASSERT(sizeof(mk_timeline_track) == 64, "timeline layout");

#endif // MKERNEL_ABI_TIMELINE_H
