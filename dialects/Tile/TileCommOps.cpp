//===- TileCommOps.cpp - Effects of communication -------------------------===//
//
// A wait makes the writes of others visible and a signal publishes one's own, so
// both read and write *all* memory as far as any transformation is
// concerned: a read-only wait would be erased by CSE, and a load could be moved
// across it.
//
//===----------------------------------------------------------------------===//
#include "TileDirectives.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileCommOps.cpp.inc"

void MkDialect::registerCommOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileCommOps.cpp.inc"
      >();
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void readWriteAll(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

/// The copy happens some time later, so a put also acts as a barrier to
/// whatever would change its source or use its destination.
void PutOp::getEffects(Effects &effects) { readWriteAll(effects); }
void SignalOp::getEffects(Effects &effects) { readWriteAll(effects); }
void WaitOp::getEffects(Effects &effects) { readWriteAll(effects); }
void FenceOp::getEffects(Effects &effects) { readWriteAll(effects); }
void SettleOp::getEffects(Effects &effects) { readWriteAll(effects); }
void CountOp::getEffects(Effects &effects) { readWriteAll(effects); }
void PushOp::getEffects(Effects &effects) { readWriteAll(effects); }
