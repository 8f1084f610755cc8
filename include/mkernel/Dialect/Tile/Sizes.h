//===- Sizes.h - Sizes of tiles and arguments ------------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_SIZES_H
#define MKERNEL_DIALECT_TILE_SIZES_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mk {

/// Elements of a tile that is any use: a hundred times what a CTA works on at a time.
constexpr int64_t kMaxTileElements = int64_t(1) << 24;

/// Ranks of a mesh: a rank is 16 bits of a command (mkernel/ABI/Command.h).
constexpr int64_t kMaxRanks = 65536;

/// An extent of an argument as a file writes it, by names of dimensions and axes.
std::string describeExtent(KernelOp kernel, AffineExpr extent);
/// Whether an extent is each rank's own, so that the whole is a sum.
bool dependsOnRankDim(KernelOp kernel, AffineExpr extent);

/// An extent over all ranks, and into how many shards it is split.
struct SplitExtent {
  int64_t whole, shards;
};
/// That of dimension `dim` of argument `arg`, if it is known.
std::optional<SplitExtent> getSplitExtent(KernelOp kernel, unsigned arg, unsigned dim);
/// Names for a message: 'a', 'b', 'c'.
template <typename Range> auto quoted(const Range &names) {
  return llvm::interleaved(names, "', '", "'", "'");
}

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_SIZES_H
