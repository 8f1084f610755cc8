//===- KernelProgram.h - A kernel as events of its CTAs ---------*- C++ -*-===//
//
// Evaluates the index arithmetic of a kernel for each rank and CTA, and gives the events that
// follow from it to a check::Machine. Tiles are not computed: what depends on them is unknown, and
// a kernel whose communication does cannot be decided.
//
// The kernel is at the tile level with loops expanded (mk-expand-loops) and ranks as arithmetic
// (mk-expand-ranks). Of its ops only those are kept that an event needs.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_VERIFY_KERNELPROGRAM_H
#define MKERNEL_LIB_VERIFY_KERNELPROGRAM_H

#include "mkernel/Analysis/Resources.h"
#include "mkernel/Check/Machine.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mk {

/// Values of dimensions by name: one, or one for each rank.
using DimTable = llvm::StringMap<SmallVector<int64_t>>;

class KernelProgram : public ::mk::check::Program {
public:
  using Event = ::mk::check::Event;
  using Box = ::mk::check::Box;

  /// `then` lists, for each role, the roles that its CTAs go on with;
  /// `accesses`: also loads and stores of what any op writes; `reads`: and loads of
  /// what none does.
  KernelProgram(KernelOp kernel, ArrayRef<int64_t> ctasOfRole, ArrayRef<SmallVector<unsigned>> then,
                const DimTable &dims, bool accesses, uint64_t maxSteps, bool reads = false);
  ~KernelProgram() override;

  uint32_t numRanks() const { return ranks; }
  uint32_t ctasOfRank() const { return ctas; }
  /// Ops that make events; none: nothing to check.
  unsigned numEventOps() const { return eventOps; }

  /// Why a run ended with Unknown: the op that could not be evaluated, or one
  /// that is wrong in any case.
  struct Failure {
    Operation *op = nullptr;
    std::string text;
    bool wrong = false;
  };
  const Failure &failure() const { return failed; }
  /// What was not searched for races, in the order in which it was met: ops
  /// whose accesses are not known, or branches and loops that were passed over.
  const llvm::MapVector<Operation *, std::string> &unsearched() const { return notSearched; }
  /// What CTAs do may depend on who comes first: some draw items that others could
  /// draw, or use how far a counter is.
  bool hasDraws() const { return draws; }
  bool hasCounts() const { return counts; }
  /// Whether all requirements hold on all ranks, as far as they are known.
  bool requirementsHold();

  Operation *opOf(int32_t site) const { return sites[site]; }
  uint32_t roleOf(uint32_t cta) const;
  uint32_t rankOf(uint32_t cta) const { return cta / ctas; }
  /// "role 'gemm', rank 1, CTA 3"; `op`: names the role that it stands in.
  std::string describe(uint32_t cta, Operation *op = nullptr) const;
  SignalsOp signal(int32_t number) { return resources.signals[number]; }
  QueueOp queue(int32_t number) { return resources.queues[number]; }
  /// "signal 'ready'[2, 1]".
  std::string describeSignal(uint32_t rank, int32_t number, int64_t element);
  /// Arrivals that each element of a signal gets by its type; nothing if dynamic.
  std::optional<int64_t> declaredArrivals(uint32_t rank, int32_t number);
  StringRef bufferName(int32_t buffer) const;

  Next next(uint32_t cta, Event &event) override;
  void counted(uint32_t cta, int64_t before) override;
  void popped(uint32_t cta, const std::vector<int64_t> &record) override;

private:
  struct Scalar {
    int64_t value = 0;
    bool known = false;
  };
  struct Body;
  struct Node;
  struct Frame;
  struct CtaState;

  // Building.
  void keep(Operation *op);
  void keep(Value value);
  bool isEvent(Operation *op) const;
  /// An event that raises and waits for nothing.
  static bool isAccess(Operation *op);
  void findWritten(bool reads);
  /// Whether one of the arguments that a buffer may be is written.
  bool mayBeWritten(Value buffer) const;
  unsigned slotOf(Value value);
  std::unique_ptr<Body> build(Block &block);
  bool isShared(Operation *ticket) const;
  void start(CtaState &state, uint32_t cta);

  // Running.
  bool step(uint32_t cta, CtaState &state, Event &event, Next &result);
  bool enter(CtaState &state, Node &node);
  /// CTAs that the items are divided among.
  int64_t countSharing(mk_sm::ItemsOp items) const;
  void startItem(CtaState &state, const Frame &frame);
  void leave(CtaState &state);
  /// What stands beside roles. What a loop with very many turns gives is not known.
  void evaluateScope(CtaState &state);
  bool passOver(CtaState &state, const Node &node, StringRef why);
  Next giveUp(Operation *op, const Twine &text, bool wrong = false);
  void evaluate(CtaState &state, const Node &node);
  Scalar evaluateFold(const CtaState &state, const Node &node, unsigned result);
  Next emit(uint32_t cta, CtaState &state, const Node &node, Event &event);

  Scalar get(const CtaState &state, Value value) const;
  void set(CtaState &state, Value value, Scalar scalar);
  /// The argument that a buffer is, if known.
  std::optional<int32_t> bufferOf(const CtaState &state, Value value) const;
  /// The extent of a dimension of an argument on a rank.
  Scalar extent(uint32_t rank, int32_t arg, unsigned dim);
  Scalar computeExtent(uint32_t rank, int32_t arg, unsigned dim);
  /// Extents of a signal, counter.
  std::optional<SmallVector<int64_t>> shapeOf(const CtaState &state, Value declared) const;
  /// Row-major element, or gives up.
  bool element(const CtaState &state, Operation *op, Value declared, ValueRange index,
               int64_t &result);
  /// Whether elements [begin, begin + size) of a dimension of an argument exist on a
  /// rank, as far as that is known; or gives up. `does`: "reads" or "writes".
  bool exists(const CtaState &state, Operation *op, StringRef does, uint32_t rank, int32_t arg,
              unsigned dim, int64_t begin, int64_t size);
  /// The same for both ends of a put, for the dimensions of a store in front of its tile's, and for
  /// what a scalar access names.
  bool putExists(const CtaState &state, PutOp put, uint32_t peer);
  bool storeExists(const CtaState &state, StoreOp store, uint32_t peer);
  bool elementExists(const CtaState &state, Operation *op);
  static bool isScalarAccess(Operation *op);
  bool known(const CtaState &state, Operation *op, Value value, StringRef what, int64_t &result);
  /// What an access of a written argument touches. That it cannot be said is remembered.
  std::optional<std::pair<int32_t, Box>> locate(const CtaState &state, Operation *op, Value buffer,
                                                function_ref<std::optional<Box>(int32_t)> box);
  void skipAccesses(Operation *op, const Twine &why);
  /// Whether rules of net axes let a put or a store reach a peer; gives up if not.
  bool mayReach(const CtaState &state, Operation *op, int64_t peer);
  bool isInPieces(const CtaState &state, uint32_t rank, Value buffer, ValueRange offsets,
                  ValueRange sizes, unsigned first);
  std::optional<Box> tileBox(const CtaState &state, uint32_t rank, int32_t arg, ValueRange offsets,
                             ArrayRef<int64_t> tile, ValueRange valid);
  std::optional<Box> regionBox(const CtaState &state, Value buffer, ValueRange offsets,
                               ValueRange sizes);

  KernelOp kernel;
  MeshOp mesh;
  KernelResources resources;
  const DimTable &dims;
  SmallVector<int64_t> ctasOfRole;
  ArrayRef<SmallVector<unsigned>> then;
  bool accesses;
  uint32_t ranks, ctas;
  uint64_t stepsLeft;

  llvm::DenseSet<Operation *> kept;
  llvm::DenseSet<int32_t> written; // arguments
  llvm::DenseMap<Value, unsigned> slots;
  std::vector<Operation *> sites;
  std::unique_ptr<Body> scope, prepare;
  std::vector<std::unique_ptr<Body>> roles;
  std::vector<std::unique_ptr<CtaState>> scopes; // by rank
  std::vector<std::unique_ptr<CtaState>> states; // by CTA
  llvm::DenseMap<std::pair<uint32_t, int64_t>, int64_t> tickets;
  /// What is known of them, by rank, argument and dimension: asked for at every access.
  llvm::DenseMap<std::tuple<uint32_t, int32_t, unsigned>, int64_t> extents;
  unsigned eventOps = 0;
  bool draws = false, counts = false;
  bool longScope = false; // a loop beside roles was not followed to its end
  llvm::MapVector<Operation *, std::string> notSearched;
  Failure failed;
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_VERIFY_KERNELPROGRAM_H
