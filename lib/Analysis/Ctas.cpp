//===- Ctas.cpp - How many CTAs each role gets ----------------------------===//
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Dialect/SM/SM.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::mk;

/// What a role is certain to get of the grid.
static int64_t getCertain(CtasAttr ctas, int64_t grid) {
  if (ctas.getBeside() || ctas.getEngines())
    return 0;
  if (ctas.getFixed() > 0)
    return ctas.getFixed();
  if (ctas.getRest())
    return ctas.getMin();
  // A share is written in decimal; its product with the grid must not fall
  // below a whole number by the rounding of the share.
  double product = ctas.getShare().convertToDouble() * grid;
  return std::max<int64_t>(std::floor(product + 1e-6), ctas.getMin());
}

/// The loop of a role whose items most CTAs do together, and how many: it has whole clusters of
/// them.
static std::pair<ForeachOp, int64_t> getTogether(RoleOp role) {
  std::pair<ForeachOp, int64_t> most{nullptr, 1};
  role.walk([&](ForeachOp loop) {
    ScheduleAttr schedule = loop.getScheduleAttr();
    if (schedule && schedule.getTogether() > most.second)
      most = {loop, schedule.getTogether()};
  });
  return most;
}

int64_t mk::limitToClusters(KernelOp kernel, int64_t ctas, int64_t together, int64_t others) {
  SmAttr sm = getSm(kernel);
  if (std::optional<int64_t> atOnce = sm ? sm.getAtOnce(together) : std::nullopt;
      atOnce && together > 1)
    ctas = std::min(ctas, std::max(*atOnce - others, together));
  return ctas - ctas % std::max<int64_t>(together, 1);
}

int64_t mk::getLargestCluster(SmAttr sm, std::optional<int64_t> items) {
  int64_t size = sm.getCluster();
  for (; size > 2; size /= 2)
    if (std::optional<int64_t> atOnce = sm.getAtOnce(size); !atOnce || (items && *items <= *atOnce))
      break;
  return size;
}

/// "'send' 1, 'push' 2, 'gemm' at least 4".
static std::string describe(ArrayRef<RoleOp> roles, ArrayRef<int64_t> certain) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto isInGrid = [](auto pair) { return RoleOp(std::get<0>(pair)).isInGrid(); };
  llvm::interleaveComma(llvm::make_filter_range(llvm::zip(roles, certain), isInGrid), os,
                        [&](auto pair) {
                          RoleOp role = std::get<0>(pair);
                          int64_t ctas = std::get<1>(pair);
                          os << '\'' << role.getSymName() << '\''
                             << (role.getCtas().getRest() ? " at least " : " ") << ctas;
                        });
  return text;
}

LogicalResult mk::verifyMeshIsBound(KernelOp kernel) {
  MeshOp mesh = kernel.getMeshOp();
  if (!ShapedType::isDynamic(mesh.getNumRanks()))
    return success();
  return kernel.emitOpError()
         << "runs on mesh @" << mesh.getSymName()
         << ", which has an axis of unknown size; bind it (mk-bind, or --bind AXIS=N)";
}

CtasAttr mk::resolveCtas(CtasAttr ctas, int64_t count) {
  return CtasAttr::get(ctas.getContext(), count, count ? llvm::APFloat(0.0) : ctas.getShare(),
                       ctas.getRest(), count ? count : ctas.getMin(), StringAttr(),
                       ctas.getBeside(), ctas.getEngines());
}

FailureOr<SmallVector<int64_t>> mk::assignCtas(KernelOp kernel, int64_t grid) {
  SmallVector<CtasAttr> shares;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    shares.push_back(role.getCtas());
  return assignCtas(kernel, shares, grid);
}

FailureOr<SmallVector<int64_t>> mk::assignCtas(KernelOp kernel, ArrayRef<CtasAttr> shares,
                                               int64_t grid) {
  SmallVector<RoleOp> roles(kernel.getBody().getOps<RoleOp>());
  SmallVector<int64_t> ctas;
  int64_t sum = 0, others = 0, numRest = 0;
  for (CtasAttr share : shares) {
    ctas.push_back(getCertain(share, grid));
    sum += ctas.back();
    if (share.getRest())
      ++numRest;
    else
      others += ctas.back();
  }
  if (sum > grid)
    return kernel.emitError() << "roles of kernel '" << kernel.getSymName() << "' need " << sum
                              << " CTAs on a grid of " << grid << ": " << describe(roles, ctas)
                              << "; give roles fewer CTAs or the kernel a larger grid";
  auto addOthers = [&]() -> FailureOr<SmallVector<int64_t>> {
    for (auto [i, role] : llvm::enumerate(roles)) {
      if (role.isOfEngines())
        ctas[i] = 1;
      for (auto [j, other] : llvm::enumerate(roles)) {
        if (role.getBeside() != other.getSymNameAttr())
          continue;
        ctas[i] = ctas[j];
        if (int64_t given = role.getCtas().getFixed(); given && given != ctas[j])
          return role.emitOpError()
                 << "'" << role.getSymName() << "' is run by " << given << " CTAs beside @"
                 << other.getSymName() << ", which has " << ctas[j] << ": leave the number out";
      }
    }
    return ctas;
  };
  if (numRest == 0)
    return addOthers();

  // Even parts, except where a minimum is more: those roles get their minimum
  // and the others share what then is left.
  SmallVector<unsigned> open;
  for (auto [i, share] : llvm::enumerate(shares))
    if (share.getRest())
      open.push_back(i);
  int64_t left = grid - others;
  for (bool changed = true; changed && !open.empty();) {
    int64_t part = left / static_cast<int64_t>(open.size());
    changed = false;
    llvm::erase_if(open, [&](unsigned i) {
      if (ctas[i] <= part)
        return false;
      left -= ctas[i];
      return changed = true;
    });
  }
  for (auto [n, i] : llvm::enumerate(open)) {
    int64_t count = open.size();
    int64_t given = left / count + (static_cast<int64_t>(n) < left % count ? 1 : 0);
    auto [loop, together] = getTogether(roles[i]);
    ctas[i] = limitToClusters(kernel, given, together, others);
    if (loop && ctas[i] == 0)
      return loop.emitOpError() << "has parts = " << together
                                << ": so many CTAs do an item together, but role '"
                                << roles[i].getSymName() << "' gets " << given << " of a grid of "
                                << grid << "; use fewer parts or a larger grid";
  }
  return addOthers();
}

CtaRange mk::getCtaRange(KernelOp kernel, ArrayRef<int64_t> ctas, StringRef name) {
  CtaRange range;
  StringRef searched = name;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    if (role.getSymName() == name && role.getBeside())
      searched = role.getBeside().getValue();
  for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), ctas)) {
    if (role.getSymName() == searched) {
      range.count = count;
      break;
    }
    range.first += role.isInGrid() ? count : 0;
  }
  return range;
}

int64_t mk::countGrid(KernelOp kernel, ArrayRef<int64_t> ctas) {
  int64_t grid = 0;
  for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), ctas))
    grid += role.isInGrid() ? count : 0;
  return grid;
}

FailureOr<SmallVector<int64_t>> mk::getCtas(KernelOp kernel) {
  SmallVector<int64_t> ctas;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    ctas.push_back(role.getCtas().getFixed());
    if (!ctas.back())
      return role.emitOpError() << "has no number of CTAs yet: run mk-assign-ctas";
  }
  return ctas;
}

int64_t mk::countTogether(Operation *op) {
  if (auto copy = dyn_cast<mk_sm::CopyOp>(op))
    return copy.getShared() * copy.getStride();
  auto swap = dyn_cast<mk_sm::SwapPartsOp>(op);
  return swap ? swap.getCtas() : 1;
}

FailureOr<int64_t> mk::findClusterSize(KernelOp kernel) {
  int64_t cluster = 1;
  kernel.walk([&](mk_sm::CopyOp copy) { cluster = std::max(cluster, countTogether(copy)); });
  // A part of a cluster may share a copy, but parts of items are exchanged by all of it.
  WalkResult result = kernel.walk([&](mk_sm::SwapPartsOp swap) -> WalkResult {
    int64_t ctas = swap.getCtas();
    if (cluster != 1 && ctas != cluster)
      return swap.emitOpError() << "is done by " << ctas << " CTAs and another op by " << cluster
                                << ": a kernel has clusters of one size";
    cluster = ctas;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return cluster;
}
