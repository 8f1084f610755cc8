//===- SlowCopies.h - Copies without the copy engine -------------*- C++ -*-===//
//
// What a request of the producer says, and how a warp of the helpers brings the
// rows that are its own (SlowRows.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_SLOWCOPIES_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_SLOWCOPIES_H

#include "Emitter.h"

namespace mlir::mk::sm {

/// Warps that help the producer.
constexpr int64_t kHelperWarps = 3;

/// Offsets of the words of a request, 32-bit but where said. Addresses and extents
/// are not among what the producer writes: the helpers find them in the kernel's
/// parameters.
enum Request {
  kSize = 0, // bytes of an element; 0 ends the helpers' work
  kArg = 4,  // offset of the argument in the parameters
  kRank = 8,
  kRows = 12,   // of the tile
  kChunks = 16, // of 128 bytes in a row of it
  kValid = 20,  // rows, then columns
  kDest = 28,
  kFull = 32, // barrier of the slot
  kPad = 36,
  kOffsets = 40, // up to 7, one for each dimension, innermost last
  // What the first helper adds.
  kStart = 72, // 64-bit: address of the argument
  kBase = 80,  // 64-bit: address of the tile
  kRowDim = 88,
  kColumnDim = 104,
  // Of each of these two dimensions:
  kStride = 0,          // 64-bit: bytes from one to the next
  kFrom = 8, kLeft = 12, // [from, left): what exists
  // Not of requests: how many there have been, in the first; what a warp of the
  // helpers has to do, in one each.
  kPosted = 120,
  kState = 124,
};

/// A warp of the helpers at work on a request.
struct Helper {
  Emitter &e;
  Value request;           // address in shared memory
  ArrayRef<int64_t> sizes; // bytes of elements that there are in the kernel
  int64_t registers;       // of a thread
  Value warp, lane;        // the warp among the helpers

  Helper(Emitter &e, Value at, ArrayRef<int64_t> sizes, int64_t registers)
      : e(e), sizes(sizes), registers(registers) {
    // One value that LLVM knows nothing about: it would keep several, each a bit further on.
    request = e.create<mk_thread::PinOp>(TypeRange(e.i32), at).getResult(0);
    enter();
  }
  /// Reads the thread's number anew: LLVM would compute what follows from it in front of
  /// all loops, and keep it.
  void enter() {
    Value thread = e.create<mk_thread::ThreadIdOp>(e.i32, /*pinned=*/false);
    lane = e.and_(thread, 31);
    warp = e.sub(e.shr(thread, 5), 1);
  }
  /// A word of the request, or two, read here and not kept.
  Value get(int64_t offset, Type type = {}) const {
    return e.loadSharedHere(type ? type : e.i32, request, offset);
  }
};

/// Starts to fetch the warp's rows into the slot, as one group of copies: as they are to
/// lie there, but for those that do not begin at a multiple of 4 bytes.
void fetchRows(Helper helper);

/// Waits for the rows fetched by the oldest of `pending` requests, and moves or
/// adds what could not be fetched to its place.
void finishRows(Helper helper, Value pending);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_SLOWCOPIES_H
