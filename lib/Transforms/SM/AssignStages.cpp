//===- AssignStages.cpp - Which slot of a channel, in which phase ---------===//
#include "Functions.h"
#include "mkernel/Dialect/SM/SM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

namespace {
/// The cursors of a partition.
class Stages {
public:
  explicit Stages(PartitionOp partition) : partition(partition), b(partition.getContext()) {}

  void run() {
    SmallVector<mk::PutOp> puts;
    partition.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<AcquireOp, SendOp>([&](auto fills) { place(fills, /*parity=*/1); })
          .Case<mk_sm::WaitOp, ReleaseOp, ReceiveOp>([&](auto uses) { place(uses, /*parity=*/0); })
          .Case([&](mk::PutOp put) {
            if (partition.getKind() != PartitionKind::Mover) // it has no slots
              puts.push_back(put);
          })
          .Case([&](SwapPartsOp swap) {
            if (!swap.getCounter())
              swap.getCounterMutable().assign(count(swaps, swap.getLoc(), /*slots=*/1));
          })
          .Case([&](CopyOp copy) {
            if (copy.mayPad() && !copy.getPadding())
              copy.getPaddingMutable().assign(count(padding, copy.getLoc(), /*slots=*/1));
          });
    });
    if (postsTiles(partition))
      partition.walk([&](StoreOp store) {
        if (!store.getPosting())
          store.getPostingMutable().assign(
              count(posting, store.getLoc(), /*slots=*/1, /*parity=*/1));
      });
    llvm::for_each(puts, [&](mk::PutOp put) { wrap(put); });
    if (partition.getTeams() == 1 || cursors.empty())
      return;
    // The team before has waited for all slots up to its place, and releases them itself.
    SmallVector<Value> waits, all;
    for (auto [use, cursor] : cursors) {
      bool isWait = use.second == getName<mk_sm::WaitOp>();
      if (isWait)
        waits.push_back(cursor);
      if (isWait || use.second == getName<ReleaseOp>())
        all.push_back(cursor);
    }
    partition.walk([&](TurnWaitOp op) { op.getCursorsMutable().assign(all); });
    partition.walk([&](TurnPassOp op) { op.getCursorsMutable().assign(waits); });
  }

private:
  template <typename OpT> OperationName getName() {
    return OperationName(OpT::getOperationName(), partition.getContext());
  }

  /// Acquire and wait are ahead of release: each counts by itself.
  template <typename OpT> void place(OpT op, int64_t parity) {
    if (!op.getPlace().empty())
      return;
    Value channel = op->getOperand(0);
    Value &cursor = cursors[{channel, op->getName()}];
    if (!cursor)
      cursor = create(op.getLoc(), channel, /*slots=*/0, parity);
    b.setInsertionPoint(op);
    auto position = PositionOp::create(b, op.getLoc(), cursor);
    op.getPlaceMutable().assign(position.getResults());
    b.setInsertionPointAfter(op);
    AdvanceOp::create(b, op.getLoc(), cursor);
  }

  Value create(Location loc, Value channel, int64_t slots, int64_t parity) {
    if (last)
      b.setInsertionPointAfterValue(last);
    else
      b.setInsertionPointToStart(&partition.getBody().front());
    return last = CursorOp::create(b, loc, channel, slots, parity);
  }

  /// A cursor of slots that the partition has for itself.
  Value count(Value &cursor, Location loc, int64_t slots, int64_t parity = 0) {
    return cursor ? cursor : cursor = create(loc, /*channel=*/Value(), slots, parity);
  }

  /// A store begins with the slot that was loaded first.
  void wrap(mk::PutOp put) {
    if (isa<PipelinePutOp>(put->getParentOp()))
      return;
    int64_t slots = getPutSlots(put).count;
    Value load = count(putLoad, put.getLoc(), slots), store = count(putStore, put.getLoc(), slots);
    b.setInsertionPoint(put);
    auto pipeline = PipelinePutOp::create(b, put.getLoc(), load, store);
    Block &body = pipeline.getBody().emplaceBlock();
    put->moveBefore(&body, body.end());
  }

  PartitionOp partition;
  OpBuilder b;
  llvm::MapVector<std::pair<Value, OperationName>, Value> cursors;
  Value putLoad, putStore, padding, posting, swaps;
  Value last; // of these
};
} // namespace

void mk_sm::assignStages(PartitionOp partition) { Stages(partition).run(); }
