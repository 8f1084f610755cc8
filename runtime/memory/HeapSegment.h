//===- HeapSegment.h - Memory behind a part of a heap -----------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_MEMORY_HEAPSEGMENT_H
#define MKERNEL_RUNTIME_MEMORY_HEAPSEGMENT_H

#include "core/Socket.h"
#include "mkernel/Runtime/Heap.h"

namespace mk::rt {

/// What this rank has put behind [offset, offset + bytes), to be mapped by peers.
struct Heap::Segment {
  uint64_t offset = 0, bytes = 0;
  Fd fd;
  Status status; // why there is no memory
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_MEMORY_HEAPSEGMENT_H
