//===- Tile.h - The tile dialect ------------------------------*- C++ -*-===//
//
// Types, attributes and operations of the tile level. What they mean is said in
// dialects/Tile/*.td; what happens before what, in docs/memory-model.md.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_TILE_TILE_H
#define MKERNEL_DIALECT_TILE_TILE_H

#include "mkernel/Dialect/Tile/UnknownOps.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mkernel/Dialect/Tile/TileDialect.h.inc"
#include "mkernel/Dialect/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mkernel/Dialect/Tile/TileTypes.h.inc"

namespace mlir::mk {
/// Whether a type is a tile: a tensor whose extents are numbers, or parameters
/// that #mk.extents names.
bool isTile(Type type);

/// What a kernel declares, as effects name it.
struct Declarations : SideEffects::Resource::Base<Declarations> {
  StringRef getName() final { return "declarations of a kernel"; }
};

/// Others may see what the op does, or wait for it.
template <typename ConcreteType>
class VisibleEffect : public OpTrait::TraitBase<ConcreteType, VisibleEffect> {};
} // namespace mlir::mk

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileOps.h.inc"

namespace mlir::mk {

/// The last arguments of a reference may stand for dimensions of its kernel: they have this
/// attribute, the dimension's name.
inline constexpr StringLiteral kReferenceDim = "mk.dim";

/// The kernel an operation belongs to, or null.
inline KernelOp getKernel(Operation *op) {
  return op->getParentOfType<KernelOp>();
}

/// Whether the CTAs of a role share the items of this loop (mk.foreach or
/// mk.foreach_item): it is in no other such loop.
bool isDistributedLoop(Operation *op);

/// Whether `op`, or one in it at any depth, is of the kind that `is` takes and is so.
template <typename Fn> bool holdsAny(Operation *op, Fn is) {
  using OpT = typename llvm::function_traits<Fn>::template arg_t<0>;
  auto stop = [&](OpT inner) {
    return is(inner) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(stop).wasInterrupted();
}
template <typename... OpTs> bool holds(Operation *op) {
  return holdsAny(op, [](Operation *inner) { return isa<OpTs...>(inner); });
}

/// What an op computes its results from: its operands, and what its regions use from outside. Who
/// follows a value backwards asks for these; operands alone leave out what a loop's body takes.
SmallVector<Value> getInputs(Operation *op);

/// What loads and stores have in common: offsets, in elements, one for each dimension of `buffer`;
/// none or one valid extent for each dimension of the tile.
LogicalResult verifyAccess(Operation *op, Value buffer, ValueRange offsets, ValueRange valid,
                           RankedTensorType tile);
/// Whether the rows of a tile may be those that the list `rows` names, if there is one; `pads`: it
/// has a pad.
LogicalResult verifyGather(Operation *op, Value rows, bool pads, RankedTensorType tile);
LogicalResult verifyUnseen(Operation *op, std::optional<ArrayRef<int64_t>> unseen,
                           OperandRange offsets, RankedTensorType tile);

/// What `signal [strong] %s[...]` of a put or a store may say. `crosses` says
/// that the signal may belong to another rank.
LogicalResult verifyAttachedSignal(Operation *op, Value signal, ValueRange indices, bool strong,
                                   bool crosses);
/// What is written at a peer must be symmetric.
LogicalResult verifySymmetric(Operation *op, Type dest);

/// Whether buffers of this type lie in the symmetric heap.
bool isSymmetric(Type type);

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_TILE_H
