//===- Thread.h - The thread dialect --------------------------*- C++ -*-===//
//
// What one thread of a persistent kernel does with the machine. What each op means is said
// in dialects/Thread/*.td.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_THREAD_THREAD_H
#define MKERNEL_DIALECT_THREAD_THREAD_H

#include "mkernel/Dialect/SM/Sizes.h"
#include "mkernel/Dialect/Tile/UnknownOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mkernel/Dialect/Thread/ThreadDialect.h.inc"
#include "mkernel/Dialect/Thread/ThreadEnums.h.inc"

namespace mlir::mk_thread {

using mk_sm::kMostPeers, mk_sm::kPostBytes, mk_sm::kRequestBytes, mk_sm::kRequests;

/// Bytes of shared memory that each track has where times are recorded, and the most tracks of a
/// CTA; there is room for one more, which nobody reads.
constexpr int64_t kTrackBytes = 32, kMaxTracks = 8;

/// How the sender is to pace the pieces of a tile, which the consumer says in a word of the post:
/// with pauses; without, since the consumer waits for others; or all at once, since it waits for
/// the sender.
constexpr int64_t kPostPacing = 64;
enum Pacing { kPaced, kUnpaced, kDrained };
/// Threads that meet when the sender is called: its own, and those of the warp that calls.
constexpr int64_t kPostCallers = 64;

/// Refuses an op that is not somewhere in a kernel.
LogicalResult verifyInKernel(Operation *op);
template <typename ConcreteType>
class InKernel : public OpTrait::TraitBase<ConcreteType, InKernel> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyInKernel(op); }
};

/// Of an op that stands for several steps, and has to be expanded before the conversion to LLVM.
template <typename ConcreteType>
class Composite : public OpTrait::TraitBase<ConcreteType, Composite> {};

} // namespace mlir::mk_thread

#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/Thread/ThreadAttrs.h.inc"

#define GET_OP_CLASSES
#include "mkernel/Dialect/Thread/ThreadOps.h.inc"

namespace mlir::mk_thread {

/// Refuses composite ops that are left in the kernel.
LogicalResult verifyExpanded(KernelOp kernel);

/// What PTX calls the type in additions to memory ("f32", "noftz.bf16", ...); empty if the copy
/// engine and the memory system do not add it (PTX ISA, red and cp.reduce.async.bulk).
StringRef getAddition(Type type);

/// Bytes of an element of a matrix op's operand ("bf16", "tf32", "e4m3", ...); 0 if there is no
/// such type.
int64_t getMatrixBytes(StringRef type);

/// The type in which a thread holds an element, and the bytes that it takes in memory.
Type getRegisterType(Type element);
int64_t getElementBytes(Type element);
/// Parts of the results of a reduction that threads exchange, of a tile that is dealt out.
struct Partials {
  Partials(RankedTensorType tile, int64_t axis);
  int64_t together; // elements of a run that a thread reduces
  int64_t rounds;   // such runs of a thread in a row, if a row is all theirs; 0: it is not
  int64_t count, pitch; // of a result, and from one result to the next
};
/// Bytes that a reduction exchanges at least.
int64_t getReductionBytes(RankedTensorType tile, int64_t axis);
/// Loops that are counted in 32 bits begin, end and step within this, on both sides of 0
/// (clamp_end).
constexpr int64_t kMostCounted = 1 << 30;
/// How many elements of a thread, from each that is a multiple on, are adjacent in a
/// row and may be accessed together in global memory.
int64_t getRun(RankedTensorType tile);
/// Whether runs are as long as an access may be. They are moved at once also where a row ends
/// between two of them; shorter ones only where rows have all of the tile's elements.
bool areRunsLong(RankedTensorType tile);
/// How many of them are adjacent in a row of a staged tile and are read together.
int64_t getReadRun(RankedTensorType tile);
/// How many blocks of 8 columns the four threads that hold a row may share when they load it
/// (`load_elements` with `quads`), most first.
SmallVector<int64_t> getQuadBlocks(RankedTensorType tile);
/// Whether elements begin with all that a thread holds of so many adjacent blocks.
bool isQuadGroup(RankedTensorType tile, ArrayRef<int32_t> which, int64_t blocks);
/// What a thread holds of a tile, as elements; none if its layout does not fit. So many elements,
/// as words.
SmallVector<Type> getElementTypes(RankedTensorType tile);
SmallVector<Type> getPackedTypes(Type element, int64_t count);
/// Refuses an op in which a thread has other elements of a tile than these.
LogicalResult verifyElements(Operation *op, RankedTensorType tile, TypeRange elements);
/// Refuses a tile of which threads do not copy single elements (PTX ISA, "cp.async": 4, 8 or 16
/// bytes).
LogicalResult verifyList(Operation *op, RankedTensorType tile);

/// Refuses an op that adds elements of a type, if there is one, which memory does not.
LogicalResult verifyAddition(Operation *op, std::optional<Type> type);
/// Refuses an op that names CTAs of its cluster by a mask that is known, if these do not exist.
LogicalResult verifyMask(Operation *op, Value mask);
/// Refuses an op that reads `bytes` bytes (at least `align`) at `offset` of its kernel's
/// parameters, or of its shared memory, if they are not there or not aligned.
LogicalResult verifyInParams(Operation *op, int64_t offset, int64_t align, int64_t bytes = 0);
LogicalResult verifyInShared(Operation *op, int64_t offset, int64_t align, int64_t bytes = 0);

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_THREAD_H
