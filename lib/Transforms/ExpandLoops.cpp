//===- ExpandLoops.cpp - Loops over the items of a CTA --------------------===//
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Support/RowMajor.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mkernel/Transforms/ItemOrder.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mk {
#define GEN_PASS_DEF_EXPANDLOOPSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Expands the loops of one kernel, innermost first.
class LoopExpander : IndexMath {
public:
  LoopExpander(KernelOp kernel, const KernelResources &resources, bool items, bool staticFirst)
      : IndexMath{OpBuilder(kernel), kernel.getLoc()}, kernel(kernel), mesh(kernel.getMeshOp()),
        resources(resources), items(items), staticFirst(staticFirst) {}

  LogicalResult run() {
    SmallVector<Operation *> loops;
    kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isa<ForeachOp, ForeachItemOp, ForeachPeerOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      b.setInsertionPoint(op);
      loc = op->getLoc();
      LogicalResult done = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                               .Case<ForeachOp, ForeachItemOp, ForeachPeerOp>(
                                   [&](auto loop) { return expand(loop); });
      if (failed(done))
        return failure();
    }
    return success();
  }

private:
  LogicalResult expand(ForeachOp op);
  LogicalResult expand(ForeachItemOp op);
  LogicalResult expand(ForeachPeerOp op);

  /// The items of this CTA: calls `body` with the number of each.
  void overOwnItems(Value total, int64_t teams, int64_t parts, function_ref<void(Value)> body);
  void overTickets(Operation *op, Value total, function_ref<void(Value)> body);
  void inOrder(Value total, function_ref<void(Value)> body);
  /// Tickets count on from one execution of a loop to the next, so that a launch may have one.
  LogicalResult checkOnce(Operation *op, StringRef what);

  /// How many teams take the items of the loop in turn.
  FailureOr<int64_t> countTeams(ForeachOp op, bool tickets);
  void markItem(Operation *op, ValueRange indices);
  void splice(Block &body, ValueRange arguments);

  KernelOp kernel;
  MeshOp mesh;
  const KernelResources &resources;
  bool items, staticFirst;
};
} // namespace

/// Moves the ops of a loop's body to the insertion point.
void LoopExpander::splice(Block &body, ValueRange arguments) {
  for (auto [from, to] : llvm::zip(body.getArguments(), arguments))
    from.replaceAllUsesWith(to);
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), body.getOperations());
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

void LoopExpander::markItem(Operation *op, ValueRange indices) {
  if (std::optional<unsigned> number = resources.indexOf(op); items && number)
    mk_sm::AtItemOp::create(b, loc, *number, indices);
}

void LoopExpander::inOrder(Value total, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, index(0), total, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void LoopExpander::overOwnItems(Value total, int64_t teams, int64_t parts,
                                function_ref<void(Value)> body) {
  auto loop = mk_sm::ItemsOp::create(b, loc, total, teams);
  loop.setParts(parts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&loop.getBody().front());
  body(loop.getItem());
}

/// Whether the CTAs of the role begin with the op: nothing in front of it waits, or does more than
/// compute and read.
static bool comesFirst(Operation *op) {
  if (!isa<RoleOp>(op->getParentOp()))
    return false;
  auto harmless = [](Operation &before) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(before);
    return isMemoryEffectFree(&before) || (effects && effects.onlyHasEffect<MemoryEffects::Read>());
  };
  return llvm::all_of(llvm::make_range(op->getBlock()->begin(), op->getIterator()), harmless);
}

/// Items are handed out in order. Where the CTAs of a role begin with the loop, the first ones need
/// no ticket: CTA i has item i, as if all had drawn before anything else, and tickets are for
/// those behind. The loop carries the item that its CTA need not draw, or -1.
void LoopExpander::overTickets(Operation *op, Value total, function_ref<void(Value)> body) {
  bool isStatic = staticFirst && comesFirst(op);
  Value behind, none;
  SmallVector<Value> first;
  if (isStatic) {
    auto role = FlatSymbolRefAttr::get(cast<RoleOp>(op->getParentOp()).getSymNameAttr());
    behind = CtasOfOp::create(b, loc, b.getIndexType(), role);
    first.push_back(mk_sm::InitialItemOp::create(b, loc));
    none = index(-1);
  }
  auto draw = [&](OpBuilder &nested, Location loc) -> Value {
    Value ticket = mk_sm::TicketOp::create(nested, loc, *resources.indexOf(op));
    return isStatic ? arith::AddIOp::create(nested, loc, ticket, behind) : ticket;
  };
  auto drawUnlessStatic = [&](OpBuilder &nested, Location loc, Value item) -> Value {
    Value draws = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq, item, none);
    return scf::IfOp::create(
               nested, loc, draws,
               [&](OpBuilder &nested, Location loc) {
                 scf::YieldOp::create(nested, loc, draw(nested, loc));
               },
               [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, item); })
        .getResult(0);
  };
  scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType()}, first,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value item = isStatic ? drawUnlessStatic(nested, loc, args.front()) : draw(nested, loc);
        Value more = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::slt, item, total);
        scf::ConditionOp::create(nested, loc, more, item);
      },
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        auto yield = scf::YieldOp::create(nested, loc, isStatic ? ValueRange(none) : ValueRange());
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(yield);
        body(args.front());
      });
}

LogicalResult LoopExpander::checkOnce(Operation *op, StringRef what) {
  if (!resources.indexOf(op))
    return op->emitOpError() << what
                             << " stands in mk.prepare, which has no tickets; use schedule(static)";
  Operation *around = op->getParentOp();
  while (isa<scf::IfOp>(around))
    around = around->getParentOp();
  if (!isa<RoleOp>(around))
    return op->emitOpError()
           << what << " stands inside '" << around->getName()
           << "', so that its items would be used up by the first pass; move it to the role's top "
              "level"
           << (isa<ForeachOp>(op) ? " or use schedule(static)" : "");
  return success();
}

FailureOr<int64_t> LoopExpander::countTeams(ForeachOp op, bool tickets) {
  OrderAttr order = op.getOrderAttr();
  if (!order || order.getAlternate() <= 1)
    return 1;
  if (!isa<RoleOp>(op->getParentOp()) || tickets)
    return op.emitOpError()
           << "has order(alternate = " << order.getAlternate() << "), but "
           << (tickets ? "draws its items one by one" : "is no loop of a role over its items")
           << ": use schedule(static) at the role's top level, or leave alternate out";
  return order.getAlternate();
}

LogicalResult LoopExpander::expand(ForeachOp op) {
  if (op.getScheduleKind() == ScheduleKind::StreamK)
    return op.emitOpError()
           << "with schedule stream_k reaches the expansion of loops whole; a pass before it "
              "splits such loops into parts: run it, or use schedule(ticket)";
  // Over nothing, as the other nodes of a mesh that has one.
  if (llvm::any_of(op.getBounds(), [](Value bound) {
        std::optional<int64_t> extent = getConstantIntValue(bound);
        return extent && *extent <= 0;
      })) {
    op.erase();
    return success();
  }
  bool distributed = isDistributedLoop(op);
  bool tickets = distributed && op.getScheduleKind() == ScheduleKind::Ticket;
  FailureOr<int64_t> teams = countTeams(op, tickets);
  if (failed(teams))
    return failure();
  if (tickets && failed(checkOnce(op, "with schedule(ticket)")))
    return failure();
  ItemSpace space;
  space.bounds = clampBounds(b, loc, op.getBounds());
  space.order = op.getOrderAttr();
  space.own.assign(op.getOwn().begin(), op.getOwn().end());
  if (space.order && space.order.getStagger())
    space.rank = RankOp::create(b, loc, b.getIndexType(), ValueRange(), ArrayAttr());
  Value total = countItems(b, loc, space.bounds);
  auto body = [&](Value t) {
    SmallVector<Value> indices = getItemIndices(b, loc, t, space);
    markItem(op, indices);
    splice(op.getBody().front(), indices);
  };
  if (tickets)
    overTickets(op, total, body);
  else if (distributed)
    overOwnItems(total, *teams, op.getSchedule() ? op.getSchedule()->getTogether() : 1, body);
  else
    inOrder(total, body);
  op.erase();
  return success();
}

LogicalResult LoopExpander::expand(ForeachItemOp op) {
  if (failed(checkOnce(op, "over a queue")))
    return failure();
  ItemSpace space;
  space.bounds = clampBounds(b, loc, op.getBounds());
  Value inner = countItems(b, loc, space.bounds);
  Value count = clampBounds(b, loc, op.getCount()).front();
  Value total = mul(count, inner);
  overTickets(op, total, [&](Value t) {
    Value entry = div(t, inner);
    auto pop = mk_sm::PopOp::create(b, loc, op.getQueue(), entry);
    SmallVector<Value> indices(pop.getRecord());
    if (!space.bounds.empty()) {
      Value place = rem(t, inner);
      indices.append(getItemIndices(b, loc, place, space));
    }
    markItem(op, indices);
    splice(op.getBody().front(), indices);
  });
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Loops in order
//===----------------------------------------------------------------------===//

LogicalResult LoopExpander::expand(ForeachPeerOp op) {
  SmallVector<unsigned> axes;
  int64_t count = 1;
  for (auto name : op.getAxes().getAsRange<StringAttr>()) {
    axes.push_back(mesh.findAxis(name.getValue()));
    int64_t size = mesh.getAxis(axes.back()).getSize();
    if (ShapedType::isDynamic(size))
      return op.emitOpError() << "goes along axis '" << name.getValue()
                              << "' of unknown size: bind it (--bind " << name.getValue() << "=N)";
    count *= size;
  }
  auto size = [&](unsigned axis) { return index(mesh.getAxis(axis).getSize()); };
  auto coord = [&](unsigned axis) -> Value {
    return CoordOp::create(b, loc, b.getIndexType(), b.getStringAttr(mesh.getAxis(axis).getName()),
                           Value());
  };
  // My place among the ranks that differ along these axes only.
  Value me = mkernel::numberRowMajor<Value>(
      static_cast<IndexMath &>(*this), axes.size(), [&](unsigned i) { return size(axes[i]); },
      [&](unsigned i) { return coord(axes[i]); });
  Value peer = op.getBody().getArgument(0);
  for (LinkKind kind : {LinkKind::Net, LinkKind::Link})
    if (op.isAlong(mesh, kind))
      for (Operation *user : peer.getUsers())
        if (auto put = dyn_cast<PutOp>(user); put && put.getPeer() == peer)
          put.setVia(kind);
  int64_t others = op.getIncludingSelf() ? count : count - 1;
  inOrder(index(others), [&](Value i) {
    Value behind = add(i, index(1));
    Value place = rem(add(me, behind), index(count));
    SmallVector<Value> coords;
    SmallVector<Attribute> names;
    for (unsigned axis : llvm::reverse(axes)) {
      names.push_back(b.getStringAttr(mesh.getAxis(axis).getName()));
      if (axis == axes.front()) {
        coords.push_back(place);
        break;
      }
      coords.push_back(rem(place, size(axis)));
      place = div(place, size(axis));
    }
    Value peer = RankOp::create(b, loc, b.getIndexType(), coords, b.getArrayAttr(names));
    splice(op.getBody().front(), peer);
  });
  op.erase();
  return success();
}

namespace {
struct ExpandLoopsPass : mk::impl::ExpandLoopsPassBase<ExpandLoopsPass> {
  using ExpandLoopsPassBase::ExpandLoopsPassBase;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(LoopExpander(kernel, getChildAnalysis<KernelResources>(kernel), items, staticFirst)
                     .run()))
        return signalPassFailure();
  }
};
} // namespace
