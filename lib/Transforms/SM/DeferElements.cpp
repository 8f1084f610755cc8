//===- DeferElements.cpp - Elements are computed where they are taken -----===//
#include "Functions.h"
#include "Pressure.h"
#include "mkernel/Analysis/OnlyStores.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kDeferElements = "mk-sm-defer-elements";

namespace {
class Deferral {
public:
  explicit Deferral(mk::KernelOp kernel);
  bool isDeferred(Operation *op);
  /// Says why an op that stores take in the end makes a whole tile.
  void explain(Operation *op);

private:
  bool isUsedBefore(Operation *op, Operation *store);

  mk::KernelOp kernel;
  OnlyStores onlyStores;
};
} // namespace

Deferral::Deferral(mk::KernelOp kernel) : kernel(kernel), onlyStores(isByElements) {}

/// Whether a load may as well be done at an op behind it: nothing writes in between, or fills the
/// slots in which it lies.
static bool mayWaitFor(Operation *user, Operation *load) {
  bool inSlots = isTileRead(load);
  for (Operation *op = load->getNextNode(); op != user; op = op->getNextNode()) {
    if (!op || mk::holds<ReleaseOp>(op))
      return false;
    if (!inSlots && !isMemoryEffectFree(op) && !isa<mk::LoadOp>(op))
      return false;
  }
  return true;
}

/// The same for a store: it must write elsewhere.
static bool mayWait(mk::KernelOp kernel, Operation *op, Operation *store) {
  if (!mayWaitFor(store, op))
    return false;
  auto load = dyn_cast<mk::LoadOp>(op);
  if (!load)
    return true;
  Value dest = isa<mk_sm::StoreOp>(store) ? cast<mk_sm::StoreOp>(store).getDest()
                                          : cast<mk::StoreOp>(store).getDest();
  return !mk::mayBeSame(kernel, load.getSource(), dest);
}

/// A comparison whose results ops right behind it select by: each would take a register of its
/// own, since there are few predicates, while what is compared is there anyway.
static bool isUsedInPlace(Operation *op) {
  if (!isa<arith::CmpFOp, arith::CmpIOp>(op) || op->use_empty() ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  auto left = static_cast<int64_t>(std::distance(op->use_begin(), op->use_end()));
  for (Operation *next = op->getNextNode(); next && left; next = next->getNextNode()) {
    if (next->getNumRegions() || isa<mk_sm::MmaOp, mk_sm::MmaFenceOp, mk_sm::MmaWaitOp>(next))
      return false;
    // What is compared may be loaded as late, too.
    if (!isMemoryEffectFree(next) && !isa<mk::LoadOp>(next))
      return false;
    int64_t uses = llvm::count(next->getOperands(), op->getResult(0));
    if (uses && !isa<arith::ArithDialect>(next->getDialect()))
      return false;
    left -= uses;
  }
  return left == 0;
}

/// Whether an op adds to a tile that is there anyway, or the like, one that cannot be loaded as
/// late as at the store, but at the op: its result takes the place of the tile.
bool Deferral::isUsedBefore(Operation *op, Operation *store) {
  bool takes = llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *load = findLoad(operand.getDefiningOp());
    return load && findOnlyUser(load) == op && !mayWait(kernel, load, store) &&
           mayWaitFor(op, load);
  });
  return takes && llvm::any_of(op->getOperands(), [&](Value operand) {
           Operation *def = operand.getDefiningOp();
           return operand.getType() == op->getResult(0).getType() &&
                  !matchPattern(operand, m_Constant()) && !findLoad(def) &&
                  (!def || !isDeferred(def)) &&
                  llvm::all_of(operand.getUsers(), [&](Operation *user) {
                    return user == op || insideMutuallyExclusiveRegions(user, op);
                  });
         });
}

bool Deferral::isDeferred(Operation *op) {
  if (isUsedInPlace(op))
    return true;
  Operation *load = isa<mk::LoadOp>(op) || isTileRead(op) ? op : nullptr;
  Operation *store = onlyStores.find(op);
  if (store && (load ? mayWait(kernel, load, store) : !isUsedBefore(op, store)))
    return true;
  Operation *user = findOnlyUser(op);
  if (!load || !user)
    return user;
  return mayWaitFor(user, load) && (!store || isUsedBefore(user, store));
}

void Deferral::explain(Operation *op) {
  if (!isByElements(op))
    return;
  if (isa<mk::LoadOp>(op) && (onlyStores.find(op) || findOnlyUser(op))) {
    missed(op, kDeferElements) << "is loaded whole, since what stands between it and the op that "
                                  "takes it may write it: load it right in front of that op";
    return;
  }
  llvm::SmallPtrSet<Operation *, 4> stores;
  for (Operation *user : op->getUsers()) {
    Operation *end = isa<mk_sm::StoreOp, mk::StoreOp>(user) ? user : onlyStores.find(user);
    if (!end)
      return;
    stores.insert(end);
  }
  if (stores.size() > 1)
    missed(op, kDeferElements) << remark::add(
        "is computed whole, and kept in registers: {0} stores take it", stores.size());
}

void mk_sm::deferElements(mk::KernelOp kernel) {
  Deferral deferral(kernel);
  kernel.walk([&](PartitionOp partition) {
    SmallVector<Operation *> deferred;
    partition.walk([&](Operation *op) {
      if (!deferral.isDeferred(op))
        return deferral.explain(op);
      deferred.push_back(op);
    });
    if (!deferred.empty())
      passed(partition, kDeferElements)
          << remark::add("computes {0} tiles where their elements are taken", deferred.size());
    for (Operation *op : deferred) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      auto taken = DeferOp::create(b, op->getLoc(), op->getResult(0));
      op->getResult(0).replaceAllUsesExcept(taken.getResult(), taken);
    }
  });
}
