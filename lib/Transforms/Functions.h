//===- Functions.h - Passes of the tile level -----------------*- C++ -*-===//
//
// What each pass without options does with a module, or with each op of a kind in it; the file has
// its name.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_FUNCTIONS_H
#define MKERNEL_LIB_TRANSFORMS_FUNCTIONS_H

#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::mk {

LogicalResult divideItems(mk_sm::ItemsOp items);
LogicalResult dropIdleRoles(KernelOp kernel);
void expandFolds(ModuleOp module);
LogicalResult expandFp8(Operation *op);
LogicalResult completeFloats(Operation *op);
LogicalResult expandStreamK(KernelOp kernel);
void guardDivisions(func::FuncOp function);
LogicalResult hoistBuffers(func::FuncOp function);
LogicalResult inlineCalls(ModuleOp module);
LogicalResult lowerAsserts(func::FuncOp function);
void lowerCopies(memref::CopyOp copy);
void markInnerStores(StoreOp store);
void markOwnReads(LoadOp load);
void markSingleReads(LoadOp load);
void markUnseen(LoadOp load);
LogicalResult materializeCarries(Operation *op);
void sinkTiles(KernelOp kernel);
void transposeDots(KernelOp kernel);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TRANSFORMS_FUNCTIONS_H
