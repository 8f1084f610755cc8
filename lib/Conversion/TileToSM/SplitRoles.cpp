//===- SplitRoles.cpp - A role becomes a producer and a consumer ----------===//
#include "Rebuilder.h"
#include "mkernel/Conversion/Passes.h"

namespace mlir::mk {
#define GEN_PASS_DEF_SPLITROLESPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk_sm;

/// Addresses, the other registers of a loop, temporaries of elementwise ops.
static constexpr int64_t kOtherRegisters = 32;

/// Slots of a mailbox: the producer is one item ahead.
static constexpr int64_t kMailboxDepth = 2;
static constexpr int64_t kStagingBuffers = 2;

/// Tickets and records: drawn once for the CTA.
static bool isDraw(Operation *op) { return isa<TicketOp, PopOp>(op); }

/// An argument that no kernel writes: its contents need no wait.
static bool isNeverWritten(Value buffer) {
  if (auto choice = buffer.getDefiningOp<mk::SelectOp>())
    return isNeverWritten(choice.getTrueValue()) &&
           isNeverWritten(choice.getFalseValue());
  auto arg = dyn_cast<BlockArgument>(buffer);
  auto kernel =
      arg ? dyn_cast<mk::KernelOp>(arg.getOwner()->getParentOp()) : mk::KernelOp();
  return kernel && arg.getArgNumber() >= kernel.getNumDims() &&
         kernel.getArgKind(arg.getArgNumber() - kernel.getNumDims()) ==
             mk::ArgKind::In;
}

/// Whether the op reads what someone may have written before.
static bool readsResults(Operation *op) {
  if (auto load = dyn_cast<mk::LoadOp>(op))
    return !isNeverWritten(load.getSource());
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return !isNeverWritten(load.getMemRef());
  if (op->getNumRegions())
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.hasEffect<MemoryEffects::Read>();
}

namespace {
/// Splits one role, or mk.prepare.
class RoleSplitter {
public:
  explicit RoleSplitter(Operation *op)
      : plan(op),
        producer(op, [this](Operation *op) { return producerOperands(op); }),
        consumer(op, [this](Operation *op) { return consumerOperands(op); }) {}

  RolePlan plan;

  /// To be called when the number of warpgroups is known.
  LogicalResult prepare();
  LogicalResult split(RegisterSplit registers);

private:
  FailureOr<SmallVector<Value>> producerOperands(Operation *op);
  FailureOr<SmallVector<Value>> consumerOperands(Operation *op);
  LogicalResult sliceProducer();
  LogicalResult sliceConsumer();
  bool mustWaitInConsumer(mk::WaitOp wait);
  Channels createChannels(OpBuilder &b);

  Slice producer, consumer;
  SmallVector<Operation *> ops; // all, in program order
  bool hasProducer = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Who does what
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> RoleSplitter::producerOperands(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  if (plan.staged.contains(op) || isa<mk::WaitOp>(op) || isDraw(op))
    return operands;
  auto isTileValue = [](Value value) { return isTile(value); };
  bool scalar = llvm::none_of(op->getResults(), isTileValue) &&
                llvm::none_of(operands, isTileValue);
  if (scalar && !hasOtherEffects(op))
    return operands;
  InFlightDiagnostic diag =
      op->emitOpError()
      << "decides which tiles come next, for a mk.dot or as items of a loop, "
         "but they are fetched ahead of everything that computes: let the "
         "choice depend on scalars that are read or computed without tiles "
         "and counters, or put the work behind it into a role of its own that "
         "a queue or a signal starts";
  return diag;
}

FailureOr<SmallVector<Value>> RoleSplitter::consumerOperands(Operation *op) {
  if (plan.staged.contains(op) || isDraw(op))
    return SmallVector<Value>();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!plan.getStaged(operand))
      operands.push_back(operand);
  return operands;
}

LogicalResult RoleSplitter::sliceProducer() {
  for (Operation *op : ops) {
    if (!plan.staged.contains(op) && !isDraw(op))
      continue;
    hasProducer = true;
    if (failed(producer.add(op)))
      return failure();
  }
  // A wait guards whatever is read behind it, also what its own operands and
  // conditions are read from.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *wait : ops) {
      if (!isa<mk::WaitOp>(wait) || producer.contains(wait))
        continue;
      bool guards = llvm::any_of(ops, [&](Operation *op) {
        return producer.contains(op) && !isDraw(op) && !isa<mk::WaitOp>(op) &&
               readsResults(op) && mayPrecede(wait, op, plan.op);
      });
      if (!guards)
        continue;
      if (failed(producer.add(wait)))
        return failure();
      changed = true;
    }
  }
  return success();
}

/// A wait that the producer executes need not be repeated if the consumer
/// touches nothing behind it but what came through rings, and memory of its own.
bool RoleSplitter::mustWaitInConsumer(mk::WaitOp wait) {
  if (!producer.contains(wait))
    return true;
  return llvm::any_of(ops, [&](Operation *op) {
    if (!consumer.contains(op) || plan.staged.contains(op) || isDraw(op) ||
        isa<mk::WaitOp>(op))
      return false;
    auto store = dyn_cast<mk::StoreOp>(op);
    bool shared = store && (!isLocal(store) ||
                            mk::isSymmetric(store.getDest().getType()));
    return (shared || isa<mk::PutOp>(op) || (!store && readsResults(op))) &&
           mayPrecede(wait, op, plan.op);
  });
}

LogicalResult RoleSplitter::sliceConsumer() {
  for (Operation *op : ops) {
    bool acts = !op->getNumRegions() && hasOtherEffects(op);
    if (isa<mk::WaitOp>(op) || (!acts && !plan.staged.contains(op)))
      continue;
    if (failed(consumer.add(op)))
      return failure();
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : ops) {
      auto wait = dyn_cast<mk::WaitOp>(op);
      if (!wait || consumer.contains(op) || !mustWaitInConsumer(wait))
        continue;
      if (failed(consumer.add(op)))
        return failure();
      changed = true;
    }
  }
  return success();
}

LogicalResult RoleSplitter::prepare() {
  plan.op->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != plan.op)
      ops.push_back(op);
  });
  assignLayouts(plan);
  int64_t budget = getRegisterSplit(plan.warpgroups, 0).consumer - kOtherRegisters;
  if (failed(checkRegisters(plan, budget)))
    return failure();
  return failure(failed(sliceProducer()) || failed(sliceConsumer()));
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Channels RoleSplitter::createChannels(OpBuilder &b) {
  Channels channels;
  Location loc = plan.op->getLoc();
  MLIRContext *context = b.getContext();
  for (const SmallVector<Type> &tiles : plan.rings)
    channels.rings.push_back(CreateRingOp::create(
        b, loc, RingType::get(context, ShapedType::kDynamic, tiles)));
  bool stages = false;
  for (Operation *op : ops) {
    if (isDraw(op)) {
      Value &mailbox = channels.mailboxes[op->getNumResults()];
      if (!mailbox)
        mailbox = CreateMailboxOp::create(
            b, loc,
            MailboxType::get(context, kMailboxDepth, op->getNumResults()));
    }
    auto store = dyn_cast<mk::StoreOp>(op);
    stages |= store && isStagedStore(plan, store);
  }
  if (stages)
    channels.staging = CreateStagingOp::create(
        b, loc, StagingType::get(context, kStagingBuffers));
  return channels;
}

LogicalResult RoleSplitter::split(RegisterSplit registers) {
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
  auto create = [&](PartitionKind kind, int64_t warps, int64_t budget,
                    Build build, const Slice &slice) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    auto partition = PartitionOp::create(b, loc, kind, warps, budget);
    b.createBlock(&partition.getBody());
    return build(plan, channels, slice, b);
  };
  LogicalResult built = success();
  if (hasProducer)
    built = create(PartitionKind::Producer, 1, registers.producer, buildProducer,
                   producer);
  if (succeeded(built))
    built = create(PartitionKind::Consumer, 4 * plan.warpgroups,
                   registers.consumer, buildConsumer, consumer);
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
    if (isa<mk::RoleOp, mk::PrepareOp>(op) &&
        op.getRegion(0).getOps<PartitionOp>().empty())
      roles.push_back(std::make_unique<RoleSplitter>(&op));
  int64_t most = 0;
  for (auto &role : roles) {
    if (failed(planStaging(role->plan)))
      return failure();
    most = std::max(most, role->plan.warpgroups);
  }
  // A CTA has as many threads as its largest role wants; roles without dots take
  // them all.
  int64_t warpgroups = most ? most : 2, live = 0;
  for (auto &role : roles) {
    if (!role->plan.warpgroups)
      role->plan.warpgroups = warpgroups;
    if (failed(role->prepare()))
      return failure();
    live = std::max(live, role->plan.liveRegisters);
  }
  for (auto &role : roles)
    if (failed(role->split(getRegisterSplit(warpgroups, live))))
      return failure();
  return success();
}

namespace {
struct SplitRolesPass : mk::impl::SplitRolesPassBase<SplitRolesPass> {
  using SplitRolesPassBase::SplitRolesPassBase;

  void runOnOperation() override {
    for (mk::KernelOp kernel : getOperation().getOps<mk::KernelOp>())
      if (failed(splitKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace
