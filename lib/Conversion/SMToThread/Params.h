//===- Params.h - The parameter block and shared memory ----------*- C++ -*-===//
//
// Where everything lies that a kernel is given (mkernel/ABI/Gpu.h) and that its
// roles share. Found before any code is emitted.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H

#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"

namespace mlir::mk::sm {

namespace abi = ::mkernel::abi;

/// How an argument is described to the copy engine.
struct TensorMap {
  unsigned arg;
  SmallVector<int64_t> box; // innermost last
  bool peers = false;  // that of each rank
  bool copies = false; // tiles come by it
  bool operator==(const TensorMap &other) const {
    return arg == other.arg && box == other.box && peers == other.peers;
  }
};

/// Offsets into the block of parameters.
struct ParamLayout : abi::GpuParamLayout {
  SmallVector<TensorMap> maps, peerMaps; // the latter not in the block
  int64_t cluster = 1;                   // CTAs of one

  /// Number in `maps`, or in `peerMaps`.
  std::optional<unsigned> findMap(unsigned arg, ArrayRef<int64_t> box,
                                  bool peers = false) const;
};

/// Emits an error if the block does not fit. `timeline`: times are recorded.
FailureOr<ParamLayout> layOutParams(KernelOp kernel,
                                    const KernelResources &resources,
                                    int64_t minLoops, bool timeline);

/// The box in which a tile is copied into a slot (one of `shared` parts of its rows
/// where that many CTAs fetch it together), or stored through staging: one chunk
/// of 128 bytes, at most 256 rows. Empty if the copy engine cannot do it.
SmallVector<int64_t> getCopyBox(mk_sm::CopyOp copy);
SmallVector<int64_t> getStoreBox(mk_sm::StoreOp store);

/// Bytes of one element in memory.
int64_t getElementBytes(Type type);

/// Requests of copies that there may be at a time, and bytes of one (ThreadCopies.h).
constexpr int64_t kRequests = 4, kRequestBytes = 104;

/// A ring or a mailbox in shared memory.
struct Channel {
  int64_t number = 0; // among the rings of the role, for reports
  int64_t depth = 1, slotBytes = 0;
  int64_t data = 0;        // offset of slot 0
  int64_t full = 0, empty = 0; // offsets of the barriers of slot 0
  int64_t consumers = 0;   // warps of a CTA that release a slot
  int64_t teams = 1;       // of the consumer
  int64_t handover = 0;    // offset of the stage and parity that go from team to team
  int64_t shared = 1;      // CTAs that fill it together
};

/// What the ops of a role, or of mk.prepare, share besides channels.
struct ScopeMemory {
  int64_t puts = 0, putSlotBytes = 0, putBarriers = 0; // of slots of puts
  int64_t exchange = 0, exchangeBytes = 0;             // for elements
  int64_t landing = 0; // of the barrier of tiles that are trimmed when they have come; 0: none
};

struct SharedLayout {
  DenseMap<Operation *, Channel> channels;     // create_ring, create_mailbox
  DenseMap<Operation *, int64_t> stagings;     // offset of warpgroup 0
  DenseMap<Operation *, ScopeMemory> scopes;
  int64_t broadcast = 0; // 8 bytes for the result of an op that one thread did
  int64_t failed = 0;    // 4 bytes: not 0 once this CTA has failed
  int64_t request = 0;   // kRequests of them, and 8 bytes for how many there have been
  int64_t tracks = 0;    // words of tracks, if times are recorded
  int64_t bytes = 0;     // all of it
};

/// Roles share the memory of their tiles, since a CTA is in one at a time, but not
/// their barriers. `byThreads`: there are requests of copies; `timeline`: bytes that records of
/// times need. Emits an error with the numbers if it is too much.
FailureOr<SharedLayout> layOutShared(KernelOp kernel, bool byThreads, int64_t timeline);

/// "role 'gemm'" or "mk.prepare", for messages.
std::string describeScope(Operation *scope);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H
