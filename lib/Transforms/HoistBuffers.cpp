//===- HoistBuffers.cpp - Static buffers become stack slots ---------------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"

using namespace mlir;
using namespace mlir::mk;

/// A cache line, also the widest vector.
static constexpr int64_t kAlignment = 64;

LogicalResult mk::hoistBuffers(func::FuncOp function) {
  if (function.isExternal())
    return success();
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  for (memref::AllocOp alloc : allocs) {
    if (!alloc.getType().hasStaticShape())
      return alloc.emitOpError()
             << "has a size that is only known at run time; tiles have static shapes";
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc.replaceAllUsesWith(memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType(),
                                                      ValueRange{}, b.getI64IntegerAttr(kAlignment))
                                 .getResult());
    alloc.erase();
  }
  return success();
}
