//===- MergeChecks.cpp - An index is looked at once -----------------------===//
//
// A check that fails takes a hundred instructions of a report, which stand where it is made. Steps
// of a loop that load from the same row would have one each, and a loop of a few steps no longer
// fit into the cache of instructions.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::mk_thread;

void mk_thread::mergeChecks(KernelOp kernel) {
  DominanceInfo dominance(kernel);
  // By the index, and the extent or the parameter that holds it.
  llvm::MapVector<std::tuple<Value, Value, Attribute>, SmallVector<CheckOp>> known;
  kernel.walk([&](CheckOp op) {
    if (!op.getRedirect())
      return;
    SmallVector<CheckOp> &earlier = known[{op.getBegin(), op.getExtent(), op.getParamAttr()}];
    auto first = llvm::find_if(earlier, [&](CheckOp other) {
      return dominance.properlyDominates(other.getOperation(), op.getOperation());
    });
    if (first == earlier.end()) {
      earlier.push_back(op);
      return;
    }
    op.replaceAllUsesWith(first->getResult());
    op.erase();
  });
}
