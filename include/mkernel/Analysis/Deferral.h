//===- Deferral.h - Ops that are computed where they are needed -*- C++ -*-===//
//
// An epilogue on all elements of a tile at once would keep every intermediate tile in registers.
// Ops whose result only one store needs in the end wait for it, and it takes them a part at a
// time. The same holds for loads that one op takes element by element, and for comparisons
// by which ops right behind them select.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_DEFERRAL_H
#define MKERNEL_ANALYSIS_DEFERRAL_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk_sm {

/// An analysis of a kernel at the SM level.
class Deferral {
public:
  explicit Deferral(Operation *kernel) : kernel(cast<mk::KernelOp>(kernel)) {}

  /// Whether the op's elements are computed where they are needed.
  bool isDeferred(Operation *op);
  /// The op that alone takes the elements of a load, or of a conversion of one, and computes its
  /// own from them one by one; null if there is none.
  static Operation *findOnlyTaker(Operation *op);
  /// Whether more is deferred to a store of `tile` than may be computed in each of two ways: a load
  /// of a tile, or more than a scaling and a conversion.
  bool isExpensive(Value tile);

private:
  /// The store that alone needs an op's result, if any.
  Operation *findOnlyStore(Operation *op);

  mk::KernelOp kernel;
  DenseMap<Operation *, Operation *> onlyStores;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_ANALYSIS_DEFERRAL_H
