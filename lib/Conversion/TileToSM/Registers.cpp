//===- Registers.cpp - Whether the tiles of a role fit --------------------===//
#include "RolePlan.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Registers of 32 bits in which a thread holds its part.
static int64_t countRegisters(const RolePlan &plan, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t elements = getNumElements(withLayout(type, plan.getLayout(tile)));
  int64_t bits = std::max<int64_t>(type.getElementTypeBitWidth(), 8);
  return llvm::divideCeil(std::max<int64_t>(elements, 0) * bits, 32);
}

/// Whether `tile` is held while `op`, which stands in its block or deeper, is
/// executed: something behind uses it, or an iteration to come.
static bool isHeldOver(Value tile, Operation *op) {
  Block *block = tile.getParentBlock();
  Operation *here = block->findAncestorOpInBlock(*op);
  if (!here ||
      (tile.getDefiningOp() && !tile.getDefiningOp()->isBeforeInBlock(here)))
    return false;
  return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (user == here)
      // What a loop starts from is what it carries from then on.
      return here != op && use.getOwner() != here;
    return here->isBeforeInBlock(user);
  });
}

/// The accumulator nearest to `acc` with which the held tiles fit: with fewer columns, in
/// all tiles that have as many; else with fewer rows, which all tiles have in common; else
/// with the fewest rows that warpgroups can share.
static std::pair<int64_t, int64_t>
findFitting(RankedTensorType acc, int64_t warpgroups, int64_t budget, int64_t needed,
            const llvm::MapVector<Value, int64_t> &held) {
  int64_t rows = acc.getDimSize(0), columns = acc.getDimSize(1), least = 64 * warpgroups;
  int64_t others = 0;
  for (auto [tile, registers] : held)
    if (cast<RankedTensorType>(tile.getType()).getShape().back() != columns)
      others += registers;
  auto round = [&](double fitting) {
    int64_t most = std::min<double>(fitting, columns);
    return most > kMaxColumns ? most / 64 * 64 : most / 16 * 16;
  };
  double share = double(budget - others) / (needed - others);
  if (int64_t fewer = share > 0 ? round(share * columns) : 0)
    return {rows, fewer};
  share = double(budget) / needed;
  if (int64_t fewer = int64_t(share * rows) / least * least)
    return {fewer, columns};
  return {least, round(share * rows / least * columns)};
}

static LogicalResult refuse(RolePlan &plan, mk::DotOp dot, int64_t needed,
                            int64_t budget, int64_t warpgroups,
                            const llvm::MapVector<Value, int64_t> &held) {
  auto acc = cast<RankedTensorType>(dot.getAcc().getType());
  InFlightDiagnostic diag =
      dot.emitOpError() << "needs " << needed
                        << " registers in each thread for the tiles that are "
                           "live here, a thread of "
                        << warpgroups << " warpgroups has " << budget
                        << " for them";
  auto [rows, columns] = findFitting(acc, plan.warpgroups, budget, needed, held);
  if (columns > 0)
    diag << ": use accumulators of at most " << rows << " x " << columns;
  for (auto [tile, registers] : held)
    diag.attachNote(tile.getLoc()) << tile.getType() << " takes " << registers;
  return diag;
}

/// Whether ptxas can compile the product: one instruction has to fit the registers with
/// which threads begin, before setmaxnreg gives them more (C7602).
static LogicalResult checkInstruction(RolePlan &plan, mk::DotOp dot,
                                      int64_t warpgroups) {
  constexpr int64_t kRegistersOfSM = 64 * 1024, kOther = 26, kOfLeft = 4;
  int64_t columns = cast<RankedTensorType>(dot.getAcc().getType()).getDimSize(1);
  int64_t threads = 128 * (warpgroups + 1);
  int64_t first = kRegistersOfSM / threads / 8 * 8;
  int64_t other = plan.getStaged(dot.getLhs()) ? kOther : kOther + kOfLeft;
  if (columns > kMaxColumns || columns / 2 + other <= first)
    return success();
  return dot.emitOpError() << "takes " << columns / 2 + other
                           << " registers in one instruction of " << columns
                           << " columns, but the " << threads << " threads of "
                           << warpgroups << " warpgroups and a producer begin with "
                           << first << ": use accumulators of at most "
                           << (first - other) * 2 / 8 * 8
                           << " columns, or of 128 rows";
}

LogicalResult mk_sm::checkRegisters(RolePlan &plan, int64_t budget,
                                    int64_t warpgroups) {
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
  WalkResult result = plan.op->walk([&](mk::DotOp dot) -> WalkResult {
    llvm::MapVector<Value, int64_t> held;
    held[dot.getResult()] = countRegisters(plan, dot.getResult());
    if (!plan.getStaged(dot.getLhs()) && !isLayoutFree(dot.getLhs()))
      held[dot.getLhs()] = countRegisters(plan, dot.getLhs());
    // What a dot of the loop takes in registers is carried to the next iteration, where
    // the others run meanwhile (mk-sm-overlap-dots).
    if (isa<scf::ForOp>(dot->getParentOp()))
      for (auto late : dot->getBlock()->getOps<mk::DotOp>())
        if (!plan.getStaged(late.getLhs()) && !isLayoutFree(late.getLhs()))
          held[late.getLhs()] = countRegisters(plan, late.getLhs());
    // Sums that are carried on apart from the product.
    if (isSummedApart(dot))
      held[dot.getAcc()] = countRegisters(plan, dot.getAcc());
    for (Value tile : tiles)
      if (tile != dot.getResult() && isHeldOver(tile, dot))
        held[tile] = countRegisters(plan, tile);
    int64_t needed = 0;
    for (auto [tile, registers] : held)
      needed += registers;
    plan.liveRegisters = std::max(plan.liveRegisters, needed);
    if (needed > budget)
      return refuse(plan, dot, needed, budget, warpgroups, held);
    return checkInstruction(plan, dot, warpgroups);
  });
  return failure(result.wasInterrupted());
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
