//===- KernelInfo.h - What holds for all of a kernel -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELINFO_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELINFO_H

#include "Params.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Sites.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace mlir::mk::sm {

/// Found before any code is emitted; lowerings only read it.
struct KernelInfo {
  KernelInfo(KernelOp kernel, const KernelResources &resources, ArrayRef<int64_t> ctas,
             const ParamLayout &params, mk_sm::SharedMemoryOp shared, SiteTable *checked,
             SiteTable *timed);

  KernelOp getKernel() const { return kernel; }
  mk_sm::WarpsOp getWarps() const { return warps; }
  mk_sm::SharedMemoryOp getShared() const { return shared; }
  ThresholdsAttr getThresholds() const { return getSm(kernel).getThresholds(); }
  /// Bytes of a column of chunks, in which a tile lies in shared memory.
  int64_t getChunk() const { return getSm(kernel).getChunk(); }
  int64_t getNumThreads() const { return getWarps().getNumThreads(); }
  int64_t getNumConsumers() const { return getNumThreads() - kWarpgroupThreads; }
  /// Tracks of a CTA (mkernel/ABI/Timeline.h).
  int64_t getNumTracks() const {
    return getNumThreads() / kWarpgroupThreads + getWarps().getNumMovers();
  }
  int64_t getNumRanks() const { return getKernel().getMeshOp().getNumRanks(); }
  bool hasPeers() const { return getNumRanks() != 1; }
  /// Whether some peers are reached by the proxy only.
  bool hasNet() const { return getKernel().getMeshOp().hasNet(); }
  CtaRange ctasOf(unsigned role) const;
  /// Ranges of CTAs that begin in one of `roles`, as mk_thread.by_ctas has them.
  SmallVector<int64_t> findCtas(ArrayRef<unsigned> roles) const;
  int64_t countCtas() const { return countGrid(kernel, ctas); }
  /// Where a word lies in shared memory that belongs to the kernel as a whole.
  int64_t offsetOf(StringRef word) const { return mk_sm::getSharedOffset(shared, word); }

  /// Between what a scalar of the SM level lies; none if nothing is known.
  std::optional<ConstantIntRanges> findRange(Value scalar) const;

  const KernelResources &resources;
  ArrayRef<int64_t> ctas; // of each role
  const ParamLayout &params;
  /// Where ops that are checked get their numbers; null: none is checked.
  SiteTable *checked;
  /// Where ops that records of time name get theirs; null: there are no records. May be the
  /// same table.
  SiteTable *timed;
  bool byThreads;      // the variant for any strides: copies without tensor maps are possible
  bool waitsForOthers; // CTAs wait for one another, or for other ranks
  bool keepsCounts;    // a launch leaves something to the next one
  bool hasEngines; // copy engines carry out a role: a launch may be opened in front of the kernel
  /// Nothing but movers writes to other ranks: then these say when the rank is done with them.
  bool onlyMoversCommunicate;
  SmallVector<mk_sm::StoreOp> posted; // the stores that the sender does, by number

private:
  DataFlowSolver ranges;
  KernelOp kernel;
  mk_sm::WarpsOp warps;
  mk_sm::SharedMemoryOp shared;
};

/// Whether there is a put or signal in `scope` that may go to another rank.
bool holdsCommunication(Operation *scope);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_KERNELINFO_H
