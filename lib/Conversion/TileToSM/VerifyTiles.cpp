//===- VerifyTiles.cpp - Tiles that no SM holds, ways that no put goes ----===//
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/FunctionPass.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VERIFYTILESPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;

static LogicalResult verifyTilesFit(mk::KernelOp kernel) {
  int64_t most = 4 * mk::getSm(kernel).getRegisters().getOfSm();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || !tile.hasStaticShape() || !tile.getElementType().isIntOrFloat())
        continue;
      // At most 2^24 elements (mk.kernel's verifier), so that nothing wraps.
      int64_t bytes = tile.getNumElements() * llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
      if (bytes <= most)
        continue;
      // What was folded stands nowhere in the file; who uses it does.
      Operation *where = op;
      if (isa<UnknownLoc>(op->getLoc()) && !op->use_empty())
        where = *op->user_begin();
      return where->emitOpError() << "has a tile of "
                                  << llvm::interleaved(mk::getWrittenType(kernel, tile).getShape(),
                                                       " x ")
                                  << " elements of " << tile.getElementType() << ", "
                                  << (bytes >> 10) << " KiB; an SM has registers of "
                                  << (most >> 10)
                                  << " KiB and less shared memory: use smaller extents";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether every rank reaches the peer of a put the way that the put says.
static bool matchesVia(mk::PutOp put, mk::MeshOp mesh) {
  if (auto arg = dyn_cast<BlockArgument>(put.getPeer()))
    if (auto loop = dyn_cast<mk::ForeachPeerOp>(arg.getOwner()->getParentOp()))
      return loop.isAlong(mesh, *put.getVia());
  int64_t ranks = mesh.getNumRanks();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto peer = mk::IndexEvaluator(mesh, rank).getRank(put.getPeer());
    bool byLink = put.getVia() == mk::LinkKind::Link;
    if (!peer || mesh.findNetAxis(rank, *peer).empty() != byLink)
      return false;
  }
  return true;
}

/// A GPU has code for nothing but the way that a put says.
static LogicalResult verifyWays(mk::KernelOp kernel) {
  mk::MeshOp mesh = kernel.getMeshOp();
  WalkResult result = kernel.walk([&](mk::PutOp put) -> WalkResult {
    if (!mesh.hasNet() || !put.getVia() || matchesVia(put, mesh))
      return WalkResult::advance();
    return put.emitOpError() << "goes via " << stringifyLinkKind(*put.getVia())
                             << ", but its peer may be reached otherwise on some rank: leave 'via' "
                                "out, so that code for both ways is made";
  });
  return failure(result.wasInterrupted());
}

/// The hand-shake in front of their copies goes across links.
static LogicalResult verifyEngines(mk::KernelOp kernel) {
  for (auto role : kernel.getBody().getOps<mk::RoleOp>())
    if (role.isOfEngines() && kernel.getMeshOp().hasNet())
      return role.emitOpError()
             << "'" << role.getSymName()
             << "' is of copy engines, on a mesh of several nodes: let it do nothing there (a "
                "condition on mk.size), and put from a role with CTAs, or one beside it";
  return success();
}

/// Says which puts take long, since one warp does a put: other CTAs could have a share of these.
static void remarkLargePuts(mk::KernelOp kernel) {
  int64_t least = mk::getSm(kernel).getThresholds().getLargePut();
  kernel.walk([&](mk::PutOp put) {
    auto role = put->getParentOfType<mk::RoleOp>();
    if (!role || role.isOfEngines())
      return;
    auto element = cast<MemRefType>(put.getSource().getType()).getElementType();
    double bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    for (Value size : put.getSizes())
      bytes *= getConstantIntValue(size).value_or(0);
    if (bytes >= least)
      mk_sm::missed(put, "mk-sm-verify-tiles")
          << mlir::remark::add("moves {0} MiB, all of it by one warp: put parts of it, as items of "
                               "an mk.foreach that CTAs share, or let copy engines (ctas(engines))",
                               int64_t(bytes) >> 20);
  });
}

static LogicalResult verifyTiles(mk::KernelOp kernel) {
  remarkLargePuts(kernel);
  return failure(failed(verifyTilesFit(kernel)) || failed(verifyWays(kernel)) ||
                 failed(verifyEngines(kernel)));
}

template struct mk::FunctionPass<mk::impl::VerifyTilesPassBase, verifyTiles>;
