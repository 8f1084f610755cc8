//===- LowerLoops.cpp - Iteration on the host target ----------------------===//
#include "HostLowering.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Analysis/Resources.h"

using namespace mlir;
using namespace mlir::mk;

void HostLowering::spliceBody(Block &body, ValueRange replacements) {
  for (auto [arg, value] : llvm::zip(body.getArguments(), replacements))
    arg.replaceAllUsesWith(value);
  Block *target = b_.getInsertionBlock();
  target->getOperations().splice(b_.getInsertionPoint(), body.getOperations());
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

SmallVector<Value> HostLowering::itemAt(Value t, ArrayRef<Value> bounds,
                                        OrderAttr order, ValueRange own) {
  unsigned rank = bounds.size();
  SmallVector<Value> indices(rank);
  // Row-major over dimensions [first, rank).
  auto delinearise = [&](Value linear, unsigned first) {
    for (unsigned d = rank; d-- > first + 1;) {
      indices[d] = rem(linear, bounds[d]);
      linear = div(linear, bounds[d]);
    }
    indices[first] = linear;
  };
  if (order && order.getRaster()) {
    // Groups of rows of dimension 0 are walked along dimension 1.
    Value inner = index(1);
    for (unsigned d = 2; d < rank; ++d)
      inner = mul(inner, bounds[d]);
    Value rest = rem(t, inner), tile = div(t, inner);
    Value rows = index(order.getRaster());
    Value perGroup = mul(rows, bounds[1]);
    Value first = mul(div(tile, perGroup), rows);
    Value inGroup = min(sub(bounds[0], first), rows);
    Value r = rem(tile, perGroup);
    indices[0] = add(first, rem(r, inGroup));
    indices[1] = div(r, inGroup);
    for (unsigned d = rank; d-- > 2;) {
      indices[d] = rem(rest, bounds[d]);
      rest = div(rest, bounds[d]);
    }
  } else if (order && order.getLongestFirst() && rank > 1) {
    // The last dimension descends and is the slowest.
    Value others = index(1);
    for (unsigned d = 0; d + 1 < rank; ++d)
      others = mul(others, bounds[d]);
    Value last = div(t, others), linear = rem(t, others);
    indices[rank - 1] = sub(sub(bounds[rank - 1], index(1)), last);
    for (unsigned d = 0; d + 1 < rank; ++d) {
      indices[d] = rem(linear, bounds[d]);
      linear = div(linear, bounds[d]);
    }
  } else if (order && order.getLongestFirst()) {
    indices[0] = sub(sub(bounds[0], index(1)), t);
  } else {
    delinearise(t, 0);
  }
  if (!order)
    return indices;

  Value p = indices[0];
  if (order.getStagger())
    p = rem(add(add(p, getRank()), index(1)), bounds[0]);
  if (order.getOwn() != OwnPlace::Any) {
    Value first = clamp(own[0], bounds[0]);
    Value count = clamp(own[1], sub(bounds[0], first));
    Value others = sub(bounds[0], count);
    auto other = [&](Value q) {
      return select(cmp(arith::CmpIPredicate::slt, q, first), q, add(q, count));
    };
    auto mine = [&](Value q) { return add(first, q); };
    auto ordered = [&](Value position, Value ownBefore, Value otherBefore,
                       bool ownFirst) {
      // Own items from ownBefore on and others from otherBefore on.
      Value leading = ownFirst ? sub(count, ownBefore) : sub(others, otherBefore);
      Value isLeading = cmp(arith::CmpIPredicate::slt, position, leading);
      Value behind = sub(position, leading);
      if (ownFirst)
        return select(isLeading, mine(add(ownBefore, position)),
                      other(add(otherBefore, behind)));
      return select(isLeading, other(add(otherBefore, position)),
                    mine(add(ownBefore, behind)));
    };
    if (order.getOwn() != OwnPlace::Spread) {
      p = ordered(p, index(0), index(0), order.getOwn() == OwnPlace::First);
    } else {
      // One own item after every n others while both last.
      Value n = index(order.getSpread());
      Value period = index(order.getSpread() + 1);
      Value groups = min(count, div(others, n));
      Value group = div(p, period), place = rem(p, period);
      Value isOwn = cmp(arith::CmpIPredicate::eq, place, n);
      Value spread =
          select(isOwn, mine(group), other(add(mul(group, n), place)));
      Value behind = sub(p, mul(groups, period));
      Value tail = ordered(behind, groups, mul(groups, n), /*ownFirst=*/false);
      p = select(cmp(arith::CmpIPredicate::slt, behind, index(0)), spread, tail);
    }
  }
  indices[0] = p;
  return indices;
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

void HostLowering::reportItem(Operation *op, ArrayRef<Value> indices) {
  auto it = numbers.find(op);
  if (it == numbers.end())
    return;
  SmallVector<Value> operands = {getCta(), i32(it->second)};
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back(i < indices.size() ? toI64(indices[i]) : i64(-1));
  call("mkrt_item", operands);
}

void HostLowering::distribute(Operation *op, Value total, ScheduleKind schedule,
                              function_ref<void(Value)> body) {
  if (schedule == ScheduleKind::Static) {
    Value first = toIndex(
        loadField(getCta(), offsetof(mk_cta, index), b_.getI32Type()));
    Value step = toIndex(
        loadField(getCta(), offsetof(mk_cta, count), b_.getI32Type()));
    auto loop = scf::ForOp::create(b_, loc_, first, total, step);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
    return;
  }
  Value number = i32(numbers.lookup(op));
  Location loc = loc_;
  scf::WhileOp::create(
      b_, loc_, TypeRange{b_.getIndexType()}, ValueRange{},
      [&](OpBuilder &, Location, ValueRange) {
        OpBuilder::InsertionGuard guard(b_);
        Value ticket = toIndex(
            call("mkrt_ticket", {getCta(), number}, b_.getI64Type()).front());
        Value more = cmp(arith::CmpIPredicate::slt, ticket, total);
        scf::ConditionOp::create(b_, loc, more, ticket);
      },
      [&](OpBuilder &, Location, ValueRange args) {
        scf::YieldOp::create(b_, loc);
        OpBuilder::InsertionGuard guard(b_);
        b_.setInsertionPoint(b_.getInsertionBlock()->getTerminator());
        body(args.front());
      });
}

LogicalResult HostLowering::lowerForeach(ForeachOp op) {
  if (op.getScheduleKind() == ScheduleKind::StreamK)
    return op.emitOpError() << "with schedule stream_k cannot be lowered for the "
                               "host target yet; use schedule(ticket)";
  SmallVector<Value> bounds;
  Value total = index(1);
  for (Value bound : op.getBounds()) {
    bounds.push_back(arith::MaxSIOp::create(b_, loc_, bound, index(0)));
    total = mul(total, bounds.back());
  }
  OrderAttr order = op.getOrderAttr();
  auto body = [&](Value t) {
    SmallVector<Value> indices = itemAt(t, bounds, order, op.getOwn());
    reportItem(op, indices);
    spliceBody(op.getBody().front(), indices);
  };
  if (isDistributedLoop(op)) {
    bool tickets = op.getScheduleKind() == ScheduleKind::Ticket;
    if (tickets && !numbers.contains(op))
      return op.emitOpError() << "with schedule(ticket) stands in mk.prepare, "
                                 "which has no tickets; use schedule(static)";
    if (tickets && op->getParentOp() != function_)
      return op.emitOpError()
             << "with schedule(ticket) stands inside another op, so that its "
                "tickets would be used up by the first pass; move it to the "
                "role's top level or use schedule(static)";
    distribute(op, total, op.getScheduleKind(), body);
  } else {
    auto loop = scf::ForOp::create(b_, loc_, index(0), total, index(1));
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerForeachItem(ForeachItemOp op) {
  if (op->getParentOp() != function_)
    return op.emitOpError() << "stands inside another op, so that its records "
                               "would be used up by the first pass; move it to "
                               "the role's top level";
  auto type = cast<QueueType>(op.getQueue().getType());
  SmallVector<Value> bounds;
  Value inner = index(1);
  for (Value bound : op.getBounds()) {
    bounds.push_back(arith::MaxSIOp::create(b_, loc_, bound, index(0)));
    inner = mul(inner, bounds.back());
  }
  Value count = arith::MaxSIOp::create(b_, loc_, op.getCount(), index(0));
  Value record = stackArray({}, type.getWidth());
  distribute(op, mul(count, inner), ScheduleKind::Ticket, [&](Value t) {
    Value entry = div(t, inner);
    call("mkrt_pop", {getCta(), number(op.getQueue()), toI64(entry), record});
    SmallVector<Value> indices;
    for (int64_t i = 0; i < type.getWidth(); ++i) {
      Value address = LLVM::GEPOp::create(b_, loc_, pointerType(), b_.getI64Type(),
                                          record, ArrayRef<LLVM::GEPArg>{int32_t(i)});
      indices.push_back(
          toIndex(LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), address)));
    }
    if (!bounds.empty())
      indices.append(itemAt(rem(t, inner), bounds, OrderAttr(), {}));
    reportItem(op, indices);
    spliceBody(op.getBody().front(), indices);
  });
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerForeachPeer(ForeachPeerOp op) {
  SmallVector<unsigned> axes;
  for (Attribute name : op.getAxes())
    axes.push_back(mesh_.findAxis(cast<StringAttr>(name).getValue()));
  // My place among the ranks that differ along these axes only.
  Value me = index(0);
  int64_t count = 1;
  for (unsigned axis : axes) {
    me = add(mul(me, index(getAxisSize(axis))), getCoord(axis));
    count *= getAxisSize(axis);
  }
  int64_t end = op.getIncludingSelf() ? count + 1 : count;
  auto loop = scf::ForOp::create(b_, loc_, index(1), index(end), index(1));
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value place = rem(add(me, loop.getInductionVar()), index(count));
    SmallVector<Value> coords(mesh_.getNumAxes());
    for (unsigned axis : llvm::reverse(axes)) {
      coords[axis] = rem(place, index(getAxisSize(axis)));
      place = div(place, index(getAxisSize(axis)));
    }
    spliceBody(op.getBody().front(), linearRank(coords));
  }
  op.erase();
  return success();
}

LogicalResult HostLowering::lowerFold(FoldOp op) {
  auto loop = scf::ForOp::create(b_, loc_, index(0), op.getCount(), index(1),
                                 op.getInits());
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  {
    OpBuilder::InsertionGuard guard(b_);
    if (op.getInits().empty()) {
      b_.setInsertionPointToStart(loop.getBody());
    } else {
      b_.setInsertionPointToEnd(loop.getBody());
    }
    SmallVector<Value> values(yield.getValues());
    yield.erase();
    spliceBody(op.getBody().front(), loop.getBody()->getArguments());
    if (!op.getInits().empty()) {
      // Values that were block arguments of the old body have been replaced.
      SmallVector<Value> mapped;
      for (Value value : values) {
        auto arg = dyn_cast<BlockArgument>(value);
        mapped.push_back(arg && arg.getOwner() == &op.getBody().front()
                             ? loop.getBody()->getArgument(arg.getArgNumber())
                             : value);
      }
      b_.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b_, loc_, mapped);
    }
  }
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
  return success();
}
