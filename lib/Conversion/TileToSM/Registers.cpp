//===- Registers.cpp - Whether the tiles of a role fit --------------------===//
#include "RolePlan.h"
#include "TiedExtents.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/OnlyStores.h"
#include "mkernel/Analysis/Spread.h"
#include "mkernel/Support/Counted.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Registers of 32 bits in which a thread holds its part of a tile of this shape.
static int64_t countRegisters(const RolePlan &plan, Value tile, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tile.getType());
  // What accumulators have of each row or column is there once.
  if (isa<MmaAttr>(plan.getLayout(tile)) && !isLayoutFree(tile) && mk::isSpread(tile))
    return 0;
  auto fragment = RankedTensorType::get(shape, type.getElementType(), plan.getLayout(tile));
  int64_t bits = std::max<int64_t>(type.getElementTypeBitWidth(), 8);
  return llvm::divideCeil(std::max<int64_t>(getNumElements(fragment), 0) * bits, 32);
}

static int64_t countRegisters(const RolePlan &plan, Value tile) {
  return countRegisters(plan, tile, cast<RankedTensorType>(tile.getType()).getShape());
}

/// Whether `tile` is held while `op`, which stands in its block or deeper, is executed:
/// something that uses it may come behind, in this iteration or a later one.
static bool isHeldOver(Value tile, Operation *op) {
  Block *scope = tile.getParentBlock();
  Operation *ancestor = scope->findAncestorOpInBlock(*op);
  if (!ancestor || (tile.getDefiningOp() && !tile.getDefiningOp()->isBeforeInBlock(ancestor)))
    return false;
  return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
    // The innermost block that holds both.
    Block *block = op->getBlock();
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    for (; !user; user = block->findAncestorOpInBlock(*use.getOwner()))
      block = block->getParentOp()->getBlock();
    Operation *in = block->findAncestorOpInBlock(*op);
    if (in->isBeforeInBlock(user))
      return true;
    // The regions of a loop follow each other, one branch of two is taken.
    if (user == in && user != use.getOwner() && isa<LoopLikeOpInterface>(in))
      return true;
    for (; block != scope; block = block->getParentOp()->getBlock())
      if (isa<LoopLikeOpInterface>(block->getParentOp()))
        return true;
    return false;
  });
}

/// Whether the tile is read out of a slot behind the only dot of its block, wherever the slot is
/// waited for (mk-sm-advance-loads).
static bool isReadBehind(const RolePlan &plan, Value tile, mk::DotOp dot) {
  const StagedTile *place = plan.getStaged(tile);
  Block *block = dot->getBlock();
  return place && place->isRead && tile.getParentBlock() == block &&
         llvm::hasSingleElement(block->getOps<mk::DotOp>()) &&
         llvm::none_of(tile.getUsers(), [&](Operation *user) {
           Operation *in = block->findAncestorOpInBlock(*user);
           return in == dot || in->isBeforeInBlock(dot);
         });
}

/// Registers that one instruction of a product takes at least, and those with which threads
/// begin, before they are given more: no product is assembled that needs more.
static std::pair<int64_t, int64_t> countInstruction(const RolePlan &plan, mk::DotOp dot,
                                                    int64_t columns, int64_t warpgroups) {
  mk::SmAttr sm = mk::getSm(dot);
  mk::RegistersAttr file = sm.getRegisters();
  int64_t first = file.getAtStart(mk::kWarpgroupThreads * (warpgroups + 1));
  mk::RegisterReserveAttr reserve = file.getReserve();
  int64_t other = reserve.getProduct() + (plan.getStaged(dot.getLhs()) ? 0 : reserve.getLeft());
  return {columns > sm.getMatrixUnit().getColumns() ? 0 : columns / 2 + other, first};
}

/// What `mk-sm-defer-elements` takes to make tiles by elements, as far as it is known here: before
/// fragments have layouts any transpose may be within a thread.
static bool isByElements(Operation *op) {
  bool streams = isa<mk::BroadcastOp, mk::LoadOp, mk::TransposeOp>(op) ||
                 (OpTrait::hasElementwiseMappableTraits(op) && !op->getNumRegions());
  return streams && op->getNumResults() == 1 && !op->use_empty();
}

namespace {
/// The tiles that are live at each product of a role, and where others are computed.
class LiveTiles {
public:
  LiveTiles(RolePlan &plan, int64_t budget, int64_t warpgroups)
      : plan(plan), extents(plan.op), onlyStores(isByElements), budget(budget),
        warpgroups(warpgroups) {}

  LogicalResult check();

private:
  /// An op that makes a tile, and what is held then.
  struct Point {
    Operation *op;
    Value made;
    SmallVector<Value> held; // each once
    int64_t budget;
  };

  /// Whether the elements of a tile are computed where they are used: in front of a store, or
  /// one by one by the op that takes what was loaded, or what was compared.
  bool isNeverWhole(Value tile);
  bool isFromSlots(Operation *op);
  bool isOnlyReduced(Operation *op);
  void findHeld(ArrayRef<Value> tiles, mk::DotOp dot);
  void findHeld(ArrayRef<Value> tiles, Operation *op);
  void explainHeld(InFlightDiagnostic &diag, Operation *op, Value tile);
  LogicalResult refuse(const Point &point, int64_t needed);
  LogicalResult checkInstruction(mk::DotOp dot);
  /// Whether everything fits if `dim` of the tile had `size`, and all that is tied to it.
  bool fits(Value tile, int64_t dim, int64_t size);
  /// The largest extent of `dim` of the tile with which everything fits, a multiple of
  /// `step`; 0 if there is none.
  int64_t findFitting(Value tile, int64_t dim, int64_t step);

  RolePlan &plan;
  TiedExtents extents;
  OnlyStores onlyStores;
  int64_t budget, warpgroups;
  SmallVector<Point> points;
  llvm::DenseMap<Operation *, bool> fromSlots, onlyReduced; // what is known
};
} // namespace

/// Whether the elements follow from tiles that threads read out of slots, in the block of `op`.
bool LiveTiles::isFromSlots(Operation *op) {
  if (auto known = fromSlots.find(op); known != fromSlots.end())
    return known->second;
  bool result = llvm::all_of(op->getOperands(), [&](Value operand) {
    if (!isTile(operand) || isLayoutFree(operand))
      return true;
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != op->getBlock())
      return false;
    const StagedTile *place = plan.getStaged(operand);
    return place ? place->isRead : OpTrait::hasElementwiseMappableTraits(def) && isFromSlots(def);
  });
  return fromSlots[op] = result;
}

/// Whether nothing but sums of rows, and the like, take the elements in the end, in the block where
/// they are made: a thread has the columns of a row one behind the other, and each goes into the
/// sum when it has been read and computed.
bool LiveTiles::isOnlyReduced(Operation *op) {
  if (auto known = onlyReduced.find(op); known != onlyReduced.end())
    return known->second;
  auto takesInTurn = [&](Operation *user) {
    if (user->getBlock() != op->getBlock())
      return false;
    if (auto reduce = dyn_cast<mk::ReduceOp>(user)) {
      Attribute layout = plan.getLayout(reduce.getSource());
      RankedTensorType tile = reduce.getSource().getType();
      auto dealt = RankedTensorType::get(tile.getShape(), tile.getElementType(), layout);
      // Of maxima that are dealt out a thread has no part (mk-sm-defer-reductions).
      return isa<MmaAttr>(layout) ? reduce.getAxis() == 1
                                  : reduce.getKind() == mk::Reduction::Add &&
                                        getPartialType(dealt, reduce.getAxis());
    }
    return OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 &&
           isFromSlots(user) && isOnlyReduced(user);
  };
  bool isRead = isa<mk::LoadOp>(op) ? plan.getStaged(op->getResult(0)) != nullptr : isFromSlots(op);
  bool result = isRead && !op->use_empty() && llvm::all_of(op->getUsers(), takesInTurn);
  return onlyReduced[op] = result;
}

bool LiveTiles::isNeverWhole(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op || op->getNumRegions())
    return false;
  bool passes =
      isa<mk::LoadOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::CmpFOp, arith::CmpIOp>(
          op);
  return (passes && op->hasOneUse()) || onlyStores.find(op) || isOnlyReduced(op);
}

void LiveTiles::findHeld(ArrayRef<Value> tiles, mk::DotOp dot) {
  llvm::SetVector<Value> held;
  auto holdLeft = [&](mk::DotOp dot) {
    if (!plan.getStaged(dot.getLhs()) && !isLayoutFree(dot.getLhs()))
      held.insert(dot.getLhs());
  };
  held.insert(dot.getResult());
  holdLeft(dot);
  // What a dot of the loop takes in registers is carried to the next iteration, where
  // the others run meanwhile (mk-sm-overlap-dots).
  if (isa<scf::ForOp>(dot->getParentOp()))
    for (auto late : dot->getBlock()->getOps<mk::DotOp>())
      holdLeft(late);
  // Sums that are carried on apart from the product.
  if (isSummedApart(dot))
    held.insert(dot.getAcc());
  for (Value tile : tiles)
    if (isHeldOver(tile, dot) && !isReadBehind(plan, tile, dot))
      held.insert(tile);
  points.push_back({dot, dot.getResult(), held.takeVector(), budget});
}

void LiveTiles::findHeld(ArrayRef<Value> tiles, Operation *op) {
  Value made = op->getResult(0);
  if (isNeverWhole(made))
    return;
  SmallVector<Value> held{made};
  for (Value tile : tiles)
    if (tile != made && isHeldOver(tile, op) && !isNeverWhole(tile))
      held.push_back(tile);
  // No product runs meanwhile, whose descriptors and addresses take registers.
  int64_t idle = mk::getSm(op).getRegisters().getReserve().getIdle();
  points.push_back({op, made, held, budget + idle});
}

bool LiveTiles::fits(Value tile, int64_t dim, int64_t size) {
  auto shape = [&](Value other) { return extents.getShape(other, tile, dim, size); };
  return llvm::all_of(points, [&](const Point &point) {
    int64_t needed = 0;
    for (Value held : point.held)
      needed += countRegisters(plan, held, shape(held));
    SmallVector<int64_t> made = shape(point.made);
    if (needed > point.budget || !explainLayout(made, plan.getLayout(point.made)).empty())
      return false;
    auto dot = dyn_cast<mk::DotOp>(point.op);
    if (!dot)
      return true;
    auto [instruction, first] = countInstruction(plan, dot, made[1], warpgroups);
    int64_t k = shape(dot.getRhs())[dot.getTransposeB()];
    int64_t bits = cast<RankedTensorType>(dot.getRhs().getType()).getElementTypeBitWidth();
    return instruction <= first && k * bits % (8 * mk::getSm(dot).getMatrixUnit().getKBytes()) == 0;
  });
}

int64_t LiveTiles::findFitting(Value tile, int64_t dim, int64_t step) {
  int64_t most = cast<RankedTensorType>(tile.getType()).getDimSize(dim);
  mk::SmAttr sm = mk::getSm(plan.op);
  for (int64_t size = (most - 1) / step * step; size > 0; size -= step)
    // More columns than one instruction takes are several of whole chunks of 16-bit elements.
    if ((dim == 0 || size <= sm.getMatrixUnit().getColumns() || size % (sm.getChunk() / 2) == 0) &&
        fits(tile, dim, size))
      return size;
  return 0;
}

/// Rows of a product that one instruction of each warpgroup makes.
static int64_t rowsOf(const RolePlan &plan) {
  return mk::getSm(plan.op).getMatrixUnit().getRows() * plan.warpgroups;
}

/// What a tile takes that is held at `op`, and why if that is not to be seen.
void LiveTiles::explainHeld(InFlightDiagnostic &diag, Operation *op, Value tile) {
  int64_t registers = countRegisters(plan, tile);
  if (registers == 0)
    return;
  auto dot = dyn_cast<mk::DotOp>(op);
  bool isSum = dot && tile == dot.getAcc() && isSummedApart(dot);
  // What was folded stands nowhere in the file; who uses it does.
  Location where = isSum ? op->getLoc() : tile.getLoc();
  if (isa<UnknownLoc>(where) && !tile.use_empty())
    where = (*tile.user_begin())->getLoc();
  Diagnostic &note = diag.attachNote(where);
  note << mk::getWrittenType(plan.op, cast<RankedTensorType>(tile.getType())) << " takes "
       << registers;
  Operation *made = tile.getDefiningOp();
  if (isSum)
    note << ": the sum that the product is added to";
  else if (made && made->getBlock() == op->getBlock() && op->isBeforeInBlock(made))
    note << ": in the iteration before, for a product that still runs here";
}

LogicalResult LiveTiles::refuse(const Point &point, int64_t needed) {
  auto made = cast<RankedTensorType>(point.made.getType());
  StringRef kind = isa<mk::DotOp>(point.op) ? "accumulators" : "tiles";
  InFlightDiagnostic diag =
      point.op->emitOpError()
      << "needs " << needed
      << " registers in each thread for the tiles that are live here, a thread of "
      << mkernel::counted(warpgroups, "warpgroup") << " of " << mk::getSmTarget(plan.op).getName()
      << " has " << point.budget << " for them";
  bool isMatrix = made.getRank() == 2, isSwapped = mk::getWrittenType(plan.op, made) != made;
  auto use = [&](int64_t rows, int64_t columns) {
    diag << ": use " << kind << " of at most " << (isSwapped ? columns : rows) << " x "
         << (isSwapped ? rows : columns);
  };
  if (int64_t columns = isMatrix ? findFitting(point.made, 1, 16) : 0)
    use(made.getDimSize(0), columns);
  else if (int64_t rows = isMatrix ? findFitting(point.made, 0, rowsOf(plan)) : 0)
    use(rows, made.getDimSize(1));
  else
    diag << ": use fewer or smaller tiles; no other width or height of this one alone is enough";
  for (Value tile : point.held)
    explainHeld(diag, point.op, tile);
  return diag;
}

LogicalResult LiveTiles::checkInstruction(mk::DotOp dot) {
  int64_t columns = cast<RankedTensorType>(dot.getResult().getType()).getDimSize(1);
  auto [needed, first] = countInstruction(plan, dot, columns, warpgroups);
  if (needed <= first)
    return success();
  StringRef across = dot.getSwapped() ? "rows" : "columns",
            down = dot.getSwapped() ? "columns" : "rows";
  InFlightDiagnostic diag = dot.emitOpError()
                            << "takes " << needed << " registers in one instruction of " << columns
                            << " " << across << ", but the "
                            << mk::kWarpgroupThreads * (warpgroups + 1) << " threads of "
                            << mkernel::counted(warpgroups, "warpgroup") << " and a producer of "
                            << mk::getSmTarget(dot).getName() << " begin with " << first;
  mk::MatrixUnitAttr unit = mk::getSm(dot).getMatrixUnit();
  int64_t rows = 2 * unit.getRows();
  if (int64_t fewer = findFitting(dot.getResult(), 1, unit.getColumnStep()))
    diag << ": use accumulators of at most " << fewer << " " << across << ", or of " << rows << " "
         << down;
  else
    diag << ": use accumulators of " << rows << " " << down;
  return diag;
}

LogicalResult LiveTiles::check() {
  SmallVector<Value> tiles;
  auto note = [&](Value value) {
    if (isTile(value) && !isLayoutFree(value) && !plan.staysShared(value))
      tiles.push_back(value);
  };
  plan.op->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        note(arg);
    for (Value result : op->getResults())
      note(result);
  });
  plan.op->walk([&](Operation *op) {
    if (auto dot = dyn_cast<mk::DotOp>(op))
      findHeld(tiles, dot);
    else if (op->getNumResults() == 1 && !op->getNumRegions() &&
             llvm::is_contained(tiles, op->getResult(0)))
      findHeld(tiles, op);
  });
  for (const Point &point : points) {
    int64_t needed = 0;
    for (Value tile : point.held)
      needed += countRegisters(plan, tile);
    auto dot = dyn_cast<mk::DotOp>(point.op);
    if (dot)
      plan.liveRegisters = std::max(plan.liveRegisters, needed);
    if (needed > point.budget)
      return refuse(point, needed);
    if (dot && failed(checkInstruction(dot)))
      return failure();
  }
  return success();
}

LogicalResult mk_sm::checkRegisters(RolePlan &plan, int64_t budget, int64_t warpgroups) {
  return LiveTiles(plan, budget, warpgroups).check();
}

mk::RegisterSplitAttr mk_sm::getRegisterSplit(mk::RegistersAttr file, int64_t warpgroups,
                                              int64_t liveRegisters, bool waitsInProducer) {
  mk::RegisterSplitAttr best;
  for (auto split : file.getSplits().getAsRange<mk::RegisterSplitAttr>()) {
    bool isMeant = split.getWarpgroups() == warpgroups &&
                   (!split.getAbove() || (liveRegisters > split.getAbove() && !waitsInProducer));
    if (isMeant && (!best || split.getAbove() > best.getAbove()))
      best = split;
  }
  return best;
}

mk::RegisterSplitAttr mk_sm::leaveToMovers(mk::KernelOp kernel, mk::RegisterSplitAttr split) {
  auto isBeside = [](mk::RoleOp role) { return bool(role.getBeside()); };
  if (llvm::none_of(kernel.getBody().getOps<mk::RoleOp>(), isBeside))
    return split;
  mk::RegistersAttr file = mk::getSm(kernel).getRegisters();
  int64_t consumers = mk::kWarpgroupThreads * split.getWarpgroups(),
          threads = mk::kWarpgroupThreads + consumers;
  mk::RegisterReserveAttr reserve = file.getReserve();
  int64_t producer =
      std::max(split.getProducer(),
               kernel.getMeshOp().hasNet() ? reserve.getNetMover() : reserve.getMover());
  int64_t left =
      (file.getAtStart(threads) * threads - mk::kWarpgroupThreads * producer) / consumers;
  int64_t consumer = std::min<int64_t>(split.getConsumer(), left / file.getStep() * file.getStep());
  return mk::RegisterSplitAttr::get(kernel.getContext(), split.getWarpgroups(), producer, consumer,
                                    split.getAbove());
}
