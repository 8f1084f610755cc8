//===- HeapCopies.h - Copies from and to a heap -----------------*- C++ -*-===//
//
// What a transport does with memory that it may not touch itself: copies to the heaps of
// peers on the same machine, which are mapped for these copies alone (kernels do not see
// them), and from and to memory of the host. The device makes them: a CPU at once, a GPU
// by its copy engines, beside whatever kernels run.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_HEAPCOPIES_H
#define MKERNEL_RUNTIME_HEAPCOPIES_H

#include "mkernel/Runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mk::rt {

class Fd;

/// Of one heap, which outlives it. Several of them copy side by side. Segments may be
/// shared and mapped by one thread while another copies; copies are begun and asked for by
/// one thread at a time.
class HeapCopies {
public:
  virtual ~HeapCopies() = default;

  /// A descriptor of one segment of this rank's heap (Heap::onSegment).
  virtual Result<Fd> exportSegment(uint64_t offset, uint64_t bytes) = 0;
  /// Maps the same segment of a peer's heap. `device` is what the peer's device() says.
  virtual Status mapSegment(uint32_t peer, const Fd &segment, uint64_t offset,
                            uint64_t bytes, std::string_view device) = 0;
  /// Says which it is, in at most 120 bytes.
  virtual std::string device() const = 0;
  /// Refuses a peer that uses the same device, where each rank needs its own.
  virtual Status checkPeer(uint32_t, std::string_view) const { return Status::success(); }

  /// Prepares memory of the host for toHost and fromHost; until this dies.
  virtual Status pin(std::byte *memory, uint64_t bytes) = 0;

  /// Begin a copy. They end in any order (on a GPU in that in which they were begun);
  /// offsets are from the starts of heaps. Memory of link peers needs no mapSegment: the heap
  /// has it mapped.
  virtual Status toPeer(uint32_t peer, uint64_t dst, uint64_t src, uint64_t bytes) = 0;
  virtual Status toHost(std::byte *to, uint64_t src, uint64_t bytes) = 0;
  virtual Status fromHost(uint64_t dst, const std::byte *from, uint64_t bytes) = 0;

  /// Marks all copies begun so far; marks are 1, 2, 3, ...
  virtual Result<uint64_t> mark() = 0;
  /// The last mark whose copies have all ended: what they wrote is visible to the
  /// kernels of its device from then on. Does not wait.
  virtual Result<uint64_t> reached() = 0;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_HEAPCOPIES_H
