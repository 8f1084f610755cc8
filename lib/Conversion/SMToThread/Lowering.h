//===- Lowering.h - State of the conversion to code of an SM -----*- C++ -*-===//
//
// One Lowering emits `mk_kernel` of one kernel: it walks the kernel and builds
// the code of one thread anew. A scalar stands for one value, a fragment for
// one value an element that the thread holds, a slot for two addresses.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERING_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERING_H

#include "KernelFacts.h"
#include "LoweringTypes.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Sites.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mk::sm {
using namespace mk_sm;
using mk_thread::SpanClock;

class Lowering : public Emitter {
public:
  Lowering(KernelOp kernel, ArrayRef<int64_t> ctas, const ParamLayout &params,
           SharedMemoryOp shared);

  /// Emits the function behind the kernel.
  LogicalResult run();

  ThresholdsAttr getThresholds() { return getSm(kernel).getThresholds(); }
  int64_t getNumThreads() { return warps.getNumThreads(); }
  /// Tracks of a CTA (mkernel/ABI/Timeline.h).
  int64_t getNumTracks() { return getNumThreads() / 128 + warps.getNumMovers(); }

  /// The variant for any strides: copies without tensor maps are possible.
  bool byThreads = false;
  /// Where ops that are checked get their numbers; null: none is checked.
  SiteTable *sites = nullptr;
  /// Where ops that records of time name get theirs; null: there are no records. May be the
  /// same table.
  SiteTable *places = nullptr;

private:
  //===--- Structure ------------------------------------------------------===//

  void loadParams();
  /// Each part of the kernel reads it for itself, and each of its loops: kept from one to
  /// the next, it would take a register beside accumulators.
  void readEpoch();
  void readThread();
  LogicalResult emitKernelScalars();
  /// Barriers are made, and what the launch before has left is there.
  void beginLaunch();
  /// What the first warpgroup does, and the others.
  LogicalResult emitProducers();
  LogicalResult emitConsumers();
  LogicalResult emitSide(PartitionKind kind);
  void emitCopiers();
  LogicalResult emitMover(int64_t number);
  LogicalResult emitRole(unsigned number, PartitionKind kind);
  CtaRange ctasOf(unsigned role);
  /// Ranges of CTAs that begin in one of `roles`, as mk_thread.by_ctas has them.
  SmallVector<int64_t> findCtas(ArrayRef<unsigned> roles);
  /// `scope` is a role or mk.prepare.
  void awaitArrivals(PartitionOp op);
  LogicalResult emitPartition(PartitionOp op, Operation *scope);
  void awaitPrepared();
  void endLaunch();
  /// Where a word lies in shared memory that belongs to the kernel as a whole.
  int64_t offsetOf(StringRef word) { return getSharedOffset(shared, word); }

  //===--- Ops ------------------------------------------------------------===//

  LogicalResult emit(Operation *op);
  LogicalResult emitOps(Block &block); // without its terminator
  LogicalResult lower(scf::ForOp op), lower(ItemsOp op), lower(scf::IfOp op),
      lower(scf::WhileOp op), lower(ReleaseOp op), lower(SendOp op), lower(ReceiveOp op),
      lower(TicketOp op), lower(PopOp op), lower(CopyOp op), lower(LoadOp op),
      lower(mk::StoreOp op), lower(mk_sm::StoreOp op), lower(SpillOp op), lower(ReloadOp op),
      lower(MmaFenceOp op), lower(MmaOp op), lower(MmaWaitOp op), lower(ConvertLayoutOp op),
      lower(ReduceOp op), lower(PartialSumOp op), lower(BroadcastOp op), lower(TransposeOp op),
      lower(SwapPartsOp op), lower(MaskOp op), lower(SignalOp op), lower(mk::WaitOp op),
      lower(CountOp op), lower(PushOp op);
  LogicalResult emitWaits(scf::ForOp op);
  bool clampUpperBound(Operation *op, Value from, Value &to, Value step);
  LogicalResult emitCounted(Operation *op, Value from, Value to, Value step, ValueRange inits,
                            function_ref<void(Value)> enter);
  LogicalResult emitScalarOrElementwise(Operation *op);

  // Channels
  /// Waits for a slot that is to be filled, or is full.
  void takeSlot(Value slot, Value ring, ValueRange place, bool fills);

  // Copies and stores of tiles
  void copyByEngine(const TileCopy &copy, Value map, Value barrier, int64_t shared);
  /// Has the copiers bring a tile, for which `barrier` waits.
  void copyByThreads(const TileCopy &copy, Value barrier);
  /// Who they are, and where requests to them lie.
  mk_thread::CopiersAttr makeCopiers();
  /// i1: the slot gets elements that are not valid, or not padded; null: never.
  Value isCut(CopyOp op, const TileCopy &copy);
  /// The producer waits until what `bring` brings has come, counted by the barrier that it is
  /// given.
  void awaitLanding(CopyOp op, function_ref<void(Value)> bring);
  /// Writes the pad, or zero, over what is not valid of a tile that has come.
  void trim(CopyOp op, const TileCopy &copy);
  std::array<Value, 4> findExisting(const TileCopy &copy, ValueRange valid);
  Value narrow(Value value);
  /// The copy engine stores with `map` where `usable` holds, else threads to each of the buffers.
  /// No map: the tile is posted.
  void stage(mk_sm::StoreOp op, ArrayRef<Buffer> to, Value map, Value usable);
  // Tiles that are left to the sender
  /// Waits until the sender has sent what the partition has posted.
  void awaitSent();
  /// Has the sender send without pauses: the consumer waits for others.
  void hurrySender();
  /// Hands the tile in the staging area over. `sends`: by the copy engine; else threads have stored
  /// it.
  void post(mk_sm::StoreOp op, ArrayRef<Value> peers, Value sends);
  void dismissSender();
  void emitSender();
  /// Counts what the partition posts; null if it posts nothing.
  Value posting;
  /// The tensor map of a peer's part of the buffer, and whether it may be used.
  std::pair<Value, Value> peerMap(const Buffer &buffer, ArrayRef<int64_t> box,
                                  Value peer);
  /// What ops that access elements of a tile at `offsets` name.
  struct Access {
    Value start;
    SmallVector<Value> strides, offsets, limits;
    Value thread;
    Value together; // i1: whether runs are accessed at once, if they are of this many bytes; null:
                    // never
  };
  Access access(const Buffer &buffer, RankedTensorType tile, ValueRange offsets, ValueRange valid,
                bool runs);
  /// Where a thread's first registers of a spilled fragment lie, the distance to its next ones, and
  /// whether that is within the buffer.
  struct SpillPlace {
    Value address;
    int64_t step;
    Value exists;
  };
  SpillPlace spillPlace(Operation *op, Value memory, ValueRange index, RankedTensorType tile);

  // Matrices
  /// Cursors are handed over with the turn.
  void emitTurnWait(ValueRange taken);
  void emitTurnPass(ValueRange handed);

  // Fragments
  /// Threads exchange elements in `room`, if it is given.
  void reduce(Reduction kind, Value from, int64_t axis, Value to, int64_t chains,
              mk_thread::RoomAttr room);

  // Elements that change threads
  mk_thread::RoomAttr getRoom();
  /// The elements of `from` to the threads that hold them in `to`, which has the
  /// dimensions `dims` besides, or has those of `from` in the opposite order.
  LogicalResult exchange(Value from, Value to, ArrayRef<int64_t> dims, bool transposes = false);

  // Communication
  Value linearElement(ArrayRef<int64_t> shape, ValueRange extents,
                      ArrayRef<Value> index);
  SignalArray signalArray(Value signal);
  /// `op` names it.
  Value signalElement(Operation *op, Value signal, ValueRange index);
  /// One thread raises an element here, or at the peer.
  void raise(SignalArray array, Value element, int64_t amount, Value peer = {},
             bool strong = false, std::optional<LinkKind> via = {}, bool relaxed = false);
  /// Waits until an element has counted up to `wanted`. `kind`, `number` and
  /// `count` are for the report. Only threads wait for which `leader` is true, if it is given.
  void waitArrivals(SignalArray array, Value element, Value wanted, int64_t kind,
                    int64_t number, Value count, Value leader = {});

  // Puts
  /// `pipeline`: its cursors; null in a mover, which has no slots.
  /// `also`: peers that get the same.
  LogicalResult emitPut(PutOp op, PipelinePutOp pipeline, ValueRange also = {});

  //===--- Checks that what ops name exists -------------------------------===//

  /// The launch fails with a report unless element `begin` exists, or `size` from there on
  /// (i64), where all of `when` hold. Gives `begin`; without `size` and `when` 0 where that does
  /// not exist.
  Value check(Operation *op, const CheckedEntity &named, Value begin, Value size = {},
              ArrayRef<AtLeast> when = {});
  /// Gives the indices, 0 where they do not exist.
  SmallVector<Value> checkIndices(Operation *op, int64_t kind, int64_t number,
                                  int64_t param, ArrayRef<int64_t> shape,
                                  ValueRange index);
  /// Of an argument; `offsets` without sizes name one element. Gives the offsets as `check`.
  SmallVector<Value> checkRegion(Operation *op, int64_t kind, const Buffer &buffer,
                                 ArrayRef<Value> offsets, ArrayRef<Value> sizes,
                                 ArrayRef<AtLeast> when, Value rank = {},
                                 ValueRange indices = {});
  /// Whether an element with this index (of the SM level) is there for all values that the index
  /// can have.
  bool exists(const Buffer &buffer, unsigned dim, Value index) {
    return exist(buffer, dim, index, 1);
  }
  /// The same of `size` elements from that index on.
  bool exist(const Buffer &buffer, unsigned dim, Value index, int64_t size);
  /// One end of a put. `list`: source rows, in shared memory.
  void checkPut(PutOp op, int64_t kind, Value list, Value peer = {});
  SmallVector<Value> checkScalar(Operation *op, int64_t kind, const Buffer &buffer,
                                 ValueRange indices);

  //===--- When what is done (Timeline.cpp) -------------------------------===//

  LogicalResult checkTimeline();
  /// Those of warpgroups, or that of `mover`.
  void openTracks(bool ofMover = false);
  void closeTracks(bool ofMover = false);
  /// A span begins here, as one that is `what`; its value (i32; null: none) is kept, too.
  /// Spans of different kinds may be in each other.
  void beginSpan(SpanClock clock, Value value = {});
  /// Records it. A kind of mk_timeline_kind.
  void endSpan(SpanClock clock, int64_t kind, int64_t object = -1);
  struct ItemSpan;
  mk_thread::SpanAttr makeSignalSpan(Value signal);
  /// By the thread that is here, if it is the one that records.
  void recordSignal(Value signal, Value element);
  /// What a wait records once it has found what it waits for.
  mk_thread::SpanAttr makeWaitSpan(int64_t kind, int64_t number);
  mk_thread::SpanAttr makeSpan(int64_t kind, int64_t object);
  mk_thread::SpanAttr makeMoverSpan(int64_t what);
  /// The op whose code is being emitted; null at both ends of a kernel.
  Operation *currentOp = nullptr;

  //===--- A launch that has failed (Faults.cpp) --------------------------===//

  mk_thread::ReportAttr makeReport(int64_t kind, int64_t number);
  /// The launch fails with a report (MK_FAIL_*) where the condition does not hold: a
  /// program that is wrong.
  void failUnless(Value condition, int64_t kind);
  /// This rank; in a mover read where it stands, or LLVM would keep each peer, and what lies there,
  /// in registers.
  Value readRank();
  /// The rank, or this one where the mesh has no such rank, which is reported.
  Value existingPeer(Value peer);
  /// i32: whether the CTA has failed, the same for all threads of the partition, which
  /// meet for it.
  Value agreeOnFailure();
  /// To be called behind a wait for a signal.
  void updateWaitFailed();
  bool mayBeWritten(const Buffer &buffer);
  /// Whether what is loaded, or from where, has no meaning after a failure.
  bool isUncertain(memref::LoadOp op);
  /// Whether threads of the consumer load scalars whose meaning depends on waits.
  bool needsAgreement();
  /// Zero if `failed` (i32) is not 0.
  Value loadIfFine(Type type, Value address, Value failed);
  Value loadScalar(memref::LoadOp op, Type type, Value address);

  //===--- Several ranks --------------------------------------------------===//

  bool hasPeers();
  /// Whether some peers are reached by the proxy only.
  bool hasNet();
  /// All threads that come here wait until the peer has begun this launch.
  void awaitReady(Value peer);
  /// Raises an element of the launch's own signals, this rank's, at all peers.
  void tellPeers(int64_t param, bool unlessAborted = false);
  /// The buffer as it lies at a peer across links.
  Buffer atPeer(const Buffer &buffer, Value peer);
  Value rowsAt(const Buffer &buffer, Value peer);
  /// What flags of commands say of their writer; null: nothing.
  Value commandTeam();
  /// All threads wait until the puts of this CTA are complete at other nodes.
  void awaitPuts();

  //===--- Values ---------------------------------------------------------===//

  /// A fragment, or elements or words of it, for a tile; two addresses for a slot; else a scalar.
  void set(Value from, ValueRange to);
  /// The scalar or the fragment.
  Value scalar(Value from) {
    assert(values.contains(from) && "used before it was emitted");
    return values[from].front();
  }
  SmallVector<Value> scalars(ValueRange from);
  /// What a thread holds of it.
  SmallVector<Value> elements(Value from);
  /// What `emit` makes, in place or, if the op is deferred, on demand.
  LogicalResult setFragment(Operation *op, function_ref<Operation *()> emit);
  /// Says that there is no code for an elementwise op.
  LogicalResult refuse(Operation *op);

  /// As words, in which they cross loops.
  static SmallVector<Type> packedTypes(Type type);
  static SmallVector<Type> packedTypes(TypeRange types);
  SmallVector<Value> packAll(ValueRange from);
  void unpackAll(ValueRange to, ValueRange words);

  //===--- Elementwise ----------------------------------------------------===//

  /// The factors of rows or columns by which the op scales a tile that a loop carries, if
  /// it does; a warp whose factors are all one goes past the products.
  BroadcastOp findFactors(Operation *op);
  LogicalResult emitScaling(Operation *op, BroadcastOp broadcast);

  /// The thread's number in the partition, read anew, for places of elements: LLVM would compute
  /// all places of a loop before it, and keep them.
  Value readThreadInPartition();

  //===--- Buffers --------------------------------------------------------===//

  FailureOr<Buffer> buffer(Operation *op, Value memref);
  /// Words of the parameters (i64), read where they are asked for: LLVM would read
  /// them once, at the start, and keep them in registers.
  Value baseOf(const Buffer &buffer);
  /// What a dimension of a kernel's argument is, where that is known.
  std::optional<int64_t> extentOf(const Buffer &buffer, int64_t d);
  Value sizeOf(const Buffer &buffer, int64_t d);
  Value strideOf(const Buffer &buffer, int64_t d); // in elements
  /// Whether it is scratch of known extents: the runtime's own memory, rows one behind the other.
  bool isPacked(const Buffer &buffer);
  /// Whether a row of a tile at `offsets` begins where the widest access may, in any case.
  bool isAligned(const Buffer &buffer, ArrayRef<Value> offsets);
  SmallVector<Value> byteStrides(const Buffer &buffer);
  Value wordOf(const Buffer &buffer, int64_t word);
  /// The address of the tensor map with this box, and whether it may be used;
  /// null if there is none.
  Value mapNumber(const Buffer &buffer, ArrayRef<int64_t> box, bool peers = false);
  std::pair<Value, Value> tensorMap(const Buffer &buffer, ArrayRef<int64_t> box);
  /// How many elements from the offset on exist, for each dimension of a tile; its extent where
  /// the offsets of the SM level, `indices`, tell that all of it does.
  SmallVector<Value> limits(const Buffer &buffer, ArrayRef<Value> offsets, ArrayRef<int64_t> tile,
                            ValueRange valid, ValueRange indices = {});
  /// i1: `usable`, and `valid` ends nothing that the buffer or the tile does not end.
  Value isBoundedByBuffer(Value usable, const Buffer &buffer, ArrayRef<Value> offsets,
                     ArrayRef<int64_t> shape, ValueRange valid);
  /// i1: `usable`, and the copy engine takes a box that begins at `offsets`.
  Value isBoxAddressable(Value usable, ValueRange offsets, Type element, bool stores);
  Value elementAddress(const Buffer &buffer, ArrayRef<Value> offsets);

  //===--- Threads --------------------------------------------------------===//

  /// Whether the partition is one warp, a producer or a mover.
  bool isOneWarp() { return partition.getKind() != PartitionKind::Consumer; }
  bool isMover() { return partition.getKind() == PartitionKind::Mover; }
  /// All threads of the partition have come here.
  void barrierPartition();
  /// Its named barrier, of a consumer, and that of a warpgroup.
  Value partitionBarrier();
  /// `body` by one thread once all have come here.
  void once(function_ref<void()> body);
  /// One thread adds to a word; every thread gets what was there before, or `otherwise` after a
  /// failure.
  Value fetchOnce(mk_thread::MemOrder order, Value address, Value amount, int64_t otherwise);
  /// The barrier at which threads of the partition meet, and how many they are; null: they are a
  /// warp.
  std::pair<Value, IntegerAttr> getMeeting();
  void finishStores();

  //===--- State ----------------------------------------------------------===//

  /// Variables of an mk_sm.cursor.
  struct Cursor {
    Value stage, phase; // variables
  };
  Cursor makeCursor(int64_t parity);
  void advance(Value cursor);

  KernelOp kernel;
  KernelResources resources;
  KernelFacts facts;
  SmallVector<int64_t> ctas;
  const ParamLayout &params;
  WarpsOp warps;
  SharedMemoryOp shared;
  int64_t cluster; // CTAs of one

  std::unique_ptr<DataFlowSolver> ranges; // of scalars of the SM level, once somebody asks
  Value thread, lane, warp, warpgroup, cta, epoch;

  // Of the partition being emitted.
  PartitionOp partition;
  int64_t roleNumber = 0;
  Value ctaInRole;
  ScopeMemory memory;
  Value readySeen; // a variable: peers known to have begun, a bit each
  /// A variable, the same in all threads, where they need to agree: a wait was given up.
  Value waitFailed;
  bool keepsWords = false; // words of buffers are read in front of the loop that is emitted
  bool waitsDiverge =
      false;             // threads of the partition wait for different things, and meet behind that
  Value partitionThread; // in the partition
  int64_t mover = 0;     // its number, in a mover
  Value group;           // warpgroup of the consumer
  bool storesPending = false;
  DenseMap<Value, Cursor> cursors;

  DenseMap<Value, SmallVector<Value, 1>> values;
  DenseMap<Value, Buffer> buffers;
};

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERING_H
