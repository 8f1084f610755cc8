//===- WorkCounter.h - Counts what a kernel has to do ------------*- C++ -*-===//
#ifndef MKERNEL_LIB_ANALYSIS_WORKCOUNTER_H
#define MKERNEL_LIB_ANALYSIS_WORKCOUNTER_H

#include "WorkNumbers.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk {

/// Of peers that may get different things so many are looked at.
constexpr int64_t kMostPeers = 16;

/// Why work cannot be counted.
constexpr StringLiteral kUnknownExtents = "has a tile whose extents are not known";

inline bool isTileType(Type type) { return isa<RankedTensorType>(type); }

/// What waits for others, or tells them something.
inline bool isCommunication(Operation *op) {
  return isa<PutOp, WaitOp, SignalOp, CountOp, PushOp>(op);
}

/// Whether it is a tile that a loop carries, or is made from one element by element.
bool isCarried(Value tile);

/// Counts with one choice of parameters. What returns a bool has given up if it is false.
class WorkCounter {
public:
  WorkCounter(KernelOp kernel, const NamedNumbers &sizes, const NamedNumbers &params,
              std::string &why)
      : kernel(kernel), numbers(kernel, sizes, params), why(why),
        unit(getSm(kernel).getMatrixUnit()), rates(getSmTarget(kernel).getRates()),
        hasLinks(getSmTarget(kernel).getLinks() != nullptr), chunk(getSm(kernel).getChunk()) {}

  bool run(int64_t grid, KernelWork &work);

private:
  bool giveUp(Operation *op, const Twine &reason);
  FailureOr<SmallVector<int64_t>> divide(int64_t grid);
  SmallVector<int64_t> followChains(ArrayRef<int64_t> ctas, KernelWork &work);
  bool countLoop(ForeachOp loop, LoopWork &work);
  bool countSamples(ForeachOp loop, ArrayRef<int64_t> bounds, int64_t most, size_t even,
                    int64_t run, LoopWork &work);
  int64_t countLinked();
  bool countItem(ForeachOp loop, ArrayRef<int64_t> indices, LoopWork &work);
  bool count(Block &block, double times, bool inner);
  void countLoadTurns(Block &block, double times);
  bool countNested(Operation *op, double times, bool inner);
  bool countCarried(Operation *loop);
  bool countPeers(ForeachPeerOp loop, double times, bool inner);
  bool countBranch(scf::IfOp op, double times, bool inner);
  bool countOp(Operation *op, double times, bool inner);
  bool countDot(DotOp dot, Work &work, double times);
  bool countTransposed(TransposeOp op, Work &work, double times);
  /// A matrix that an item loads outside of its loops.
  void addHeld(LoadOp load);
  bool countTile(Operation *op, Work &work, double times);
  double countChunks(mk::StoreOp store);
  double countSharedBytes(mk::StoreOp store, double bytes);
  bool isPacked(Value buffer);
  bool beginsAtMultiples(LoadOp load, bool packs, int64_t bytes);
  void addCopies(LoadOp load, double bytes, Work &work);
  double countBytes(unsigned arg);
  void findCluster(ForeachOp loop, ArrayRef<int64_t> bounds, const LoopWork &work);
  int64_t countSharers(LoadOp load);
  bool isTakenByEngine(LoadOp load);
  void countArguments(KernelWork &work);
  void findArrivals(ArrayRef<int64_t> ctas);
  bool addArrivals(PutOp put, RoleOp role, int64_t ctas);
  double getShareSent(Value peer);
  std::optional<int64_t> countRaises(Value signal);
  /// Whether an op waits for what peers send.
  bool awaits(Operation *op);

  KernelOp kernel;
  WorkNumbers numbers;
  std::string &why;
  MatrixUnitAttr unit;
  RatesAttr rates; // null: times are of no interest
  bool hasLinks;
  int64_t chunk;
  ItemWork item;
  LoopWork *current = nullptr;
  llvm::SmallDenseSet<Value> counted; // tiles in registers
  /// CTAs of a cluster, and the indices in which their items differ, each with its extent.
  int64_t cluster = 1;
  SmallVector<std::pair<BlockArgument, int64_t>> differing;
  llvm::SmallDenseMap<unsigned, bool> packable; // arguments whose rows no tensor map describes
  bool alone = true;
  llvm::SmallDenseMap<Value, Arrivals> arriving; // what peers send, by the signal that they raise
  llvm::SmallDenseSet<Value> announcing;         // signals of what items with products store there
  bool isSampled = false;                        // items differ: they are looked at one by one
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_ANALYSIS_WORKCOUNTER_H
