//===- Gpu.h - What a launch hands to compiled GPU code ---------*- C -*-===//
//
// The payload of a package for a GPU target is an ELF shared object like that
// of the host target, with mk_plan and mk_reference but without roles. It holds the kernel's
// code in variants, of which variant i defines
//   const char mk_device_code_<i>[]       PTX text, NUL-terminated
//   const uint64_t mk_device_bytes_<i>    its length without the NUL
//
// Each variant says in the metadata what it needs of the arguments. When they are bound or
// attached the first is chosen whose needs the arguments of all ranks meet. A variant
// has code, parameters, a control block and signals of its own; arguments are shared. What a
// variant may need:
//   tensor-maps   the driver makes a tensor map of every argument that tiles are fetched from:
//                 its code fetches them in no other way (an empty part is described as one
//                 element, which is zero)
//
// The PTX has one entry, `mk_kernel`, with one parameter: a block of
// `gpu.param_bytes` bytes, aligned to 64, by value. It holds, in order:
//   mk_gpu_tensor_map[T]      128 bytes each, as metadata `gpu.tensor_maps`
//   mk_gpu_launch
//   int64_t dims[D]           kernel dimensions, this rank's values
//   for each argument         {uint64_t pointer; int64_t sizes[rank];
//                              int64_t strides[rank]}, strides in elements
//   for each signal array     {uint64_t values; uint64_t bases; uint64_t net;
//                              uint64_t slot; int64_t extents[rank]}, values, bases
//                             and net uint32_t each, see below
//   for each counter array    {uint64_t values; int64_t extents[rank]}, uint32_t each
//   for each queue            {uint64_t records; uint64_t ready; uint64_t tail;
//                              int64_t capacity}: int64_t[capacity][width],
//                             uint32_t[capacity], uint32_t
//   for each loop             {uint64_t ticket}, one uint32_t (metadata `loops`)
//   for a mesh of several ranks two more signal arrays of scope sys, with one
//                             element for each rank, without extents: `ready` and
//                             `done`
//   with metadata `timeline`  {uint64_t timeline}, see Timeline.h
// Everything behind mk_gpu_launch is 8-byte words; GpuParams.h computes where. Pointers are device
// addresses.
//
// Metadata of a GPU package, besides that of Package.h:
//   gpu  {variants: [{name: string
//           needs: "" | "tensor-maps", the last one nothing
//           grid: int, CTAs that are launched: fewer than those of all roles where code with large
//                 clusters leaves out those that have nothing to do
//           threads: int, threads of a CTA
//           cooperative: bool, CTAs wait for one another, so that all must run at a time
//           shared_bytes: int, dynamic shared memory of a CTA
//           param_bytes: int
//           workspace_bytes: int, device memory that CTAs share, see below
//           tensor_maps: [{arg: int, box: [int...] innermost last, one for each
//                          dimension of the argument (rank <= 5),
//                          copies: bool, tiles are fetched by it,
//                          packs: bool, optional: the kernel only reads the argument, and may be
//                                 given a copy of it with other strides,
//                          swizzle: 0 | 32 | 64 | 128}]
//           peer_maps: [the same]}, those of each rank's part of an argument, through
//                         which other ranks write
//         ]}
//
// Several ranks. The symmetric heap of every rank holds each symmetric argument, and the
// values of each signal of scope sys, at the same offset. `heaps` says where this
// device addresses the heap of a rank: what lies at `p` here lies at
// p - heaps[rank] + heaps[peer] there. 0 is a peer across a `net` axis, which only the
// proxy reaches, by commands (Command.h); they name an element of a signal by
// `slot` + its row-major number. What arrives that way the proxy of the receiver
// counts in `net` (0 on meshes without net axes), since it cannot add to what GPUs
// add to: the arrivals of an element are the sum of both words, and so is its base.
//
// A rank raises `ready`[rank] at each peer once it takes writes of this launch (behind
// mk.prepare, or at once), and `done`[rank] when all its CTAs have ended with nothing in
// flight. A CTA waits for the peer's `ready` before it touches that peer, and
// the CTA that finishes last for the `done` of all peers. On meshes with net axes it then raises
// its own element of the same array: its commands to all peers are in the ring. Who puts waits for
// the own `ready`, so that nothing it sends stands in front of these.
//
// Roles of copy engines (`engines` in the metadata) are functions of the payload, mk_role_<i>, like those of the
// host target. The runtime calls them when arguments are bound or attached, and takes down their puts; nothing is
// copied by the call. Where there are puts a launch of such a kernel begins with another one, of one thread, that raises `ready`
// in the kernel's place, says so (`opened` becomes epoch + 1), and waits for that of all peers. Then copies start, beside the kernel. Behind each that raises a signal another
// copy writes what the element has counted up to (epoch * arrivals + n) to the peer's word, which nobody else raises. When all
// are complete `copied` becomes epoch + 1, for which the last CTA waits before it raises `done`.
// All of that reads the epoch from memory, so that a captured launch can be replayed.
//
// A tensor map describes this rank's part of its argument, elements outside it
// read as zero and are not written. Where the driver cannot make one (base not
// aligned to 16, a stride but the innermost that is no multiple of 16 bytes, an
// innermost stride other than one element, an empty extent) its bit in
// `maps_valid` is 0, and a variant that does not need it takes another path.
//
// A launch may begin before the one in front of it in the stream has ended
// (programmatic stream serialization): the kernel waits by itself
// (griddepcontrol.wait) before it reads or writes anything.
//
// The kernel ends a launch itself (unless it has nothing of what follows), so that a captured graph
// can be replayed: the CTA that finishes last records the bases of dynamic signals, zeroes the
// words [zero, zero + zero_words) (tickets, counters, tails of queues), sets `finished` to 0 and
// adds 1 to `epoch`. `prepared` counts on: num_ctas in each launch of a kernel with mk.prepare. A
// signal with fixed arrivals has base epoch * arrivals, modulo 2^32. A record of a queue is there
// when its ready word is epoch + 1.
//
// A launch that fails comes to its end all the same, doing no harm: a wait that passes its
// deadline, or sees an abort word, returns, and from then on the CTA writes nothing
// to others. Whoever sets `claimed` of mk_gpu_control from 0 to 1 writes the report, then
// raises `abort`; the driver says of the launch that it has succeeded. What the launch leaves
// in this memory counts no more: kernels bound anew have memory of their own. Launches
// that are enqueued behind it find `abort` raised, wait for nobody and tell nobody anything.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_GPU_H
#define MKERNEL_ABI_GPU_H

#include "mkernel/ABI/Site.h"
#include "mkernel/ABI/Version.h"
#include <stddef.h>
#include <stdint.h>

#define MK_GPU_TENSOR_MAP_BYTES 128
#define MK_GPU_MAX_TENSOR_MAPS 64
#define MK_GPU_MAX_PARAM_BYTES 4096

// In device memory, one for each bound kernel; zero before the first launch.
typedef struct mk_gpu_control {
  uint32_t epoch;    // launches completed
  uint32_t finished; // CTAs of this launch that are done
  uint32_t abort;    // 0, or 1 once a wait has failed
  uint32_t claimed;  // 1 once a thread has taken on to write the report
  uint32_t prepared; // CTAs that have ended mk.prepare, of all launches
  uint32_t
      moved; // movers of CTAs that are done, of all launches; counted where only they reach peers
  uint32_t copied; // launches whose copies by copy engines are complete
  uint32_t opened; // the last launch that had another kernel in front of it which raised `ready`
} mk_gpu_control;

// The way to the proxy, in device memory: one for each rank of a mesh with net axes,
// shared by its kernels. A place in the ring is reserved by adding to `head` here (the
// ring's own is not used: a GPU has no atomics that the host sees as such),
// and written when the ring's tail is less than `capacity` behind it. Command 2^32 - 1
// of a CTA is followed by 0.
typedef struct mk_gpu_network {
  uint64_t ring;      // mk_command_ring *, as the device addresses it
  uint64_t head;      // commands reserved, counts up for ever
  uint64_t tail;      // the ring's tail when a CTA last looked
  uint64_t capacity;  // of the ring, a power of two
  uint64_t submitted; // uint32_t[num_ctas]: puts and signals of each CTA; counts up
  uint64_t completed; // const uint32_t[num_ctas], which the proxy writes: those of
                      // them that are complete at their peer, in any order. In device
                      // memory: CTAs that poll the host's would hold up what the copy
                      // engines fetch from there
} mk_gpu_network;

enum mk_gpu_wait_kind {
  MK_WAIT_SIGNAL = 1, // number: the signal, element: row-major
  MK_WAIT_QUEUE = 2,  // number: the queue, element: the entry
  MK_WAIT_RING = 3,   // number: the ring of the role, -1 for a mailbox, element:
                      // its stage
  MK_WAIT_READY = 4,  // element: the rank that is to begin this launch
  MK_WAIT_DONE = 5,   // element: the rank that is to close this launch
  MK_WAIT_GRID = 6,   // wanted, seen: CTAs that have ended mk.prepare
  MK_WAIT_COMMAND = 7, // a place in the command ring; element: its number
  MK_WAIT_PUTS = 8,   // wanted, seen: puts of the CTA complete at other nodes
  MK_WAIT_COPY = 9,   // element: the stage through which a put copies
  MK_WAIT_ENGINES = 10, // the copies of roles of copy engines
  // No waits, but what a program must not do; only the role is set.
  MK_FAIL_LOOP = 11, // begins or ends beyond 2^30
  MK_FAIL_PEER = 12, // no rank of the mesh, or one that only plain puts reach
  // The same, but reported like a wait: number: the site (mkernel/ABI/Site.h).
  // `named`, element: the first index, seen: how many from there on, wanted: the
  // extent, rank: whose.
  MK_FAIL_BOUNDS = 13,
};

// Of mk_gpu_report::named: a mk_named, the dimension, and the number of the argument,
// signal, counter or queue.
#define MK_GPU_NAMED(named, dim, number) ((named) | (dim) << 8 | (number) << 16)

#define MK_NO_ROLE 0xffffffffu

// In pinned host memory; written once, by the CTA that raised the abort word.
typedef struct mk_gpu_report {
  uint32_t written; // 0 or 1, stored last, released to the system
  uint32_t kind;    // mk_gpu_wait_kind
  uint32_t cta;     // in the grid
  uint32_t role; // MK_NO_ROLE outside of roles
  uint32_t number;
  uint32_t named; // MK_GPU_NAMED
  int64_t element;
  int64_t wanted; // arrivals, records or phase
  int64_t seen;
  int64_t rank;
} mk_gpu_report;

typedef struct mk_gpu_launch {
  uint64_t control;     // mk_gpu_control *
  uint64_t report;      // mk_gpu_report *, as the device addresses it
  uint64_t job_abort;   // const uint32_t * in pinned host memory: the job's
                        // abort word, 0 if there is none; not 0 ends waits
  uint64_t deadline_ns; // of every single wait
  uint64_t zero;        // uint32_t *: see above
  uint64_t workspace;   // workspace_bytes, 256-byte aligned, or 0
  uint64_t maps_valid;  // bit i: tensor map i may be used
  uint32_t zero_words;
  uint32_t rank; // linear rank
  uint32_t world;
  uint32_t num_ctas; // CTAs of the grid
  // On a mesh of several ranks, else 0:
  uint64_t heaps;   // const uint64_t[world]: see above
  uint64_t rows;    // const int64_t[arguments][world]: extent of dimension 0 of
                    // each symmetric argument on each rank
  uint64_t network; // mk_gpu_network *, 0 without net axes
  uint64_t peer_maps;       // mk_gpu_tensor_map[peer_maps][world]
  uint64_t peer_maps_valid; // const uint32_t[peer_maps][world]: 1 where it is one
} mk_gpu_launch;

MK_ABI_ASSERT(sizeof(mk_gpu_control) == 32, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_control, abort) == 8, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_control, prepared) == 16, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_control, copied) == 24, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_control, opened) == 28, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_network, submitted) == 32, "gpu layout");
MK_ABI_ASSERT(sizeof(mk_gpu_network) == 48, "gpu layout");
MK_ABI_ASSERT(sizeof(mk_gpu_report) == 56, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_report, element) == 24, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_launch, deadline_ns) == 24, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_launch, maps_valid) == 48, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_launch, rank) == 60, "gpu layout");
MK_ABI_ASSERT(offsetof(mk_gpu_launch, heaps) == 72, "gpu layout");
MK_ABI_ASSERT(sizeof(mk_gpu_launch) == 112, "gpu layout");

#endif // MKERNEL_ABI_GPU_H
