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
    else if (auto forward = dyn_cast<ForwardOp>(op))
      send(forward);
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
    if (!site.parts.empty())
      return stageParts(load, site);
    if (llvm::is_contained(site.rereads, load))
      return;
    Value ring = channels.rings[site.ring];
    Location loc = load.getLoc();
    if (load == site.getFirst()) {
      auto type = cast<RingType>(ring.getType());
      slots[staged.site] = AcquireOp::create(b, loc, SlotType::get(b.getContext(), type.getTiles()),
                                             ring, ValueRange());
    }
    fill(load, slots[staged.site], staged.index, getAll(load.getOffsets()),
         getAll(load.getValid()));
    if (load == site.getLast())
      CommitOp::create(b, loc, ring, slots[staged.site]);
  }

  void fill(mk::LoadOp load, Value slot, int64_t index, ValueRange offsets, ValueRange valid) {
    Value pad = load.getPad() ? get(load.getPad()) : Value();
    Value rows = load.getRows() ? get(load.getRows()) : Value();
    Value rowsAt = rows ? get(load.getRowsAt()) : Value();
    CopyOp::create(b, load.getLoc(), get(load.getSource()), offsets, rows, rowsAt, valid, pad, slot,
                   index,
                   /*shared=*/1, /*stride=*/1, /*padding=*/Value(), load.getOnce(),
                   /*selected=*/false, load.getUnseenAttr());
  }

  /// A part of the tile's columns in each slot.
  void stageParts(mk::LoadOp load, const Site &site) {
    Value ring = channels.rings[site.ring];
    Location loc = load.getLoc();
    int64_t first = 0;
    for (RankedTensorType part : site.parts) {
      Value slot = AcquireOp::create(b, loc, SlotType::get(b.getContext(), {Type(part)}), ring,
                                     ValueRange());
      SmallVector<Value> offsets = getAll(load.getOffsets()), valid = getAll(load.getValid());
      Value skipped = arith::ConstantIndexOp::create(b, loc, first);
      offsets.back() = b.createOrFold<arith::AddIOp>(loc, offsets.back(), skipped);
      if (!valid.empty())
        valid.back() = b.createOrFold<arith::SubIOp>(loc, valid.back(), skipped);
      fill(load, slot, 0, offsets, valid);
      CommitOp::create(b, loc, ring, slot);
      first += part.getDimSize(1);
    }
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

  void send(ForwardOp forward) {
    SmallVector<Value> scalars = getAll(forward.getScalars());
    mapping.map(forward.getResults(), scalars);
    if (plan.sent.contains(forward))
      SendOp::create(b, forward.getLoc(), channels.mailboxes.lookup(scalars.size()), scalars,
                     ValueRange());
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
