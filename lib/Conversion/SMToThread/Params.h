//===- Params.h - The parameter block and shared memory ----------*- C++ -*-===//
//
// Where everything lies that a kernel is given (mkernel/ABI/Gpu.h) and that its
// roles share. Found before any code is emitted.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H

#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Analysis/Multiples.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"

namespace mlir::mk::sm {

namespace abi = ::mkernel::abi;

using mk_thread::getElementBytes;

/// How an argument is described to the copy engine.
struct TensorMap {
  unsigned arg;
  SmallVector<int64_t> box; // innermost last
  bool peers = false;       // that of each rank
  bool copies = false;      // tiles come by it
  bool operator==(const TensorMap &other) const {
    return arg == other.arg && box == other.box && peers == other.peers;
  }
};

/// Offsets into the block of parameters.
struct ParamLayout : abi::GpuParamLayout {
  SmallVector<TensorMap> maps, peerMaps; // the latter not in the block
  int64_t cluster = 1;                   // CTAs of one

  /// Number in `maps`, or in `peerMaps`.
  std::optional<unsigned> findMap(unsigned arg, ArrayRef<int64_t> box, bool peers = false) const;
};

/// Emits an error if the block does not fit. `timeline`: times are recorded.
FailureOr<ParamLayout> layOutParams(KernelOp kernel, const KernelResources &resources,
                                    int64_t minLoops, bool timeline);

/// A ring or a mailbox.
struct Channel {
  explicit Channel(Operation *create);
  int64_t number = 0; // among the rings of the role, for reports
  mk_thread::ChannelAttr place;
  int64_t consumers; // warps of a CTA that release a slot
  /// The groups of CTAs that share copies into it.
  SmallVector<mk_sm::ShareGroup> groups;
  /// How many CTAs of its cluster fill slots of a CTA.
  int64_t countWriters() const;
};

/// What the ops of a role, or of mk.prepare, share besides channels.
struct ScopeMemory {
  ScopeMemory() = default;
  explicit ScopeMemory(Operation *scope);
  int64_t puts = 0, putSlots = 0, putSlotBytes = 0, putBarriers = 0;
  int64_t exchange = 0, exchangeBytes = 0;
  int64_t sent =
      0; // of the barrier at which the sender says that it has sent what was posted; 0: none
  int64_t parts = 0,
          swaps = 0;   // of what other CTAs of the cluster send, and of the barriers of that
  int64_t padding = 0; // of the barrier of tiles that are padded when they have come; 0: none
};

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_PARAMS_H
