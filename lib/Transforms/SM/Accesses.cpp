//===- Accesses.cpp - Which memory accesses of a CTA meet -----------------===//
#include "Accesses.h"
#include "ItemPlaces.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk_sm;

int64_t Access::getExtent(size_t dim) const {
  if (!tile)
    return 1;
  auto load = dyn_cast<mk::LoadOp>(op);
  ArrayRef<int64_t> shape = tile.getShape().drop_front(load && load.getSpread() ? 1 : 0);
  size_t outer = offsets.size() - shape.size();
  return dim < outer ? 1 : shape[dim - outer];
}

Access mk_sm::getListAccess(mk::KernelOp kernel, mk::LoadOp load) {
  return Access{load,
                load.getRows(),
                mk::getPossibleArgs(kernel, load.getRows()),
                load.getRowsAtMutable(),
                {}};
}

/// Whether a rank is another one than the own rank: that of a loop over peers.
static bool isNeverOwn(Value peer) {
  auto index = dyn_cast_or_null<BlockArgument>(peer);
  auto loop =
      index ? dyn_cast<mk::ForeachPeerOp>(index.getOwner()->getParentOp()) : mk::ForeachPeerOp();
  return loop && !loop.getIncludingSelf();
}

std::optional<Access> mk_sm::getAccess(mk::KernelOp kernel, Operation *op) {
  auto make = [&](Value buffer, OperandRange offsets, Type tile) {
    return Access{op, buffer, mk::getPossibleArgs(kernel, buffer), offsets,
                  dyn_cast_or_null<RankedTensorType>(tile)};
  };
  if (auto load = dyn_cast<mk::LoadOp>(op))
    return make(load.getSource(), load.getOffsets(), load.getType());
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return make(load.getMemRef(), load.getIndices(), {});
  std::optional<Access> access;
  if (auto store = dyn_cast<mk::StoreOp>(op)) {
    access = make(store.getDest(), store.getOffsets(), store.getTile().getType());
    access->adds = store.getReduction().has_value();
    access->isRemote = store.getPeer() != nullptr;
    if (isNeverOwn(store.getPeer()))
      return std::nullopt;
  } else if (auto store = dyn_cast<mk_sm::StoreOp>(op)) {
    access = make(store.getDest(), store.getOffsets(), store.getTile().getType());
    access->adds = store.getAdd();
    access->isRemote = store.getPeer() != nullptr;
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    access = make(store.getMemRef(), store.getIndices(), {});
  }
  if (access)
    access->writes = true;
  return access;
}

bool mk_sm::shareMemory(const Access &first, const Access &second) {
  return llvm::any_of(first.args,
                      [&](unsigned arg) { return llvm::is_contained(second.args, arg); });
}

bool mk_sm::areSamePlace(const Access &first, const Access &second) {
  auto load = dyn_cast<mk::LoadOp>(first.op);
  return !first.loop && !(load && (load.getRows() || load.getSpread())) && first.tile &&
         second.tile && first.tile.getShape() == second.tile.getShape() &&
         first.buffer == second.buffer && first.offsets == second.offsets;
}

bool mk_sm::areAligned(const Access &first, const Access &second) {
  // A number of each column of accumulators is in several warps.
  auto slice = first.tile ? dyn_cast_or_null<SliceAttr>(first.tile.getEncoding()) : SliceAttr();
  if (slice && slice.getAxis() == 0)
    return false;
  return areSamePlace(first, second) && first.tile == second.tile && !first.isByEngine() &&
         !(first.writes && second.isByEngine());
}

/// What an index of a loop goes on by in each iteration; nothing for other loops.
static std::optional<std::pair<Value, int64_t>> getStep(Operation *loop) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    if (std::optional<int64_t> step = getConstantIntValue(counted.getStep()))
      return std::pair(Value(counted.getInductionVar()), *step);
  if (auto items = dyn_cast<mk::ForeachOp>(loop); items && items.getBody().getNumArguments() == 1 &&
                                                  !items.getOrderAttr() && items.getOwn().empty())
    return std::pair(Value(items.getBody().getArgument(0)), int64_t(1));
  return std::nullopt;
}

/// Whether two accesses of different items have no element in common, whichever item is the later
/// one.
static bool areApartInItems(const Access &first, const Access &second, mk::ForeachOp items) {
  ItemPlaces places(items);
  for (auto [d, pair] : llvm::enumerate(llvm::zip(first.offsets, second.offsets)))
    places.add(std::get<0>(pair), std::get<1>(pair), first.getExtent(d), second.getExtent(d));
  // Only items for which this is true come to both.
  for (auto branch = second.op->getParentOfType<scf::IfOp>(); branch && items->isAncestor(branch);
       branch = branch->getParentOfType<scf::IfOp>()) {
    auto equal = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    if (equal && equal.getPredicate() == arith::CmpIPredicate::eq &&
        getConstantIntValue(equal.getRhs()) &&
        branch.getThenRegion().isAncestor(first.op->getParentRegion()) &&
        branch.getThenRegion().isAncestor(second.op->getParentRegion()))
      places.add(equal.getLhs(), equal.getLhs(), /*before=*/1, /*behind=*/1);
  }
  return places.areApart();
}

bool mk_sm::areApart(const Access &first, const Access &second) {
  auto load = dyn_cast<mk::LoadOp>(first.op);
  if (first.buffer != second.buffer || (load && load.getRows()))
    return false;
  std::optional<std::pair<Value, int64_t>> step;
  if (auto items = dyn_cast_or_null<mk::ForeachOp>(first.loop);
      items && areApartInItems(first, second, items))
    return true;
  if (first.loop && !(step = getStep(first.loop)))
    return false;
  for (auto [d, pair] : llvm::enumerate(llvm::zip(first.offsets, second.offsets))) {
    LinearForm from(std::get<0>(pair)), to(std::get<1>(pair));
    std::optional<int64_t> distance = to.minus(from);
    if (!distance)
      continue;
    int64_t before = first.getExtent(d), behind = second.getExtent(d);
    if (!first.loop) {
      if (*distance >= before || -*distance >= behind)
        return true;
      continue;
    }
    // The second one is one iteration later, or several.
    auto [index, by] = *step;
    auto varies = [&, index = index](auto &term) {
      return term.first != index &&
             first.loop->getRegion(0).isAncestor(term.first.getParentRegion());
    };
    if (llvm::any_of(to.terms, varies))
      continue;
    auto it = to.terms.find(index);
    int64_t move = it == to.terms.end() ? 0 : it->second * by;
    if ((move >= 0 && move + *distance >= before) || (move <= 0 && -(move + *distance) >= behind))
      return true;
  }
  return false;
}
