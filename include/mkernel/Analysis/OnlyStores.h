//===- OnlyStores.h - The store that alone takes a tile ---------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_ONLYSTORES_H
#define MKERNEL_ANALYSIS_ONLYSTORES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mk_sm {

/// Finds the store of the same block that alone needs what an op gives in the end: the tile may be
/// computed as it leaves, a few elements at a time. Holds as long as nothing changes that it has
/// been asked about.
class OnlyStores {
public:
  /// `isByElements`: whether an op makes a tile that may be made a part at a time.
  explicit OnlyStores(bool (*isByElements)(Operation *)) : isByElements(isByElements) {}
  /// Null if there is none.
  Operation *find(Operation *op);

private:
  bool (*isByElements)(Operation *);
  llvm::DenseMap<Operation *, Operation *> stores;
};

} // namespace mlir::mk_sm

#endif // MKERNEL_ANALYSIS_ONLYSTORES_H
