//===- SMVerifyStructure.cpp - Verifiers of partitions, items and turns ---===//
#include "SMVerify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult mk_sm::verifyIn(Operation *op, PartitionKind kind) {
  auto partition = op->getParentOfType<PartitionOp>();
  if (!partition)
    return op->emitOpError() << "stands outside of a partition, but only a "
                             << stringifyPartitionKind(kind) << " does it: move it into one";
  if (partition.getKind() != kind)
    return op->emitOpError() << "belongs into a " << stringifyPartitionKind(kind)
                             << " partition, not into a "
                             << stringifyPartitionKind(partition.getKind()) << ": move it there";
  return success();
}

LogicalResult mk_sm::verifyInScope(Operation *op) {
  if (!op->getParentOfType<mk::RoleOp>() && !op->getParentOfType<mk::PrepareOp>())
    return op->emitOpError() << "stands outside of a role and of mk.prepare, where a CTA has no "
                                "items: move it into the role that does them";
  return success();
}

/// The partition of the kind beside `partition`. One that is verified later may have no kind yet.
static PartitionOp findSibling(PartitionOp partition, PartitionKind kind) {
  for (auto other : partition->getBlock()->getOps<PartitionOp>())
    if (other != partition && other.getKindAttr() && other.getKind() == kind)
      return other;
  return {};
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

LogicalResult PartitionOp::verify() {
  int64_t warps = getWarps(), registers = getRegisters();
  if (getKind() != PartitionKind::Consumer && warps != 1)
    return emitOpError() << "is a " << stringifyPartitionKind(getKind()) << " of " << warps
                         << " warps: a " << stringifyPartitionKind(getKind()) << " is one warp";
  auto role = dyn_cast<mk::RoleOp>((*this)->getParentOp());
  if ((getKind() == PartitionKind::Mover) != (role && role.getBeside()))
    return emitOpError()
           << (getKind() == PartitionKind::Mover
                   ? "is a mover, but its role has CTAs of its own: let it be run 'beside' another"
                   : "stands in a role that is run beside another: only a mover does that");
  mk::TargetAttr target = mk::getSmTarget(*this);
  // A producer's warpgroup is counted whole.
  int64_t warpgroups = target ? target.getSm().getThreads() / mk::kWarpgroupThreads - 1 : warps / 4;
  if (getKind() == PartitionKind::Consumer && (warps < 4 || warps > 4 * warpgroups || warps % 4))
    return emitOpError() << "is a consumer of " << warps << " warps: it is made of 1 to "
                         << warpgroups << " warpgroups of 4";
  int64_t teams = getTeams();
  if (teams != 1 && (teams != 2 || getKind() != PartitionKind::Consumer || warps != 8))
    return emitOpError() << "has " << teams << " teams of " << warps
                         << " warps: a consumer of 8 warps may have two teams of one warpgroup";
  if (getAgrees() && getKind() != PartitionKind::Consumer)
    return emitOpError() << "is one warp and 'agrees' behind its waits: it does where it loads";
  if (target) {
    mk::RegistersAttr file = target.getSm().getRegisters();
    if (!file.has(registers))
      return emitOpError() << "has a budget of " << registers
                           << " registers a thread: it is a multiple of " << file.getStep()
                           << " from " << file.getLeast() << " to " << file.getMost();
  }
  if (findSibling(*this, getKind()))
    return emitOpError() << "is the second " << stringifyPartitionKind(getKind())
                         << " of its role: put both into one";
  return success();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

bool mk_sm::drawsItems(scf::WhileOp loop) {
  return llvm::any_of(*loop.getBeforeBody(),
                      [](Operation &op) { return holds<TicketOp, ReceiveOp>(&op); });
}

LogicalResult InitialItemOp::verify() {
  if (!(*this)->getParentOfType<mk::RoleOp>())
    return emitOpError() << "stands outside of a role, where no items are dealt out: move it into "
                            "the role whose loop it begins";
  return success();
}

LogicalResult ReadDimOp::verify() {
  auto arg = dyn_cast<BlockArgument>(getDim());
  auto kernel = arg ? dyn_cast<mk::KernelOp>(arg.getOwner()->getParentOp()) : mk::KernelOp();
  if (!kernel || arg.getArgNumber() >= kernel.getNumDims())
    return emitOpError() << "reads what is no dimension of the kernel: use the value as it is";
  return success();
}

LogicalResult mk_sm::verifyCluster(Operation *op, int64_t ctas, const Twine &does) {
  mk::TargetAttr target = mk::getSmTarget(op);
  if (!target || target.getSm().hasCluster(ctas))
    return success();
  return op->emitOpError() << does << ": a cluster of " << target.getName() << " has 1 to "
                           << target.getSm().getClusterLimit() << " CTAs";
}

LogicalResult OrderOp::verify() {
  auto partition = (*this)->getParentOfType<PartitionOp>();
  if (partition && partition.getKind() == PartitionKind::Producer)
    return emitOpError() << "orders what a consumer or a mover loads and stores: put it there";
  return success();
}

LogicalResult ItemsOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() < 2 || !getItem().getType().isIndex() ||
      !getRound().getType().isIndex())
    return emitOpError() << "has a body whose arguments do not begin with the number of the item "
                            "and that of the round, two values of type index";
  auto carry = body.empty() ? CarryOp() : dyn_cast<CarryOp>(body.back());
  TypeRange inits = getInits().getTypes(), carried = ValueRange(getRegionIterArgs()).getTypes();
  TypeRange given = carry ? TypeRange(carry.getValues().getTypes()) : TypeRange();
  if (inits != carried || given != carried)
    return emitOpError() << "begins with " << inits.size() << " values, carries " << carried.size()
                         << " and is given " << given.size()
                         << " by mk_sm.carry: as many, of the same types, have to be all three";
  for (auto [name, value] : {std::pair<StringRef, int64_t>("teams", getTeams()),
                             std::pair<StringRef, int64_t>("every", getEvery())})
    if (value != 1 && value != 2)
      return emitOpError() << "has " << name << "(" << value
                           << "): items are taken by one team or by two in turn";
  return verifyCluster(*this, getParts(), "makes parts for " + Twine(getParts()) + " CTAs");
}

/// What is drawn once for the CTA is drawn ahead, where somebody runs ahead.
static LogicalResult verifyDraw(Operation *op) {
  auto partition = op->getParentOfType<PartitionOp>();
  if (partition && partition.getKind() == PartitionKind::Consumer &&
      findSibling(partition, PartitionKind::Producer))
    return op->emitOpError() << "is done by the consumer of a role that has a producer: do it "
                                "there, and mk_sm.send what it gives";
  return success();
}

LogicalResult ForwardOp::verify() {
  size_t number = getScalars().size();
  if (number < 1 || number > MailboxType::kMostWords)
    return emitOpError() << "forwards " << number << " scalars: 1 to " << MailboxType::kMostWords
                         << " go together, as words of a mailbox";
  return success();
}

LogicalResult TicketOp::verify() { return verifyDraw(*this); }

LogicalResult PopOp::verify() {
  if (!isa<mk::QueueType>(getQueue().getType()))
    return emitOpError() << "reads a queue, not " << getQueue().getType();
  return verifyDraw(*this);
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

static LogicalResult verifyTakesTurns(Operation *op) {
  int64_t warpgroups = op->getParentOfType<PartitionOp>().getNumWarpgroups();
  if (warpgroups != 2)
    return op->emitOpError() << "is about the turns of two warpgroups, but its partition has "
                             << warpgroups << ": leave it out";
  return success();
}

/// Whether each way through the rest of the block, from `from` on, comes to one turn_pass
/// before anything that waits for the turn again.
static bool passesTurn(Block::iterator from, Block::iterator end) {
  for (Operation &op : llvm::make_range(from, end)) {
    if (isa<TurnPassOp>(op))
      return true;
    if (holds<TurnWaitOp>(&op))
      return false;
    if (!holds<TurnPassOp>(&op))
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    return branch && branch.elseBlock() &&
           passesTurn(branch.thenBlock()->begin(), branch.thenBlock()->end()) &&
           passesTurn(branch.elseBlock()->begin(), branch.elseBlock()->end());
  }
  return false;
}

LogicalResult TurnWaitOp::verify() {
  if (failed(verifyTakesTurns(*this)))
    return failure();
  if (!passesTurn(std::next((*this)->getIterator()), (*this)->getBlock()->end()))
    return emitOpError() << "has no turn_pass behind it in its block, or in both branches of an "
                            "scf.if there: the other warpgroup would wait for ever";
  return success();
}

/// Whether every way to `op` comes from a turn_wait with no turn_pass between.
static bool hasTurn(Operation *op) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (isa<TurnWaitOp>(before))
      return true;
    if (holds<TurnPassOp>(before) && !holds<TurnWaitOp>(before))
      return false;
  }
  return isa<scf::IfOp>(op->getParentOp()) && hasTurn(op->getParentOp());
}

LogicalResult KeepWordsOp::verify() {
  auto loop = dyn_cast<scf::ForOp>((*this)->getParentOp());
  if (!loop)
    return emitOpError() << "stands in " << (*this)->getParentOp()->getName()
                         << ", and is about a loop: put it into an scf.for";
  if (!loop->getParentOfType<PartitionOp>())
    return emitOpError() << "is about a loop outside of partitions, where no code is made for "
                            "threads: put it into a loop of a partition";
  if (*loop.getOps<KeepWordsOp>().begin() != *this)
    return emitOpError() << "says of its loop what another one says: remove one of them";
  return success();
}

LogicalResult TurnPassOp::verify() {
  if (failed(verifyTakesTurns(*this)))
    return failure();
  if (!hasTurn(*this))
    return emitOpError() << "passes on a turn that its warpgroup does not have: put turn_wait in "
                            "front of it, in its block or one of an scf.if around it";
  return success();
}

//===----------------------------------------------------------------------===//
// After a failure
//===----------------------------------------------------------------------===//

LogicalResult LoadAgreedOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (int64_t(getIndices().size()) != type.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices, but " << type << " has "
                         << type.getRank() << " dimensions: give one for each";
  auto partition = (*this)->getParentOfType<PartitionOp>();
  if (partition && (partition.getKind() != PartitionKind::Consumer || partition.getAgrees()))
    return success();
  return emitOpError()
         << "stands where threads do not agree on a failure: use memref.load, or write "
            "'agrees' at the consumer";
}

LogicalResult UntilFailedOp::verify() {
  auto condition = getResult().hasOneUse() ? dyn_cast<scf::ConditionOp>(*getResult().user_begin())
                                           : scf::ConditionOp();
  if (!condition || condition.getCondition() != getResult())
    return emitOpError() << "is about a loop's end, but its result is not the condition of an "
                            "scf.while alone: give it to scf.condition";
  if (drawsItems(cast<scf::WhileOp>(condition->getParentOp())))
    return emitOpError() << "ends a loop that draws items, of which none are left after a failure: "
                            "leave it out";
  return success();
}
