//===- AlternateItems.cpp - Two teams take a CTA's items in turn ----------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk_sm;

static bool usesRing(Operation &op) { return holds<WaitOp>(&op); }

/// What the file does where it has no such op; empty if it has it.
static StringRef getWrittenAs(Operation *op) {
  if (isa<ConvertLayoutOp>(op))
    return "takes a tile as other threads have it, which ";
  if (isa<ReceiveOp, TicketOp, PopOp>(op))
    return "takes a number that a thread draws (schedule(ticket), a queue) or reads, which ";
  return "";
}

static InFlightDiagnostic refuse(Operation *op, StringRef reason) {
  StringRef written = getWrittenAs(op);
  InFlightDiagnostic diag = written.empty() ? op->emitOpError() : emitError(op->getLoc());
  diag << written << reason
       << "; its role has order(alternate = 2), whose teams work on items of their own: "
          "leave alternate out";
  return diag;
}

/// Ops that all threads of a partition come to at the same item.
static LogicalResult checkOps(PartitionOp partition) {
  WalkResult result = partition->getParentOp()->walk([](Operation *op) -> WalkResult {
    if (!op->getNumRegions() && getExchangeBytes(op))
      return refuse(op, "moves elements between threads through shared memory");
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = partition.walk([](Operation *op) -> WalkResult {
    if (isa<ReceiveOp, TicketOp, PopOp, mk::WaitOp, mk::PutOp, mk::CountOp, mk::PushOp, TurnWaitOp,
            TurnPassOp>(op))
      return refuse(op, "is done once for all warpgroups of the consumer");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Passes the turn on behind the last op of `block` that waits for a slot; in each branch
/// of an scf.if, so that what a branch has behind its loop comes after.
static void passTurn(Block &block) {
  Operation *last = nullptr;
  for (Operation &op : block)
    if (usesRing(op))
      last = &op;
  OpBuilder b = last ? OpBuilder(last->getBlock(), std::next(last->getIterator()))
                     : OpBuilder::atBlockBegin(&block);
  auto branch = dyn_cast_or_null<scf::IfOp>(last);
  if (!branch) {
    TurnPassOp::create(b, block.getParentOp()->getLoc(), ValueRange());
    return;
  }
  if (!branch.elseBlock()) {
    b.createBlock(&branch.getElseRegion());
    scf::YieldOp::create(b, branch.getLoc());
  }
  passTurn(*branch.thenBlock());
  passTurn(*branch.elseBlock());
}

/// Where a branch gives the item's product (a loop that may have no steps), what stands behind
/// it goes into both branches: accumulators that meet others keep ptxas from leaving
/// products in flight (C7515).
static void sinkIntoBranches(Block &block) {
  scf::IfOp branch;
  for (Operation &op : block)
    if (usesRing(op))
      branch = dyn_cast<scf::IfOp>(op);
  if (!branch || !branch.getNumResults())
    return;
  OpBuilder b(branch);
  SmallVector<Operation *> behind;
  for (Operation *op = branch->getNextNode(); op != block.getTerminator(); op = op->getNextNode())
    behind.push_back(op);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()}) {
    Operation *yield = side->getTerminator();
    IRMapping mapping;
    mapping.map(branch.getResults(), yield->getOperands());
    b.setInsertionPoint(yield);
    for (Operation *op : behind)
      b.clone(*op, mapping);
  }
  for (Operation *op : llvm::reverse(behind))
    op->erase();
  b.setInsertionPoint(branch);
  auto bare = scf::IfOp::create(b, branch.getLoc(), branch.getCondition(), /*withElse=*/true);
  for (auto [from, to] : {std::pair{branch.thenBlock(), bare.thenBlock()},
                          std::pair{branch.elseBlock(), bare.elseBlock()}}) {
    from->getTerminator()->erase();
    to->getOperations().splice(to->begin(), from->getOperations());
  }
  branch.erase();
}

LogicalResult mk_sm::alternateItems(PartitionOp partition) {
  if (partition.getTeams() == 1)
    return success();
  if (failed(checkOps(partition)))
    return failure();
  SmallVector<Operation *> users;
  for (Operation &op : partition.getBody().front())
    if (usesRing(op))
      users.push_back(&op);
  auto loop = users.size() == 1 ? dyn_cast<ItemsOp>(users.front()) : ItemsOp();
  auto role = dyn_cast<mk::RoleOp>(partition->getParentOp());
  if (!loop || !role)
    return refuse(partition, "does not take all staged tiles in one loop over its items");
  Operation *first = &*llvm::find_if(loop.getBody().front(), usesRing);

  passed(loop, "mk-sm-alternate-items") << "has two teams take its items in turn";
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  Value team = TeamIndexOp::create(b, loc);
  Value ctas =
      mk::CtasOfOp::create(b, loc, b.getIndexType(), FlatSymbolRefAttr::get(role.getSymNameAttr()));
  Value offset = arith::MulIOp::create(b, loc, team, ctas);
  // Both teams go around equally often, so that turns come out even.
  auto pairs = ItemsOp::create(b, loc, loop.getTotal(), /*teams=*/1, /*every=*/2);
  b.setInsertionPointToStart(&pairs.getBody().front());
  Value item = arith::AddIOp::create(b, loc, pairs.getItem(), offset);
  Value round = arith::AddIOp::create(b, loc, pairs.getRound(), team);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, item, loop.getTotal());
  auto choice = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/true);
  loop.getItem().replaceAllUsesWith(item);
  loop.getRound().replaceAllUsesWith(round);
  Block *body = choice.thenBlock();
  body->getOperations().splice(body->begin(), loop.getBody().front().getOperations());
  b.setInsertionPoint(first);
  TurnWaitOp::create(b, loc, ValueRange());
  passTurn(*body);
  sinkIntoBranches(*body);
  b.setInsertionPointToStart(choice.elseBlock());
  TurnWaitOp::create(b, loc, ValueRange());
  TurnPassOp::create(b, loc, ValueRange());
  loop.erase();
  return success();
}
