//===- HostLowering.h - State of the conversion to host code ----*- C++ -*-===//
//
// One HostLowering lowers the body of one function that the runtime calls. The
// body has been cloned from the kernel, so tile ops stand in a func.func; the
// maps below remember what their originals were numbered.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_TILETOHOST_HOSTLOWERING_H
#define MKERNEL_LIB_CONVERSION_TILETOHOST_HOSTLOWERING_H

#include "mkernel/Analysis/Sites.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk {

class HostLowering : public IndexMath {
public:
  /// `pointer` is the function's `const mk_cta *`, or its `const mk_launch *`
  /// for mk_plan.
  HostLowering(KernelOp kernel, func::FuncOp function, bool pointerIsLaunch);

  /// Lowers all tile ops in the function.
  LogicalResult run();

  /// Numbers of declared values and loops of the cloned body.
  DenseMap<Operation *, unsigned> numbers;
  /// Whether code says what it does, see mkrt_access.
  bool record = false;
  /// Whether code says at which line it is, see mkrt_line.
  bool lines = false;
  /// Where ops that are checked get their numbers; null: none is checked.
  SiteTable *sites = nullptr;
  /// Numbers of the arguments that buffers are.
  DenseMap<Value, unsigned> arguments;
  /// CTAs of each role, by name.
  llvm::StringMap<int64_t> ctasOfRole;

  //===--- Building blocks ------------------------------------------------===//

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value toI64(Value value);
  Value toIndex(Value value);

  /// Loads byte offset `offset` of the structure at `base`.
  Value loadField(Value base, int64_t offset, Type type);
  /// Element `i` of an int64 array.
  Value loadElement(Value array, int64_t i);
  Value getLaunch() { return launch_; }
  Value getCta() { return cta_; }
  Value getRank();
  Value getCoord(unsigned axis);
  int64_t getAxisSize(unsigned axis);

  /// An int64 array on the stack, allocated once at the function's entry.
  Value stackArray(ArrayRef<Value> values, int64_t size = -1);
  /// Calls an entry point of mkernel/ABI/HostCalls.h.
  ValueRange call(StringRef name, ValueRange operands, TypeRange results = {});
  /// Address of an element of a buffer.
  Value address(Value buffer, ValueRange offsets);
  /// Strides of a buffer in elements, as index values.
  SmallVector<Value> strides(Value buffer);
  /// mk_type of an element type, or an error that names the op.
  FailureOr<Value> elementType(Operation *op, Type type);

  /// Row-major element of a declared array, as an i64; extents from its declaration. `op` names it.
  Value linearElement(Operation *op, Value declared, ValueRange indices);
  Value number(Value declared);

  /// The number of the argument that a buffer is, an i32; null: it is none.
  Value argumentOf(Value buffer);

  /// The part of a tile that exists in memory, for each dimension of the buffer and of
  /// the tile: where it begins in the one and in the other, and how large it is.
  struct TilePart {
    SmallVector<Value> offsets, skipped, sizes;
    Value inside; // i1: the leading dimensions have it; null: there are none
    SmallVector<Value> edges; // sizes in the tile's own dimensions, whatever `inside` is
  };
  /// Of a tile at `offsets` of `buffer`. `rows`: the extent of the buffer's first
  /// dimension, null: as it is here.
  TilePart existingPart(Value buffer, ValueRange offsets, ArrayRef<int64_t> tile, ValueRange valid,
                        Value rows = {});

  LLVM::LLVMPointerType pointerType();

private:
  LogicalResult lower(Operation *op);

  // One function for each op; files group them as the dialect does.
  LogicalResult lower(mk_sm::ItemsOp op);
  LogicalResult lower(mk_sm::AtItemOp op);
  LogicalResult lower(mk_sm::TicketOp op);
  LogicalResult lower(mk_sm::PopOp op);
  LogicalResult lower(LoadOp op);
  LogicalResult lower(StoreOp op);
  LogicalResult lowerRemoteStore(StoreOp op);
  LogicalResult lower(DotOp op);
  LogicalResult lower(ReduceOp op);
  LogicalResult lower(BroadcastOp op);
  LogicalResult lower(TransposeOp op);
  LogicalResult lower(MaskOp op);
  LogicalResult lower(IotaOp op);
  LogicalResult lower(PutOp op);
  LogicalResult lower(SignalOp op);
  LogicalResult lower(WaitOp op);
  LogicalResult lower(CountOp op);
  LogicalResult lower(PushOp op);
  /// The op is lowered to what gives its results.
  LogicalResult replace(Operation *op, ValueRange values = {});
  /// A copy of a tile in a buffer of its own.
  Value copyToBuffer(Value tile);
  /// A tile of the type that has nothing yet.
  Value emptyTile(RankedTensorType type);

  /// {signal, index} operands of a call, or {-1, 0}.
  std::pair<Value, Value> signalOperands(Operation *op, Value signal, ValueRange index);
  Value peerOrSelf(Value peer);
  // Checks that what an op names exists (LowerBounds.cpp); a report if it does not.
  /// `used`: whether they name anything; null if they do in any case.
  void checkIndices(Operation *op, int64_t named, Value number, ValueRange indices,
                    ArrayRef<Value> extents, Value used = {});
  void checkPut(PutOp op, Value rows);
  /// `rows`: of dimension 0 at the peer, if there are not as many as here.
  void checkStore(StoreOp op, const TilePart &part, Value rows = {});
  void gatherRows(LoadOp op, Value buffer, Value zero);
  void checkScalarAccess(Operation *op);
  /// Calls of code that is to be checked for races; nothing in other code.
  void recordLine(Location where);
  void recordAccess(Value buffer, ValueRange offsets, ArrayRef<Value> sizes, bool write);
  void recordScalar(Operation *op);

  KernelOp kernel_;
  MeshOp mesh_;
  func::FuncOp function_;
  Value cta_, launch_;
  Value rank_;
  SmallVector<Value> coords_;
};

/// What mk-build-plan adds to a module (mkernel/ABI/Package.h).
inline constexpr llvm::StringLiteral kPlanFunction = "mk_plan";

/// An empty function of the module that takes `pointers` pointers.
func::FuncOp createHostFunction(KernelOp kernel, StringRef name, unsigned pointers,
                                TypeRange results = {});

/// Refuses a second kernel, and one whose mesh has an axis of unknown size.
LogicalResult verifyHostKernel(ModuleOp module);

/// CTAs of each role, by name; failure after an error has been reported.
FailureOr<llvm::StringMap<int64_t>> countCtasOfRoles(KernelOp kernel);

/// Erases the symmetric memory space from all types in `op`.
void dropMemorySpaces(Operation *op);

/// Clones what kernel scope computes (not roles, not requirements) into a
/// function, dimensions and arguments mapped.
void cloneScalars(KernelOp kernel, OpBuilder &builder, IRMapping &mapping,
                  function_ref<void(Operation *, Operation *)> cloned);

} // namespace mlir::mk

#endif // MKERNEL_LIB_CONVERSION_TILETOHOST_HOSTLOWERING_H
