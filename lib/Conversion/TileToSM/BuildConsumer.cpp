//===- BuildConsumer.cpp - The partition that computes --------------------===//
#include "Rebuilder.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Says that elements change threads.
static Value noteConversion(ConvertLayoutOp convert, StringRef role) {
  remark::analysis(convert.getLoc(), describeRemark(kSplitRoles, role))
      << remark::add("moves elements between threads, from {0} to {1}",
                     convert.getSource().getType(), convert.getType());
  return convert;
}

namespace {
class ConsumerBuilder : public Rebuilder {
public:
  ConsumerBuilder(RolePlan &plan, const Channels &channels, const Slice &slice, OpBuilder &b)
      : Rebuilder(plan, channels, slice, b) {
    for (auto [i, site] : llvm::enumerate(plan.sites)) {
      waits[site.waitBefore].push_back(i);
      releases[site.releaseBehind].push_back(i);
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Layouts
  //===--------------------------------------------------------------------===//

  RankedTensorType fragmentType(Value tile, Attribute layout) {
    return withLayout(cast<RankedTensorType>(tile.getType()), layout);
  }

  Type getType(Value value) override {
    return isTile(value) ? fragmentType(value, plan.getLayout(value)) : value.getType();
  }

  using Rebuilder::get;
  Value get(Value value, Value like) override {
    return isTile(value) ? getAs(value, plan.getLayout(like)) : get(value);
  }

  /// The fragment with this layout.
  Value getAs(Value tile, Attribute layout) {
    if (!isLayoutFree(tile)) {
      Value fragment = get(tile);
      if (getLayout(fragment.getType()) == layout)
        return fragment;
      return noteConversion(
          ConvertLayoutOp::create(b, tile.getLoc(), fragmentType(tile, layout), fragment),
          plan.getName());
    }
    RankedTensorType type = fragmentType(tile, layout);
    if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
      return tensor::SplatOp::create(b, tile.getLoc(), type, get(splat.getInput()), ValueRange());
    auto value = cast<DenseElementsAttr>(tile.getDefiningOp<arith::ConstantOp>().getValue());
    auto attr = value.isSplat() ? DenseElementsAttr::get(type, value.getSplatValue<Attribute>())
                                : DenseElementsAttr::getFromRawBuffer(type, value.getRawData());
    return arith::ConstantOp::create(b, tile.getLoc(), type, attr);
  }
  /// The fragment with the layout that the tile has anyway.
  Value getTile(Value tile) { return getAs(tile, plan.getLayout(tile)); }

  /// The copy of `from` is a fragment of another layout than planned.
  void mapConverted(Value from, Value to) {
    Attribute layout = plan.getLayout(from);
    if (getLayout(to.getType()) != layout)
      to = noteConversion(ConvertLayoutOp::create(b, from.getLoc(), fragmentType(from, layout), to),
                          plan.getName());
    mapping.map(from, to);
  }

  //===--------------------------------------------------------------------===//
  // Rings
  //===--------------------------------------------------------------------===//

  void enter(Operation *op) override {
    for (unsigned i : waits.lookup(op)) {
      const Site &site = plan.sites[i];
      if (!site.parts.empty()) {
        readParts(site);
        continue;
      }
      Value ring = channels.rings[site.ring];
      auto type = cast<RingType>(ring.getType());
      Location loc = site.getFirst().getLoc();
      Value slot = mk_sm::WaitOp::create(b, loc, SlotType::get(b.getContext(), type.getTiles()),
                                         ring, ValueRange());
      for (mk::LoadOp load : llvm::concat<const mk::LoadOp>(site.loads, site.rereads)) {
        auto type = cast<RankedTensorType>(load.getType());
        const StagedTile *place = plan.getStaged(load);
        Value tile = TileOp::create(b, load.getLoc(), StagedType::get(b.getContext(), type), slot,
                                    place->index);
        if (place->isRead)
          tile = ReadOp::create(b, load.getLoc(), getType(load), tile);
        mapping.map(load.getResult(), tile);
      }
    }
  }

  /// The tile as a fragment: its layout is that of accumulators.
  void readParts(const Site &site) {
    mk::LoadOp load = site.getFirst();
    SmallVector<Value> tiles;
    for (RankedTensorType part : site.parts) {
      Value slot =
          mk_sm::WaitOp::create(b, load.getLoc(), SlotType::get(b.getContext(), {Type(part)}),
                                channels.rings[site.ring], ValueRange());
      tiles.push_back(
          TileOp::create(b, load.getLoc(), StagedType::get(b.getContext(), part), slot, 0));
    }
    mapping.map(load.getResult(), ReadOp::create(b, load.getLoc(), getType(load), tiles));
  }

  void leave(Operation *op) override {
    for (unsigned i : releases.lookup(op)) {
      const Site &site = plan.sites[i];
      bool isRead = !site.parts.empty() || !site.rereads.empty() ||
                    llvm::any_of(site.loads, [&](mk::LoadOp load) {
                      return plan.getStaged(load)->isRead &&
                             cast<RankedTensorType>(load.getType()).getRank() == 2;
                    });
      for (size_t slot = 0, n = std::max<size_t>(site.parts.size(), 1); slot != n; ++slot)
        ReleaseOp::create(b, op->getLoc(), channels.rings[site.ring], ValueRange(),
                          /*read=*/isRead && !slot);
    }
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult rebuildLeaf(Operation *op) override {
    if (auto forward = dyn_cast<ForwardOp>(op)) {
      if (plan.sent.contains(op))
        receive(op);
      else // the producer has none of its loop
        mapping.map(forward.getResults(), getAll(forward.getScalars()));
      return success();
    }
    if (plan.sent.contains(op)) {
      receiveNumber(op->getResult(0));
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<mk::LoadOp, mk::StoreOp, mk::DotOp, mk::ReduceOp, mk::BroadcastOp, mk::TransposeOp,
              mk::SignalOp, mk::PutOp, SwapPartsOp>([&](auto concrete) {
          rebuildOp(concrete);
          return success();
        })
        .Case<TicketOp, PopOp>([&](Operation *draw) {
          if (channels.mailboxes.lookup(draw->getNumResults()))
            receive(draw);
          else // there is no producer
            copy(draw);
          return success();
        })
        .Default([&](Operation *other) { return rebuildOther(other); });
  }

  void receiveNumber(Value number) {
    Location loc = number.getLoc();
    Type type = number.getType();
    Value value =
        ReceiveOp::create(b, loc, channels.mailboxes.lookup(1), ValueRange()).getValues().front();
    Type bits = type.isIntOrIndex() ? type : b.getIntegerType(type.getIntOrFloatBitWidth());
    if (!bits.isIndex())
      value = arith::IndexCastOp::create(b, loc, bits, value);
    if (bits != type)
      value = arith::BitcastOp::create(b, loc, type, value);
    mapping.map(number, value);
  }

  void receive(Operation *draw) {
    Value mailbox = channels.mailboxes.lookup(draw->getNumResults());
    auto values = ReceiveOp::create(b, draw->getLoc(), mailbox, ValueRange());
    mapping.map(draw->getResults(), values.getResults());
  }

  void rebuildOp(mk::LoadOp op) {
    if (!plan.getStaged(op))
      copy(op)->getResult(0).setType(getType(op));
  }

  /// The transposed fragment, in the layout in which no element moves.
  Value transpose(Value fragment) {
    auto type = cast<RankedTensorType>(fragment.getType());
    auto turned =
        RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType(),
                              getTransposedLayout(type.getEncoding()));
    return mk::TransposeOp::create(b, fragment.getLoc(), turned, fragment);
  }

  void rebuildOp(mk::TransposeOp op) {
    Attribute layout = plan.getLayout(op);
    Value source = getTile(op.getSource());
    auto from = cast<RankedTensorType>(source.getType());
    auto fresh = cast<mk::TransposeOp>(copy(op));
    fresh.getSourceMutable().assign(source);
    fresh.getResult().setType(fragmentType(op, layout));
    if (!isThreadLocal(fresh))
      remark::analysis(op.getLoc(), describeRemark(kSplitRoles, plan.getName())) << remark::add(
          "moves elements between threads, from {0} to {1}", from, fragmentType(op, layout));
  }

  void rebuildOp(mk::ReduceOp op) {
    Value source = getTile(op.getSource());
    // Along the other dimension of what the threads hold.
    if (isa<TransposedAttr>(getLayout(source.getType()))) {
      int64_t axis = 1 - int64_t(op.getAxis());
      source = transpose(source);
      Attribute layout = getSliceLayout(getLayout(source.getType()), {axis});
      Value result = mk::ReduceOp::create(b, op.getLoc(), fragmentType(op, layout), op.getKind(),
                                          source, axis);
      return mapConverted(op, result);
    }
    // Of slices there is no slice: dealt out anew.
    if (isa<SliceAttr>(getLayout(source.getType()))) {
      auto type = cast<RankedTensorType>(op.getSource().getType());
      source = getAs(op.getSource(), getBlockedLayout(plan, type, type.getElementTypeBitWidth()));
    }
    Operation *fresh = copy(op);
    fresh->setOperand(0, source);
    Attribute layout = getLayout(source.getType());
    // What is dealt out anew goes where it is wanted.
    layout = isa<BlockedAttr>(layout) ? plan.getLayout(op)
                                      : getSliceLayout(layout, {int64_t(op.getAxis())});
    fresh->getResult(0).setType(fragmentType(op, layout));
    mapConverted(op, fresh->getResult(0));
  }

  void rebuildOp(mk::BroadcastOp op) {
    Attribute layout = plan.getLayout(op);
    if (auto transposed = dyn_cast<TransposedAttr>(layout);
        transposed && op.getDims().size() == 1) {
      int64_t dim = 1 - op.getDims()[0];
      Value source = getAs(op.getSource(), getSliceLayout(transposed.getOf(), {dim}));
      auto type = cast<RankedTensorType>(op.getType());
      auto turned = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                                          type.getElementType(), transposed.getOf());
      Value spread =
          mk::BroadcastOp::create(b, op.getLoc(), turned, source, b.getDenseI64ArrayAttr({dim}));
      mapping.map(op, transpose(spread));
      return;
    }
    Value source = isa<BlockedAttr>(layout) && !isLayoutFree(op.getSource())
                       ? getTile(op.getSource())
                       : getAs(op.getSource(), getSliceLayout(layout, op.getDims()));
    Operation *fresh = copy(op);
    fresh->setOperand(0, source);
    fresh->getResult(0).setType(getType(op));
  }

  void rebuildOp(mk::SignalOp op) {
    auto fresh = cast<mk::SignalOp>(copy(op));
    if (mk::getKernel(op).getMeshOp().getNumRanks() == 1)
      fresh.getPeerMutable().clear();
  }

  void rebuildOp(mk::PutOp op) {
    Value rows = op.getRows() ? getTile(op.getRows()) : Value();
    auto fresh = cast<mk::PutOp>(copy(op));
    if (rows)
      fresh.getRowsMutable().assign(rows);
  }

  void rebuildOp(SwapPartsOp op) {
    Value tile = getTile(op.getTile());
    auto fresh = cast<SwapPartsOp>(copy(op));
    fresh.getTileMutable().assign(tile);
    for (auto [from, to] : llvm::zip_equal(op.getParts(), fresh.getParts()))
      to.setType(getType(from));
  }

  void rebuildOp(mk::StoreOp op);
  void rebuildOp(mk::DotOp op);
  LogicalResult rebuildOther(Operation *op);
  Value multiply(mk::DotOp op, Value lhs, Value acc, bool needsFence);

  llvm::DenseMap<Operation *, SmallVector<unsigned>> waits, releases; // sites
};
} // namespace

void ConsumerBuilder::rebuildOp(mk::StoreOp op) {
  Value tile = getTile(op.getTile());
  auto fresh = cast<mk::StoreOp>(copy(op));
  fresh.getTileMutable().assign(tile);
  if (op.getPeer() && mk::getKernel(op).getMeshOp().getNumRanks() != 1)
    return;
  // It stays on this rank: a signal of the rank's own releases what was stored before it.
  fresh.getPeerMutable().clear();
  if (!op.getSignal())
    return;
  fresh.getSignalMutable().clear();
  fresh.getSignalIndexMutable().clear();
  fresh.setStrong(false);
  mk::SignalOp::create(b, op.getLoc(), op.getSignal(), getAll(op.getSignalIndex()), Value(),
                       /*amount=*/1, op.getStrong());
}

/// One matrix op, complete when it returns.
Value ConsumerBuilder::multiply(mk::DotOp op, Value lhs, Value acc, bool needsFence) {
  Location loc = op.getLoc();
  bool inRegisters = isTile(lhs);
  SmallVector<Value> touched;
  if (inRegisters)
    touched.push_back(lhs);
  if (needsFence)
    touched.push_back(acc);
  auto fence = MmaFenceOp::create(b, loc, touched);
  if (inRegisters)
    lhs = fence.getResults().front();
  if (needsFence)
    acc = fence.getResults().back();
  auto mma = MmaOp::create(b, loc, acc.getType(), lhs, get(op.getRhs()), acc, Value(),
                           op.getTransposeA(), op.getTransposeB());
  auto wait = MmaWaitOp::create(b, loc, /*pending=*/0, mma.getResult());
  return wait.getResults().front();
}

void ConsumerBuilder::rebuildOp(mk::DotOp op) {
  Attribute layout = plan.getLayout(op);
  Value acc = getAs(op.getAcc(), layout);
  Value lhs = plan.getStaged(op.getLhs()) ? get(op.getLhs()) : getAs(op.getLhs(), layout);
  if (!isSummedApart(op)) {
    bool fromZero = matchPattern(op.getAcc(), m_AnyZeroFloat());
    mapping.map(op.getResult(), multiply(op, lhs, acc, !fromZero));
    return;
  }
  auto accType = cast<RankedTensorType>(acc.getType());
  Value zero = arith::ConstantOp::create(b, op.getLoc(), accType,
                                         DenseElementsAttr::get(accType, b.getF32FloatAttr(0.0)));
  Value part = multiply(op, lhs, zero, /*needsFence=*/false);
  mapping.map(op.getResult(), arith::AddFOp::create(b, op.getLoc(), acc, part).getResult());
}

/// Scalars are copied; of tiles, ops that have the same layout on both sides.
LogicalResult ConsumerBuilder::rebuildOther(Operation *op) {
  // Made where they are used.
  if (op->getNumResults() == 1 && isTile(op->getResult(0)) && isLayoutFree(op->getResult(0)))
    return success();
  auto isTileValue = [](Value value) { return isTile(value); };
  if (llvm::none_of(op->getOperands(), isTileValue) &&
      llvm::none_of(op->getResults(), isTileValue)) {
    copy(op);
    return success();
  }
  if (isa<tensor::ExtractOp>(op))
    return op->emitOpError() << "takes one element of a tile, which for "
                             << mk::getSmTarget(op).getName()
                             << " lies in some other thread: read it from memory by memref.load";
  bool known = isa<mk::MaskOp, mk::IotaOp>(op) || OpTrait::hasElementwiseMappableTraits(op);
  if (!known || !llvm::all_of(op->getResults(), isTileValue))
    return op->emitOpError()
           << "works on tiles, but has no lowering for " << mk::getSmTarget(op).getName()
           << ": use mk ops, elementwise arith and math, and constants (docs/targets.md)";
  Attribute layout = plan.getLayout(op->getResult(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isTile(operand) ? getAs(operand, layout) : get(operand));
  Operation *fresh = copy(op);
  fresh->setOperands(operands);
  for (auto [from, to] : llvm::zip(op->getResults(), fresh->getResults()))
    to.setType(getType(from));
  return success();
}

LogicalResult mk_sm::buildConsumer(RolePlan &plan, const Channels &channels, const Slice &slice,
                                   OpBuilder &b) {
  return ConsumerBuilder(plan, channels, slice, b).rebuild(plan.getBody());
}
