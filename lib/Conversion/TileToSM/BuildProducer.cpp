//===- BuildProducer.cpp - The partition that loads -----------------------===//
#include "Rebuilder.h"

using namespace mlir;
using namespace mlir::mk_sm;

namespace {
class ProducerBuilder : public Rebuilder {
public:
  using Rebuilder::Rebuilder;

private:
  LogicalResult rebuildLeaf(Operation *op) override {
    if (auto load = dyn_cast<mk::LoadOp>(op))
      stage(load);
    else if (isa<TicketOp, PopOp>(op))
      send(copy(op));
    else if (Operation *fresh = copy(op); plan.sent.contains(op))
      sendNumber(fresh->getResult(0));
    return success();
  }

  /// A slot is taken at the first load of its site and handed over at the last.
  void stage(mk::LoadOp load) {
    StagedTile staged = plan.staged.lookup(load);
    const Site &site = plan.sites[staged.site];
    Value ring = channels.rings[site.ring];
    Location loc = load.getLoc();
    if (load == site.getFirst()) {
      auto type = cast<RingType>(ring.getType());
      slots[staged.site] = AcquireOp::create(b, loc, SlotType::get(b.getContext(), type.getTiles()),
                                             ring, ValueRange());
    }
    Value pad = load.getPad() ? get(load.getPad()) : Value();
    CopyOp::create(b, loc, get(load.getSource()), getAll(load.getOffsets()),
                   getAll(load.getValid()), pad, slots[staged.site], staged.index, /*shared=*/1,
                   /*stride=*/1,
                   /*padding=*/Value(), load.getOnce());
    if (load == site.getLast())
      CommitOp::create(b, loc, ring, slots[staged.site]);
  }

  /// As an index, which is what mailboxes hold.
  void sendNumber(Value number) {
    Location loc = number.getLoc();
    Type type = number.getType();
    if (!type.isIntOrIndex())
      number =
          arith::BitcastOp::create(b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), number);
    if (!type.isIndex())
      number = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
    SendOp::create(b, loc, channels.mailboxes.lookup(1), number, ValueRange());
  }

  void send(Operation *draw) {
    Value mailbox = channels.mailboxes.lookup(draw->getNumResults());
    SendOp::create(b, draw->getLoc(), mailbox, draw->getResults(), ValueRange());
  }

  llvm::DenseMap<unsigned, Value> slots; // by site
};
} // namespace

LogicalResult mk_sm::buildProducer(RolePlan &plan, const Channels &channels, const Slice &slice,
                                   OpBuilder &b) {
  return ProducerBuilder(plan, channels, slice, b).rebuild(plan.getBody());
}
