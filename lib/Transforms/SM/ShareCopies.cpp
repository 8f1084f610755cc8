//===- ShareCopies.cpp - Copies that a cluster makes together -------------===//
//
// Where all CTAs of a cluster copy the same they do so together. Else the cluster is taken as rows
// of s CTAs: those of a row may share one tile, those of a column another one.
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
#include "Uniformity.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kShareCopies = "mk-sm-share-copies";

/// No less than the swizzle's period is fetched apart.
static int64_t getPartRows(CopyOp copy, int64_t size) {
  return size * mk::getSm(copy).getSwizzleRows();
}

static bool hasParts(CopyOp copy, int64_t size) {
  return copy.getTileType().getShape().end()[-2] % getPartRows(copy, size) == 0;
}

static bool isSame(CopyOp copy, Uniformity &uniformity) {
  return llvm::all_of(copy->getOperands(), [&](Value operand) {
    return operand == copy.getSlot() || uniformity.isUniform(operand);
  });
}

namespace {
/// Clusters of `size` CTAs, in rows of `row`.
struct Cluster {
  int64_t size, row;

  SmallVector<ShareGroup> getGroups() const {
    if (row == size)
      return {{size, 1}};
    return {{row, 1}, {size / row, row}};
  }
};
} // namespace

/// Whether each slot of the ring has tiles of the same kinds of groups. A CTA knows by releases how
/// often its partners have used a slot, and those of one kind are no partners of the other's: where
/// a slot has tiles of one kind alone, one CTA could use it twice before another one does once.
static bool isFilledAlike(CreateRingOp ring, ArrayRef<SmallVector<CopyOp>> found) {
  SmallVector<uint64_t> kinds;
  for (Operation *user : ring->getUsers()) {
    auto acquire = dyn_cast<AcquireOp>(user);
    if (!acquire)
      continue;
    kinds.push_back(0);
    for (auto [kind, copies] : llvm::enumerate(found))
      if (llvm::any_of(copies, [&](CopyOp copy) { return copy.getSlot() == acquire.getSlot(); }))
        kinds.back() |= uint64_t(1) << kind;
  }
  return llvm::all_equal(kinds);
}

/// The copies of a role that groups of each kind can share; none if one kind has none.
static SmallVector<SmallVector<CopyOp>> findShared(mk::RoleOp role, const Cluster &cluster,
                                                   const llvm::StringMap<int64_t> &ctas) {
  SmallVector<SmallVector<CopyOp>> found;
  for (ShareGroup group : cluster.getGroups()) {
    Uniformity uniformity(group, cluster.size, ctas);
    found.emplace_back();
    for (auto ring : role.getBody().front().getOps<CreateRingOp>()) {
      SmallVector<CopyOp> copies;
      bool alike = true;
      for (Operation *user : ring->getUsers()) {
        auto acquire = dyn_cast<AcquireOp>(user);
        if (!acquire)
          continue;
        alike &= uniformity.isReachedUniformly(acquire);
        for (Operation *use : acquire.getSlot().getUsers())
          if (auto copy = dyn_cast<CopyOp>(use);
              copy && !copy.isByElements() && !copy.getRows() && hasParts(copy, group.size) &&
              uniformity.isReachedUniformly(copy) && isSame(copy, uniformity))
            copies.push_back(copy);
      }
      if (alike)
        llvm::append_range(found.back(), copies);
    }
  }
  for (auto ring : role.getBody().front().getOps<CreateRingOp>())
    if (found.size() > 1 && !isFilledAlike(ring, found))
      for (SmallVector<CopyOp> &copies : found)
        llvm::erase_if(copies, [&](CopyOp copy) {
          return copy.getSlot().getDefiningOp<AcquireOp>().getRing() == ring.getResult();
        });
  if (llvm::any_of(found, [](ArrayRef<CopyOp> copies) { return copies.empty(); }))
    return {};
  return found;
}

/// Whether all CTAs that may come to `wait` tell what it waits for before they wait for anything
/// behind that: each does so in front of it, in its only item. What they need until then does not
/// depend on who waits already, since all copies in front of the wait have been asked for by then.
static bool isSignaledBefore(mk::WaitOp wait, int64_t ctas) {
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
         holdsAny(role, [&](mk::WaitOp wait) { return !isSignaledBefore(wait, ctas); });
}

/// The most items that CTAs of the kernel's only role have together, where each has one at most;
/// null if that is not known.
static std::optional<int64_t> countItemsAtOnce(ArrayRef<mk::RoleOp> roles) {
  if (roles.size() != 1 || holds<TicketOp>(roles.front()))
    return std::nullopt;
  int64_t most = 0;
  WalkResult known = mk::RoleOp(roles.front()).walk([&](ItemsOp items) {
    std::optional<int64_t> total = getConstantIntValue(items.getTotal());
    most = std::max(most, total.value_or(0));
    return total ? WalkResult::advance() : WalkResult::interrupt();
  });
  return known.wasInterrupted() || !most ? std::nullopt : std::optional(most);
}

/// CTAs of each role.
static llvm::StringMap<int64_t> nameCounts(mk::KernelOp kernel, ArrayRef<int64_t> counts) {
  llvm::StringMap<int64_t> ctas;
  for (auto [role, count] : llvm::zip(kernel.getBody().front().getOps<mk::RoleOp>(), counts))
    ctas[role.getSymName()] = count;
  return ctas;
}

/// Says why the copies of a role are not shared by `size` CTAs each.
static void explain(mk::RoleOp role, int64_t size, ArrayRef<int64_t> counts) {
  auto kernel = role->getParentOfType<mk::KernelOp>();
  int64_t grid = mk::countGrid(kernel, counts);
  auto [first, count] = mk::getCtaRange(kernel, counts, role.getSymName());
  SmallVector<CopyOp> copies;
  role.walk([&](CopyOp copy) {
    if (copy.isByElements() || copy.getRows())
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
  llvm::StringMap<int64_t> ctas = nameCounts(kernel, counts);
  Uniformity uniformity({size, 1}, size, ctas);
  for (CopyOp copy : copies) {
    int64_t rows = copy.getTileType().getShape().end()[-2];
    if (!uniformity.isReachedUniformly(copy))
      missed(copy, kShareCopies) << remark::add(
          "may be reached by {0} CTAs side by side unequally often: have a multiple of {0} items, "
          "with loops and branches that do not depend on which",
          size);
    else if (!hasParts(copy, size))
      missed(copy, kShareCopies) << remark::add(
          "has {0} rows, of which {1} CTAs cannot fetch equal parts: use a multiple of {2}", rows,
          size, getPartRows(copy, size));
    else if (!isSame(copy, uniformity))
      missed(copy, kShareCopies) << remark::add(
          "fetches what is different in {0} CTAs side by side, or may be: items that differ in a "
          "last dimension of extent {0} alone have the same",
          size);
    else
      missed(copy, kShareCopies) << "fills a ring that CTAs side by side fill unequally often";
  }
}

/// Clusters that are worth a try, the largest first; `given`: those that the kernel has already,
/// which share nothing where they are no power of two.
static SmallVector<Cluster> listClusters(int64_t largest, int64_t given) {
  SmallVector<Cluster> clusters;
  if (!llvm::isPowerOf2_64(given))
    return clusters;
  for (int64_t size = largest; size > 1; size /= 2) {
    if (given > 1 && size != given)
      continue;
    clusters.push_back({size, size});
    for (int64_t row = size / 2; given == 1 && row > 1; row /= 2)
      clusters.push_back({size, row});
  }
  return clusters;
}

/// Shares what clusters of these CTAs can. Whether that is anything.
static bool share(mk::KernelOp kernel, const Cluster &cluster, ArrayRef<int64_t> counts) {
  llvm::StringMap<int64_t> ctas = nameCounts(kernel, counts);
  bool found = false;
  for (auto role : kernel.getBody().front().getOps<mk::RoleOp>()) {
    auto [first, count] = mk::getCtaRange(kernel, counts, role.getSymName());
    if (first % cluster.size || count % cluster.size || waitsForOthers(role, count))
      continue;
    for (auto [group, copies] : llvm::zip(cluster.getGroups(), findShared(role, cluster, ctas))) {
      for (CopyOp copy : copies) {
        if (copy.getShared() > 1)
          continue; // by a larger group of the same cluster
        copy.setShared(group.size);
        copy.setStride(group.stride);
        passed(copy, kShareCopies) << remark::add("is fetched once for {0} CTAs", group.size);
      }
      found = true;
    }
  }
  return found;
}

LogicalResult mk_sm::shareCopies(mk::KernelOp kernel) {
  FailureOr<SmallVector<int64_t>> counts = mk::getCtas(kernel);
  // One size for the kernel: it is launched in clusters of it.
  FailureOr<int64_t> given = mk::findClusterSize(kernel);
  if (failed(counts) || failed(given))
    return failure();
  int64_t chosen = std::max<int64_t>(*given, 2);
  mk::SmAttr sm = mk::getSm(kernel);
  SmallVector<mk::RoleOp> roles(kernel.getBody().front().getOps<mk::RoleOp>());
  std::optional<int64_t> items = countItemsAtOnce(roles);
  int64_t largest = std::max(*given, mk::getLargestCluster(sm, items));
  for (const Cluster &cluster : listClusters(largest, *given)) {
    SmallVector<int64_t> needed(*counts);
    bool fewer = cluster.size > 2 && sm.getAtOnce(cluster.size) && items && *given == 1;
    if (fewer)
      needed.front() = std::min<int64_t>(needed.front(), llvm::alignTo(*items, cluster.size));
    if (mk::countGrid(kernel, needed) % cluster.size || !share(kernel, cluster, needed))
      continue;
    if (fewer)
      roles.front().setCtasAttr(mk::resolveCtas(roles.front().getCtas(), needed.front()));
    counts = needed;
    chosen = cluster.size;
    break;
  }
  for (mk::RoleOp role : roles)
    explain(role, chosen, *counts);
  return success();
}
