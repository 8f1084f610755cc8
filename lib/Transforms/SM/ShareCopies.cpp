//===- ShareCopies.cpp - Copies that a cluster makes together -------------===//
//
// CTAs r, r + 1, ... r + c - 1 (r a multiple of c) form a cluster. A value is
// `uniform` if it is the same for all of them at the same point of their
// programs, and `aligned` if it is a uniform multiple of c plus the CTA's place.
//
// A role that waits for other CTAs shares nothing, since one of a cluster could wait for the other,
// which waits for a slot. Unless all have told each other before they wait: so do CTAs that divide
// an item (`mk-expand-stream-k`).
//
// Fewer CTAs of clusters of more than two run at once. A kernel has such clusters where its items
// are no more than these CTAs, and as many CTAs as items then.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kShareCopies = "mk-sm-share-copies";

/// Rows of the period of the swizzle (PTX ISA): no less is fetched apart.
static constexpr int64_t kSwizzleRows = 8;

namespace {
class Uniformity {
public:
  Uniformity(int64_t size, const llvm::StringMap<int64_t> &ctas) : size(size), ctas(ctas) {}

  bool isUniform(Value value);
  /// Whether all CTAs execute what stands directly in `scope` equally often, if
  /// they come to `op` equally often.
  bool isUniform(Operation *op);

private:
  bool compute(Value value);
  bool isAligned(Value value);
  bool isMultiple(Value value);
  /// The extent of a dimension in which the cluster's items differ is its size, and
  /// no multiple of it that happens to be known.
  bool isSize(Value value) { return getConstantIntValue(value) == size; }
  /// Whether the CTAs that share the items are whole clusters.
  bool areClusters(ItemsOp items) {
    auto role = items->getParentOfType<mk::RoleOp>();
    return role && ctas.lookup(role.getSymName()) % size == 0;
  }

  int64_t size;
  const llvm::StringMap<int64_t> &ctas; // of each role
  llvm::DenseMap<Value, bool> known;
};
} // namespace

bool Uniformity::isUniform(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  bool result = compute(value);
  known[value] = result;
  return result;
}

bool Uniformity::compute(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (isa<mk::KernelOp>(parent))
      return true;
    if (auto items = dyn_cast<ItemsOp>(parent))
      return arg == items.getRound() && areClusters(items);
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && arg == loop.getInductionVar() && isUniform(loop.getLowerBound()) &&
           isUniform(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::DivSIOp, arith::DivUIOp>(op) && isAligned(op->getOperand(0)) &&
      isSize(op->getOperand(1)))
    return true;
  auto all = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand); });
  };
  // Numbers that nobody writes while the kernel runs.
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto arg = dyn_cast<BlockArgument>(load.getMemRef());
    auto kernel = op->getParentOfType<mk::KernelOp>();
    return arg && arg.getOwner() == &kernel.getBody().front() &&
           kernel.getArgKind(arg.getArgNumber() - kernel.getNumDims()) == mk::ArgKind::In && all();
  }
  return !isa<CtaIndexOp, InitialItemOp>(op) && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) && all();
}

bool Uniformity::isAligned(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto items = dyn_cast<ItemsOp>(arg.getOwner()->getParentOp());
    return items && arg == items.getItem() && areClusters(items);
  }
  Operation *op = value.getDefiningOp();
  if (isa<CtaIndexOp>(op))
    return true;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return isAligned(op->getOperand(0)) && isSize(op->getOperand(1));
  if (!isa<arith::AddIOp>(op))
    return false;
  auto adds = [&](Value to, Value added) {
    return isMultiple(added) && isUniform(added) && isAligned(to);
  };
  return adds(op->getOperand(0), op->getOperand(1)) || adds(op->getOperand(1), op->getOperand(0));
}

bool Uniformity::isMultiple(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % size == 0;
  if (auto count = value.getDefiningOp<mk::CtasOfOp>())
    return ctas.lookup(count.getRole()) % size == 0;
  auto product = value.getDefiningOp<arith::MulIOp>();
  return product && (isMultiple(product.getLhs()) || isMultiple(product.getRhs()));
}

bool Uniformity::isUniform(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isUniform(branch.getCondition());
  if (auto items = dyn_cast<ItemsOp>(op))
    return isUniform(items.getTotal()) && isMultiple(items.getTotal()) && areClusters(items);
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && isUniform(loop.getLowerBound()) && isUniform(loop.getUpperBound()) &&
         isUniform(loop.getStep());
}

/// Whether the CTAs of a cluster come to `op` equally often.
static bool isReachedAlike(Operation *op, Uniformity &uniformity) {
  for (Operation *up = op->getParentOp(); !isa<PartitionOp>(up); up = up->getParentOp())
    if (!uniformity.isUniform(up))
      return false;
  return true;
}

static bool isSame(CopyOp copy, int64_t size, Uniformity &uniformity) {
  if (copy.isByElements())
    return false;
  int64_t rows = copy.getTileType().getShape().end()[-2];
  if (rows % (size * kSwizzleRows))
    return false;
  return llvm::all_of(copy->getOperands(), [&](Value operand) {
    return operand == copy.getSlot() || uniformity.isUniform(operand);
  });
}

/// The copies of a role that clusters of `size` can share.
static SmallVector<CopyOp> findShared(mk::RoleOp role, int64_t size,
                                      const llvm::StringMap<int64_t> &ctas) {
  Uniformity uniformity(size, ctas);
  SmallVector<CopyOp> found;
  for (auto ring : role.getBody().front().getOps<CreateRingOp>()) {
    SmallVector<CopyOp> copies;
    bool alike = true;
    for (Operation *user : ring->getUsers()) {
      auto acquire = dyn_cast<AcquireOp>(user);
      if (!acquire)
        continue;
      alike &= isReachedAlike(acquire, uniformity);
      for (Operation *use : acquire.getSlot().getUsers())
        if (auto copy = dyn_cast<CopyOp>(use))
          if (isReachedAlike(copy, uniformity) && isSame(copy, size, uniformity))
            copies.push_back(copy);
    }
    if (alike)
      llvm::append_range(found, copies);
  }
  return found;
}

/// Whether all CTAs that may come to `wait` tell what it waits for before they wait for anything
/// behind that: each does so in front of it, in its only item. What they need until then does not
/// depend on who waits already, since all copies in front of the wait have been asked for by then.
static bool isToldBefore(mk::WaitOp wait, int64_t ctas) {
  auto items = wait->getParentOfType<ItemsOp>();
  if (!items || getConstantIntValue(items.getTotal()).value_or(ctas + 1) > ctas)
    return false;
  Block *body = &items.getBody().front();
  Operation *at = body->findAncestorOpInBlock(*wait);
  return llvm::all_of(wait.getSignal().getUsers(), [&](Operation *user) {
    return isa<mk::WaitOp>(user) ||
           (isa<mk::SignalOp>(user) && user->getBlock() == body && user->isBeforeInBlock(at));
  });
}

/// Whether a CTA of the role may wait for another one: that may be one of its
/// cluster, which would wait for slots that this one does not release.
static bool waitsForOthers(mk::RoleOp role, int64_t ctas) {
  return holds<PopOp>(role) ||
         holdsAny(role, [&](mk::WaitOp wait) { return !isToldBefore(wait, ctas); });
}

/// The most items that CTAs of the kernel's only role have together, where each has one at most;
/// null if that is not known.
static std::optional<int64_t> countItemsAtOnce(ArrayRef<mk::RoleOp> roles) {
  if (roles.size() != 1 || holds<CtaIndexOp>(roles.front()) || holds<TicketOp>(roles.front()))
    return std::nullopt;
  int64_t most = 0;
  WalkResult known = mk::RoleOp(roles.front()).walk([&](ItemsOp items) {
    std::optional<int64_t> total = getConstantIntValue(items.getTotal());
    most = std::max(most, total.value_or(0));
    return total ? WalkResult::advance() : WalkResult::interrupt();
  });
  return known.wasInterrupted() || !most ? std::nullopt : std::optional(most);
}

/// Says why the copies of a role are not shared by `size` CTAs each; its CTAs are `count` from
/// number `first` on of all in `grid`.
static void explain(mk::RoleOp role, int64_t size, int64_t first, int64_t count, int64_t grid,
                    const llvm::StringMap<int64_t> &ctas) {
  SmallVector<CopyOp> copies;
  role.walk([&](CopyOp copy) {
    if (copy.isByElements())
      return; // by threads
    if (copy.getShared() == 1)
      copies.push_back(copy);
  });
  if (copies.empty())
    return;
  if (grid % size || first % size || count % size) {
    missed(role, kShareCopies) << remark::add("has {0} of {1} CTAs from number {2} on, which are "
                                              "no whole clusters of {3}: change its number",
                                              count, grid, first, size);
    return;
  }
  if (waitsForOthers(role, count)) {
    missed(role, kShareCopies)
        << "waits for other CTAs, of which one may be in the same cluster and wait in turn";
    return;
  }
  Uniformity uniformity(size, ctas);
  for (CopyOp copy : copies) {
    int64_t rows = copy.getTileType().getShape().end()[-2];
    if (!isReachedAlike(copy, uniformity))
      missed(copy, kShareCopies) << remark::add(
          "may be reached by {0} CTAs side by side unequally often: have a multiple of {0} items, "
          "with loops and branches that do not depend on which",
          size);
    else if (rows % (size * kSwizzleRows))
      missed(copy, kShareCopies) << remark::add(
          "has {0} rows, of which {1} CTAs cannot fetch equal parts: use a multiple of {2}", rows,
          size, size * kSwizzleRows);
    else if (!isSame(copy, size, uniformity))
      missed(copy, kShareCopies) << remark::add(
          "fetches what is different in {0} CTAs side by side, or may be: items that differ in a "
          "last dimension of extent {0} alone have the same",
          size);
    else
      missed(copy, kShareCopies) << "fills a ring that CTAs side by side fill unequally often";
  }
}

LogicalResult mk_sm::shareCopies(mk::KernelOp kernel) {
  FailureOr<SmallVector<int64_t>> counts = mk::getCtas(kernel);
  if (failed(counts))
    return failure();
  int64_t grid = mk::countGrid(kernel, *counts);
  llvm::StringMap<int64_t> ctas;
  SmallVector<mk::RoleOp> roles(kernel.getBody().front().getOps<mk::RoleOp>());
  for (auto [role, count] : llvm::zip(roles, *counts))
    ctas[role.getSymName()] = count;
  // One size for the kernel: it is launched in clusters of it.
  FailureOr<int64_t> given = mk::findClusterSize(kernel);
  if (failed(given))
    return failure();
  int64_t chosen = std::max<int64_t>(*given, 2);
  mk::SmAttr sm = mk::getSm(kernel);
  std::optional<int64_t> items = countItemsAtOnce(roles);
  int64_t largest = std::max(*given, mk::getLargestCluster(sm, items));
  for (int64_t size = largest; size > 1; size /= 2) {
    if (grid % size || (*given > 1 && size != *given))
      continue;
    SmallVector<CopyOp> copies;
    for (mk::RoleOp role : roles) {
      auto [first, count] = mk::getCtaRange(kernel, *counts, role.getSymName());
      if (first % size == 0 && count % size == 0 && !waitsForOthers(role, count))
        llvm::append_range(copies, findShared(role, size, ctas));
    }
    for (CopyOp copy : copies) {
      copy.setShared(size);
      passed(copy, kShareCopies) << remark::add("is fetched once for {0} CTAs", size);
    }
    if (copies.empty())
      continue;
    chosen = size;
    if (size > 2 && sm.getClustered() && items && *given == 1) {
      mk::RoleOp role = roles.front();
      int64_t needed = std::min<int64_t>(counts->front(), llvm::alignTo(*items, size));
      role.setCtasAttr(mk::resolveCtas(role.getCtas(), needed));
    }
    break;
  }
  for (mk::RoleOp role : roles) {
    auto [first, count] = mk::getCtaRange(kernel, *counts, role.getSymName());
    explain(role, chosen, first, count, grid, ctas);
  }
  return success();
}
