//===- LowerLoops.cpp - Iteration on the host target ----------------------===//
#include "HostLowering.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Transforms/ItemOrder.h"

using namespace mlir;
using namespace mlir::mk;

void HostLowering::spliceBody(Block &body, ValueRange replacements) {
  for (auto [arg, value] : llvm::zip(body.getArguments(), replacements))
    arg.replaceAllUsesWith(value);
  Block *target = b_.getInsertionBlock();
  target->getOperations().splice(b_.getInsertionPoint(), body.getOperations());
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
    return op.emitOpError() << "with schedule stream_k is lowered as ordinary loops: "
                               "run mk-expand-stream-k before";
  ItemSpace space{clampBounds(b_, loc_, op.getBounds()), op.getOrderAttr(),
                  SmallVector<Value>(op.getOwn()), getRank()};
  Value total = countItems(b_, loc_, space.bounds);
  auto body = [&](Value t) {
    SmallVector<Value> indices = getItemIndices(b_, loc_, t, space);
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
  ItemSpace space;
  space.bounds = clampBounds(b_, loc_, op.getBounds());
  Value inner = countItems(b_, loc_, space.bounds);
  Value count = arith::MaxSIOp::create(b_, loc_, op.getCount(), index(0));
  Value record = stackArray({}, type.getWidth());
  distribute(op, mul(count, inner), ScheduleKind::Ticket, [&](Value t) {
    Value entry = div(t, inner);
    recordLine(loc_);
    call("mkrt_pop", {getCta(), number(op.getQueue()), toI64(entry), record});
    SmallVector<Value> indices;
    for (int64_t i = 0; i < type.getWidth(); ++i) {
      Value address = LLVM::GEPOp::create(b_, loc_, pointerType(), b_.getI64Type(),
                                          record, ArrayRef<LLVM::GEPArg>{int32_t(i)});
      indices.push_back(
          toIndex(LLVM::LoadOp::create(b_, loc_, b_.getI64Type(), address)));
    }
    if (!space.bounds.empty())
      indices.append(getItemIndices(b_, loc_, rem(t, inner), space));
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
