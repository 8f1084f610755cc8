//===- SMChannels.cpp - Checks of rings and mailboxes ---------------------===//
#include "SMChannels.h"
#include "mkernel/Analysis/Ctas.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// The users of a kind, in no order.
template <typename OpT> static SmallVector<OpT> getUsers(Operation *channel) {
  SmallVector<OpT> users;
  for (Operation *user : channel->getUsers())
    if (auto op = dyn_cast<OpT>(user))
      users.push_back(op);
  return users;
}

/// A slot is filled and handed over in the block in which it was acquired.
static LogicalResult verifyFilled(AcquireOp acquire) {
  size_t tiles = acquire.getSlot().getType().getTiles().size();
  SmallVector<unsigned> copies(tiles);
  bool committed = false;
  for (Operation *user : acquire.getSlot().getUsers()) {
    if (auto copy = dyn_cast<CopyOp>(user))
      ++copies[copy.getIndex()];
    committed |= isa<CommitOp>(user) && user->getBlock() == acquire->getBlock();
  }
  if (!committed)
    return acquire.emitOpError()
           << "gets a slot that nobody commits in the same block: the consumer would wait for ever";
  for (auto [index, number] : llvm::enumerate(copies))
    if (number != 1)
      return acquire.emitOpError() << "gets a slot whose tile " << index << " is filled by "
                                   << number << " copies: fill each tile once";
  return success();
}

/// Whether only threads read the slot, which may hold several at once.
static bool isOnlyRead(mk_sm::WaitOp wait) {
  return !wait.getSlot().use_empty() &&
         llvm::all_of(wait.getSlot().getUsers(), [](Operation *tile) {
           return llvm::all_of(tile->getUsers(), llvm::IsaPred<ReadOp>);
         });
}

/// In each block a slot is waited for, then released, before the next one, or several are together.
static LogicalResult verifyReleased(CreateRingOp ring) {
  llvm::SmallPtrSet<Block *, 4> seen;
  for (mk_sm::WaitOp wait : getUsers<mk_sm::WaitOp>(ring)) {
    if (!seen.insert(wait->getBlock()).second)
      continue;
    SmallVector<mk_sm::WaitOp> held;
    size_t released = 0;
    for (Operation &op : *wait->getBlock()) {
      if (!llvm::is_contained(op.getOperands(), ring.getResult()))
        continue;
      if (auto next = dyn_cast<mk_sm::WaitOp>(op)) {
        if (released || (!held.empty() && !(isOnlyRead(held.front()) && isOnlyRead(next))))
          break;
        held.push_back(next);
      } else if (isa<ReleaseOp>(op) && ++released >= held.size()) {
        held.clear();
        released = 0;
      }
    }
    if (!held.empty())
      return held.front().emitOpError()
             << "takes a slot that is not released in the same block, as passes that move releases "
                "expect: put mk_sm.release behind its last use";
  }
  return success();
}

static LogicalResult verifyRing(CreateRingOp ring, bool paired) {
  size_t fills = getUsers<AcquireOp>(ring).size(), waits = getUsers<mk_sm::WaitOp>(ring).size();
  size_t releases = getUsers<ReleaseOp>(ring).size();
  if (!fills != !waits)
    return ring.emitOpError() << "has a ring that is " << (fills ? "filled" : "read")
                              << " but never " << (fills ? "read" : "filled")
                              << ": the role would not end";
  if (!waits != !releases)
    return ring.emitOpError() << "has a ring whose slots are " << (waits ? "read" : "released")
                              << " but never " << (waits ? "released" : "read")
                              << ": the producer would wait for ever, or fill what is in use";
  llvm::SmallDenseSet<Type> filled;
  for (AcquireOp acquire : getUsers<AcquireOp>(ring)) {
    if (failed(verifyFilled(acquire)))
      return failure();
    filled.insert(acquire.getSlot().getType());
  }
  for (mk_sm::WaitOp wait : getUsers<mk_sm::WaitOp>(ring))
    if (Type slot = wait.getSlot().getType(); !filled.contains(slot))
      return wait.emitOpError() << "takes " << slot
                                << " of a ring in which nobody fills such slots: acquire as many "
                                   "of this type, in the same order";
  if (!paired)
    return success();
  if (fills != waits)
    return ring.emitOpError() << "has a ring that is filled in " << fills << " places and read in "
                              << waits << ": behind the split these are the same";
  return verifyReleased(ring);
}

static LogicalResult verifyMailbox(CreateMailboxOp mailbox, bool paired) {
  size_t sends = getUsers<SendOp>(mailbox).size();
  size_t receives = getUsers<ReceiveOp>(mailbox).size();
  if (!sends != !receives || (paired && sends != receives))
    return mailbox.emitOpError() << "has a mailbox that is sent to in " << sends
                                 << " places and received from in " << receives
                                 << ": each number that is sent is received once";
  return success();
}

LogicalResult mk_sm::verifyChannels(Operation *scope, bool paired) {
  for (Operation &op : scope->getRegion(0).front()) {
    auto ring = dyn_cast<CreateRingOp>(op);
    auto mailbox = dyn_cast<CreateMailboxOp>(op);
    if ((ring && failed(verifyRing(ring, paired))) ||
        (mailbox && failed(verifyMailbox(mailbox, paired))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult mk_sm::verifySizes(mk::KernelOp kernel) {
  WalkResult rings = kernel.walk([](CreateRingOp ring) -> WalkResult {
    if (ring.getResult().getType().hasDepth())
      return WalkResult::advance();
    return ring.emitOpError() << "has a ring of unknown depth when sizes are fixed: run "
                                 "mk-sm-size-rings, or write a number";
  });
  if (rings.wasInterrupted())
    return failure();
  FailureOr<SmallVector<int64_t>> counts = mk::getCtas(kernel);
  if (failed(counts) || failed(mk::findClusterSize(kernel)))
    return failure();
  int64_t grid = mk::countGrid(kernel, *counts);
  for (auto role : kernel.getBody().front().getOps<mk::RoleOp>()) {
    auto [first, count] = mk::getCtaRange(kernel, *counts, role.getSymName());
    WalkResult result = role.walk([&, first = first, count = count](Operation *op) -> WalkResult {
      int64_t shared = mk::countTogether(op);
      if (first % shared || count % shared || grid % shared)
        return op->emitOpError() << "needs clusters of " << shared << " CTAs, but its role has "
                                 << count << " of " << grid << " from number " << first
                                 << " on: all of these have to be multiples of " << shared;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
