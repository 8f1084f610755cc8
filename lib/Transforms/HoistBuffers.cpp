//===- HoistBuffers.cpp - Static buffers become stack slots ---------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/Passes.h"

namespace mlir::mk {
#define GEN_PASS_DEF_HOISTBUFFERSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct HoistBuffersPass : mk::impl::HoistBuffersPassBase<HoistBuffersPass> {
  using HoistBuffersPassBase::HoistBuffersPassBase;

  /// A cache line, also the widest vector.
  static constexpr int64_t kAlignment = 64;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<memref::AllocOp> allocs;
    getOperation().walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    OpBuilder b = OpBuilder::atBlockBegin(&getOperation().front());
    for (memref::AllocOp alloc : allocs) {
      if (!alloc.getType().hasStaticShape()) {
        alloc.emitOpError() << "has a size that is only known at run time; tiles "
                               "have static shapes";
        return signalPassFailure();
      }
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (isa<memref::DeallocOp>(user))
          user->erase();
      alloc.replaceAllUsesWith(
          memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType(), ValueRange{},
                                   b.getI64IntegerAttr(kAlignment))
              .getResult());
      alloc.erase();
    }
  }
};
} // namespace
