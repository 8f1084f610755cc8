//===- Sites.h - Numbers of ops that are checked when they run --*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_SITES_H
#define MKERNEL_ANALYSIS_SITES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {

/// "file.mlir:12:5"; of inlined code also where the helper function is called.
std::string describePlace(Location where);

/// Gives ops numbers in the order in which they are asked for (mkernel/ABI/Site.h), so
/// that no number depends on a line.
class SiteTable {
public:
  int64_t numberOf(Operation *op);
  /// From here on other ops may have the addresses of those that have numbers.
  void forget() { numbers.clear(); }
  /// Metadata `sites`.
  llvm::json::Array describe() const;
  bool empty() const { return sites.empty(); }

private:
  llvm::DenseMap<Operation *, int64_t> numbers;
  SmallVector<std::pair<Location, OperationName>> sites;
};

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_SITES_H
