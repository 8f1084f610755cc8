//===- SMVerifyWarps.cpp - Verifiers of what warps do ---------------------===//
#include "SMVerify.h"

using namespace mlir;
using namespace mlir::mk_sm;

static mk::RoleOp findRole(mk::KernelOp kernel, StringRef name) {
  for (auto role : kernel.getBody().getOps<mk::RoleOp>())
    if (role.getSymName() == name)
      return role;
  return {};
}

bool mk_sm::isFollowedBy(mk::RoleOp role, mk::RoleOp later) {
  auto kernel = role->getParentOfType<mk::KernelOp>();
  llvm::SmallPtrSet<Operation *, 4> seen; // a cycle is refused elsewhere
  while (role && role.getThen() && seen.insert(role).second) {
    role = findRole(kernel, *role.getThen());
    if (role == later)
      return true;
  }
  return false;
}

static LogicalResult verifyRegisters(WarpsOp op, mk::SmAttr sm) {
  std::optional<ArrayRef<int64_t>> registers = op.getRegisters();
  if (!registers)
    return success();
  mk::RegistersAttr file = sm.getRegisters();
  if (registers->size() != 2 || !llvm::all_of(*registers, [&](int64_t n) { return file.has(n); }))
    return op.emitOpError() << "has registers " << *op.getRegisters()
                            << ": give two numbers, each a multiple of " << file.getStep()
                            << " from " << file.getLeast() << " to " << file.getMost();
  int64_t pool = file.getAtStart(op.getNumThreads()) * op.getNumThreads();
  int64_t wanted = mk::kWarpgroupThreads * (*registers)[0] +
                   (op.getNumThreads() - mk::kWarpgroupThreads) * (*registers)[1];
  if (wanted > pool)
    return op.emitOpError() << "deals out " << wanted << " registers, of which the CTA has "
                            << pool;
  return success();
}

static LogicalResult verifyOrder(WarpsOp op, mk::KernelOp kernel) {
  SmallVector<mk::RoleOp> order;
  for (StringRef name : op.getOrder().getAsValueRange<FlatSymbolRefAttr>()) {
    mk::RoleOp role = findRole(kernel, name);
    if (!role || !role.isInGrid() || llvm::is_contained(order, role))
      return op.emitOpError() << "has '" << name << "' in its order, which is no role of the "
                              << "kernel with CTAs of its own, or stands there already";
    for (mk::RoleOp before : order)
      if (isFollowedBy(role, before))
        return op.emitOpError() << "comes to role '" << before.getSymName() << "' before role '"
                                << name << "', which goes on with it";
    order.push_back(role);
  }
  for (auto role : kernel.getBody().getOps<mk::RoleOp>())
    if (role.isInGrid() && !llvm::is_contained(order, role))
      return op.emitOpError() << "never comes to role '" << role.getSymName() << "'";
  return success();
}

static LogicalResult verifyMovers(WarpsOp op, mk::KernelOp kernel) {
  SmallVector<mk::RoleOp> movers;
  if (op.getMovers())
    for (StringRef name : op.getMovers()->getAsValueRange<FlatSymbolRefAttr>()) {
      mk::RoleOp role = findRole(kernel, name);
      if (!role || !role.getBeside() || llvm::is_contained(movers, role))
        return op.emitOpError() << "has '" << name
                                << "' among its movers, which is no role beside another, "
                                << "or stands there already";
      movers.push_back(role);
    }
  for (auto role : kernel.getBody().getOps<mk::RoleOp>())
    if (role.getBeside() && !llvm::is_contained(movers, role))
      return op.emitOpError() << "has no mover for role '" << role.getSymName() << "'";
  if (movers.size() > WarpsOp::kMostMovers)
    return op.emitOpError() << "has " << movers.size() << " movers: a CTA has warps for "
                            << WarpsOp::kMostMovers;
  return success();
}

static LogicalResult verifyBarriers(WarpsOp op) {
  const std::pair<StringRef, int64_t> barriers[] = {{"warpgroup", op.getConsumer() / 4},
                                                    {"consumer", 1},
                                                    {"cta", 1},
                                                    {"turn", 2},
                                                    {"request", 1},
                                                    {"finish", 1}};
  StringRef taken[16] = {"all threads"};
  for (auto [name, count] : barriers) {
    auto number = op.getBarriers().getAs<IntegerAttr>(name);
    if (!number || number.getInt() < 0 || number.getInt() + count > 16)
      return op.emitOpError() << "has no place for the " << count << " named barriers '" << name
                              << "' from 1 to 15";
    for (int64_t i = number.getInt(); i != number.getInt() + count; ++i) {
      if (!taken[i].empty())
        return op.emitOpError() << "uses named barrier " << i << " for '" << name
                                << "', which is that of '" << taken[i] << "'";
      taken[i] = name;
    }
  }
  return success();
}

LogicalResult WarpsOp::verify() {
  auto kernel = (*this)->getParentOfType<mk::KernelOp>();
  for (WarpsOp other : kernel.getBody().getOps<WarpsOp>())
    if (other != *this)
      return emitOpError() << "stands in its kernel twice: delete one";
  mk::SmAttr sm = mk::getSm(*this);
  int64_t warps = getConsumer(), most = sm ? sm.getThreads() / mk::kWarpThreads - 4 : warps;
  if (warps < 4 || warps > most || warps % 4)
    return emitOpError() << "has " << warps << " warps of the consumer: it has 4 to " << most
                         << ", a multiple of 4";
  if (getCopiers() && getSender())
    return emitOpError() << "has the same warps as copiers and as sender: leave the sender out, "
                            "and the consumer sends its tiles itself";
  if (getSender() && !postsTiles(kernel))
    return emitOpError() << "has a sender, but no store is posted: leave it out";
  WalkResult fits = kernel.walk([&](PartitionOp partition) -> WalkResult {
    if (partition.getKind() != PartitionKind::Consumer ||
        static_cast<int64_t>(partition.getWarps()) <= warps)
      return WalkResult::advance();
    return partition.emitOpError() << "has " << partition.getWarps() << " warps, mk_sm.warps only "
                                   << warps << ": delete that, and run mk-sm-assign-warps";
  });
  return failure(fits.wasInterrupted() || (sm && failed(verifyRegisters(*this, sm))) ||
                 failed(verifyOrder(*this, kernel)) || failed(verifyMovers(*this, kernel)) ||
                 failed(verifyBarriers(*this)));
}

LogicalResult SyncWarpsOp::verify() {
  auto role = cast<mk::RoleOp>((*this)->getParentOp());
  if ((*this)->getPrevNode())
    return emitOpError() << "stands behind other ops of its role: put it at the beginning";
  for (StringRef name : getFrom().getAsValueRange<FlatSymbolRefAttr>()) {
    mk::RoleOp from = findRole(role->getParentOfType<mk::KernelOp>(), name);
    if (!from || !isFollowedBy(from, role))
      return emitOpError() << "waits for CTAs of '" << name << "', no role that goes on with '"
                           << role.getSymName() << "'";
  }
  return success();
}
