//===- Registers.cpp - Whether the tiles of a role fit --------------------===//
#include "RolePlan.h"
#include "TiedExtents.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Registers of 32 bits in which a thread holds its part of a tile of this shape.
static int64_t countRegisters(const RolePlan &plan, Value tile, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tile.getType());
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
  Operation *here = scope->findAncestorOpInBlock(*op);
  if (!here ||
      (tile.getDefiningOp() && !tile.getDefiningOp()->isBeforeInBlock(here)))
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

/// Registers that one instruction of a product takes at least, and those with which threads
/// begin, before setmaxnreg gives them more: ptxas compiles no product that needs more (C7602).
static std::pair<int64_t, int64_t> countInstruction(const RolePlan &plan, mk::DotOp dot,
                                                    int64_t columns, int64_t warpgroups) {
  constexpr int64_t kRegistersOfSM = 64 * 1024, kOther = 26, kOfLeft = 4;
  int64_t first = kRegistersOfSM / (128 * (warpgroups + 1)) / 8 * 8;
  int64_t other = plan.getStaged(dot.getLhs()) ? kOther : kOther + kOfLeft;
  return {columns > kMaxColumns ? 0 : columns / 2 + other, first};
}

namespace {
/// The tiles that are live at each product of a role.
class LiveTiles {
public:
  LiveTiles(RolePlan &plan, int64_t budget, int64_t warpgroups)
      : plan(plan), extents(plan.op), budget(budget), warpgroups(warpgroups) {}

  LogicalResult check();

private:
  struct Product {
    mk::DotOp dot;
    SmallVector<Value> held; // each once
  };

  void findHeld(ArrayRef<Value> tiles, mk::DotOp dot);
  LogicalResult refuse(const Product &product, int64_t needed);
  LogicalResult checkInstruction(mk::DotOp dot);
  /// Whether everything fits if `dim` of what `dot` makes had `size`, and all that is tied
  /// to it.
  bool fits(mk::DotOp dot, int64_t dim, int64_t size);
  /// The largest extent of `dim` of what `dot` makes with which everything fits, a multiple of
  /// `step`; 0 if there is none.
  int64_t findFitting(mk::DotOp dot, int64_t dim, int64_t step);

  RolePlan &plan;
  TiedExtents extents;
  int64_t budget, warpgroups;
  SmallVector<Product> products;
};
} // namespace

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
    if (isHeldOver(tile, dot))
      held.insert(tile);
  products.push_back({dot, held.takeVector()});
}

bool LiveTiles::fits(mk::DotOp dot, int64_t dim, int64_t size) {
  return llvm::all_of(products, [&](const Product &product) {
    mk::DotOp other = product.dot;
    auto shape = [&](Value tile) {
      return extents.getShape(tile, dot.getResult(), dim, size);
    };
    SmallVector<int64_t> acc = shape(other.getResult());
    if (!explainLayout(acc, plan.getLayout(other.getResult())).empty())
      return false;
    auto [instruction, first] = countInstruction(plan, other, acc[1], warpgroups);
    int64_t k = shape(other.getRhs())[other.getTransposeB()];
    int64_t step = 256 / other.getRhs().getType().getElementTypeBitWidth();
    int64_t needed = 0;
    for (Value tile : product.held)
      needed += countRegisters(plan, tile, shape(tile));
    return instruction <= first && k % step == 0 && needed <= budget;
  });
}

int64_t LiveTiles::findFitting(mk::DotOp dot, int64_t dim, int64_t step) {
  int64_t most = dot.getResult().getType().getDimSize(dim);
  for (int64_t size = (most - 1) / step * step; size > 0; size -= step)
    // More columns than one instruction takes are several of 64 to 256.
    if ((dim == 0 || size <= kMaxColumns || size % 64 == 0) && fits(dot, dim, size))
      return size;
  return 0;
}

LogicalResult LiveTiles::refuse(const Product &product, int64_t needed) {
  mk::DotOp dot = product.dot;
  auto acc = dot.getResult().getType();
  InFlightDiagnostic diag =
      dot.emitOpError() << "needs " << needed
                        << " registers in each thread for the tiles that are "
                           "live here, a thread of "
                        << warpgroups << " warpgroups has " << budget
                        << " for them";
  if (int64_t columns = findFitting(dot, 1, 16))
    diag << ": use accumulators of at most " << acc.getDimSize(0) << " x " << columns;
  else if (int64_t rows = findFitting(dot, 0, 64 * plan.warpgroups))
    diag << ": use accumulators of at most " << rows << " x " << acc.getDimSize(1);
  else
    diag << ": use fewer or smaller tiles; no other width or height of this product alone "
            "is enough";
  for (Value tile : product.held)
    diag.attachNote(tile.getLoc())
        << tile.getType() << " takes " << countRegisters(plan, tile);
  return diag;
}

LogicalResult LiveTiles::checkInstruction(mk::DotOp dot) {
  int64_t columns = dot.getResult().getType().getDimSize(1);
  auto [needed, first] = countInstruction(plan, dot, columns, warpgroups);
  if (needed <= first)
    return success();
  InFlightDiagnostic diag = dot.emitOpError()
         << "takes " << needed << " registers in one instruction of " << columns
         << " columns, but the " << 128 * (warpgroups + 1) << " threads of "
         << warpgroups << " warpgroups and a producer begin with " << first;
  if (int64_t fewer = findFitting(dot, 1, 8))
    diag << ": use accumulators of at most " << fewer << " columns, or of 128 rows";
  else
    diag << ": use accumulators of 128 rows";
  return diag;
}

LogicalResult LiveTiles::check() {
  SmallVector<Value> tiles;
  auto note = [&](Value value) {
    if (isTile(value) && !isLayoutFree(value) && !plan.getStaged(value))
      tiles.push_back(value);
  };
  plan.op->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        note(arg);
    for (Value result : op->getResults())
      note(result);
  });
  plan.op->walk([&](mk::DotOp dot) { findHeld(tiles, dot); });
  for (const Product &product : products) {
    int64_t needed = 0;
    for (Value tile : product.held)
      needed += countRegisters(plan, tile);
    plan.liveRegisters = std::max(plan.liveRegisters, needed);
    if (needed > budget)
      return refuse(product, needed);
    if (failed(checkInstruction(product.dot)))
      return failure();
  }
  return success();
}

LogicalResult mk_sm::checkRegisters(RolePlan &plan, int64_t budget,
                                    int64_t warpgroups) {
  return LiveTiles(plan, budget, warpgroups).check();
}

RegisterSplit mk_sm::getRegisterSplit(int64_t warpgroups,
                                      int64_t liveRegisters,
                                      bool waitsInProducer) {
  // A producer warpgroup is counted whole although one warp of it works.
  if (warpgroups == 1)
    return {56, 240};
  if (warpgroups == 2)
    return liveRegisters > 128 && !waitsInProducer ? RegisterSplit{24, 240}
                                                   : RegisterSplit{40, 232};
  return {32, 160};
}
