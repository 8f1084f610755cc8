//===- SplitRoles.cpp - A role becomes a producer and a consumer ----------===//
#include "RoleSplitter.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Support/Counted.h"
#include "mkernel/Transforms/FunctionPass.h"

namespace mlir::mk {
#define GEN_PASS_DEF_SPLITROLESPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk_sm;

LogicalResult RoleSplitter::measure(int64_t warpgroups) {
  plan.op->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != plan.op)
      ops.push_back(op);
  });
  assignLayouts(plan);
  mk::RegistersAttr file = mk::getSm(plan.op).getRegisters();
  mk::RegisterSplitAttr split = leaveToMovers(plan.op->getParentOfType<mk::KernelOp>(),
                                              getRegisterSplit(file, warpgroups, 0));
  int64_t budget = split.getConsumer() - file.getReserve().getScalars();
  return checkRegisters(plan, budget, warpgroups);
}

LogicalResult RoleSplitter::prepare(bool mayWait) {
  auto accumulators = MmaAttr::get(plan.op->getContext(), plan.warpgroups);
  dropReads(plan,
            "is loaded by those who use it, since it meets no product, and is not in the layout of "
            "accumulators, in which threads read",
            [&](mk::LoadOp load) { return plan.getLayout(load) != accumulators; });
  dropReads(
      plan,
      "is loaded by those who use it, since its place or whether it is loaded depends on what "
      "the producer cannot know ahead: let it depend on scalars that nobody writes",
      [&](mk::LoadOp load) { return !mayBeFetched(load, plan.op); });
  for (const Site &site : plan.sites)
    if (!site.parts.empty())
      passed(site.getFirst(), kSplitRoles)
          << remark::add("comes through ring {0}, in {1} slots", site.ring, site.parts.size());
  return failure(failed(sliceProducer(mayWait)) || failed(sliceConsumer()));
}

bool RoleSplitter::waitsInProducer() const {
  return llvm::any_of(ops,
                      [&](Operation *op) { return isa<mk::WaitOp>(op) && producer.contains(op); });
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Channels RoleSplitter::createChannels(OpBuilder &b) {
  Channels channels;
  Location loc = plan.op->getLoc();
  MLIRContext *context = b.getContext();
  for (const SmallVector<Type> &tiles : plan.rings)
    channels.rings.push_back(
        CreateRingOp::create(b, loc, RingType::get(context, ShapedType::kDynamic, tiles)));
  for (Operation *op : ops) {
    if (!isReceived(op))
      continue;
    // Numbers go with tickets: a place in a mailbox takes registers of the producer.
    Value &mailbox = channels.mailboxes[op->getNumResults()];
    if (!mailbox)
      mailbox = CreateMailboxOp::create(
          b, loc,
          MailboxType::get(context, mk::getSm(plan.op).getThresholds().getMailboxSlots(),
                           op->getNumResults()));
  }
  return channels;
}

LogicalResult RoleSplitter::split(mk::RegisterSplitAttr registers) {
  Block &body = plan.getBody();
  SmallVector<Operation *> old;
  for (Operation &op : body)
    old.push_back(&op);
  OpBuilder b(plan.op->getContext());
  Location loc = plan.op->getLoc();
  auto fresh = std::make_unique<Block>();
  b.setInsertionPointToEnd(fresh.get());
  Channels channels = createChannels(b);
  using Build = decltype(&buildProducer);
  auto create = [&](PartitionKind kind, int64_t warps, int64_t budget, int64_t teams, Build build,
                    const Slice &slice) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    auto partition = PartitionOp::create(b, loc, kind, warps, budget, teams);
    b.createBlock(&partition.getBody());
    return build(plan, channels, slice, b);
  };
  LogicalResult built = success();
  auto role = dyn_cast<mk::RoleOp>(plan.op);
  bool isBeside = role && role.getBeside();
  if (hasProducer)
    built = create(PartitionKind::Producer, 1, registers.getProducer(), /*teams=*/1, buildProducer,
                   producer);
  if (succeeded(built))
    built = isBeside ? create(PartitionKind::Mover, 1, registers.getProducer(), /*teams=*/1,
                              buildConsumer, consumer)
                     : create(PartitionKind::Consumer, 4 * plan.warpgroups * plan.teams,
                              registers.getConsumer(), plan.teams, buildConsumer, consumer);
  if (failed(built)) {
    // Nothing of the new body is used; uses inside go first.
    fresh->dropAllReferences();
    return failure();
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
  body.getOperations().splice(body.end(), fresh->getOperations());
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static LogicalResult splitKernel(mk::KernelOp kernel) {
  SmallVector<std::unique_ptr<RoleSplitter>> roles;
  for (Operation &op : kernel.getBody().front())
    if (auto role = dyn_cast<mk::RoleOp>(op);
        (isa<mk::PrepareOp>(op) || (role && !role.isOfEngines())) &&
        op.getRegion(0).getOps<PartitionOp>().empty())
      roles.push_back(std::make_unique<RoleSplitter>(&op));
  int64_t most = 0;
  for (auto &role : roles) {
    if (failed(planStaging(role->plan)))
      return failure();
    most = std::max(most, role->plan.warpgroups * role->plan.teams);
  }
  // A CTA has as many threads as its largest role wants; roles without dots take them all.
  mk::RegistersAttr file = mk::getSm(kernel).getRegisters();
  int64_t warpgroups = most ? most : file.getWarpgroupCounts().front(), live = 0;
  if (!getRegisterSplit(file, warpgroups, 0))
    return kernel.emitOpError()
           << "has consumers of " << mkernel::counted(warpgroups, "warpgroup") << "; "
           << mk::getSmTarget(kernel).getName()
           << " has registers for fewer: use no teams (order without 'alternate')";
  bool waits = false;
  for (auto &role : roles) {
    if (!role->plan.warpgroups)
      role->plan.warpgroups = warpgroups;
    if (failed(role->measure(warpgroups)))
      return failure();
    live = std::max(live, role->plan.liveRegisters);
  }
  bool mayWait = getRegisterSplit(file, warpgroups, live) ==
                 getRegisterSplit(file, warpgroups, live, /*waitsInProducer=*/true);
  for (auto &role : roles) {
    if (!mayWait)
      dropReads(
          role->plan,
          "is loaded by those who use it, since the kernel's tiles leave the producer too few "
          "registers to wait for it: use smaller tiles",
          [&](mk::LoadOp load) { return mayBeGuarded(role->plan, load); });
    if (failed(role->prepare(mayWait)))
      return failure();
    waits |= role->waitsInProducer();
  }
  mk::RegisterSplitAttr registers =
      leaveToMovers(kernel, getRegisterSplit(file, warpgroups, live, waits));
  for (auto &role : roles) {
    analysis(role->plan.op, kSplitRoles)
        << remark::add("holds tiles in {0} of {1} registers of a thread; a producer's has {2}",
                       role->plan.liveRegisters, registers.getConsumer(), registers.getProducer());
    if (failed(role->split(registers)))
      return failure();
  }
  return success();
}

template struct mk::FunctionPass<mk::impl::SplitRolesPassBase, splitKernel>;
