//===- AdvanceItems.cpp - An item loads what the next one takes -----------===//
//
// Turns
//   items (i): x = load a[i]; store f(x)
// into
//   items (i) iter_args(x' = 0):
//     x = the first item ? load a[i] : x'
//     x" = load a[i + CTAs], if there is such an item
//     store f(x); carry x"
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "Loops.h"
#include "Pressure.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Transforms/IndexMath.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kAdvanceItems = "mk-sm-advance-items";

/// Behind all ops that have regions, or in front of the first op.
static Block::iterator findBehindLoops(Block &body) {
  Block::iterator behind = body.begin();
  for (auto it = body.begin(); it != body.end(); ++it)
    if (it->getNumRegions())
      behind = std::next(it);
  return behind;
}

/// Whether the place of a load differs between items.
static bool followsItem(Operation *load, ItemsOp items) {
  SmallVector<Value> worklist(load->getOperands());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (value == items.getItem() || value == items.getRound())
      return true;
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == load->getBlock())
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// What may be loaded for the next item, so that registers suffice.
static SmallVector<Operation *> choose(ItemsOp items, PartitionOp partition) {
  mk::RegisterReserveAttr reserve = mk::getSm(items).getRegisters().getReserve();
  Block &body = items.getBody().front();
  int64_t left = int64_t(partition.getRegisters()) - reserve.getScalars() - reserve.getIdle() -
                 countPressure(body);
  auto miss = [&](Operation *load, StringRef why) {
    missed(load, kAdvanceItems) << "is waited for in each item: " << why.str();
  };
  auto firstLoop = llvm::find_if(body, [](Operation &op) { return op.getNumRegions(); });
  return getEarlyLoads(items, left, /*nothingIsWritten=*/false, miss, [&](Operation *load) {
    bool isInFront = firstLoop == body.end() || load->isBeforeInBlock(&*firstLoop);
    return isInFront && followsItem(load, items);
  });
}

void mk_sm::advanceItems(ItemsOp items) {
  auto partition = dyn_cast<PartitionOp>(items->getParentOp());
  auto role = items->getParentOfType<mk::RoleOp>();
  if (!partition || !role || partition.getKind() != PartitionKind::Consumer ||
      findPartition(role, PartitionKind::Producer) || !items.getInits().empty() ||
      items.getTeams() != 1 || items.getEvery() != 1 || items.getBody().front().empty() ||
      mk::holds<MmaOp>(items))
    return;
  int64_t ctas = role.getCtas().getFixed();
  if (getConstantIntValue(items.getTotal()).value_or(ctas + 1) <= ctas)
    return;
  SmallVector<Operation *> loads = choose(items, partition);
  // A number alone would be waited for here, to be kept: its tile still comes behind it.
  if (llvm::none_of(loads, llvm::IsaPred<mk::LoadOp>))
    return;
  passed(items, kAdvanceItems) << remark::add("loads {0} values for the next item", loads.size());

  Counted counted(items);
  Block &body = items.getBody().front();
  Block::iterator behind = findBehindLoops(body);
  OpBuilder b(items);
  SmallVector<Value> inits;
  for (Operation *load : loads)
    inits.push_back(arith::ConstantOp::create(
        b, load->getLoc(), cast<TypedAttr>(b.getZeroAttr(load->getResult(0).getType()))));
  items.getInitsMutable().assign(inits);
  SmallVector<Value> carried;
  for (Operation *load : loads)
    carried.push_back(items.getBody().addArgument(load->getResult(0).getType(), load->getLoc()));

  b.setInsertionPoint(&body, behind);
  mk::IndexMath m{b, items.getLoc()};
  Value next = m.add(items.getItem(), m.index(ctas));
  SmallVector<Value> later = loadEarlyIf(b, m.less(next, items.getTotal()), counted, loads,
                                         {next, m.add(items.getRound(), m.index(1))});
  b.setInsertionPointToEnd(&body);
  CarryOp::create(b, items.getLoc(), later);

  b.setInsertionPointToStart(&body);
  m = {b, items.getLoc()};
  auto choice = scf::IfOp::create(
      b, items.getLoc(), m.equal(items.getRound(), m.index(0)),
      [&](OpBuilder &inner, Location loc) {
        scf::YieldOp::create(inner, loc, loadEarly(inner, counted, loads, counted.counters));
      },
      [&](OpBuilder &inner, Location loc) { scf::YieldOp::create(inner, loc, carried); });
  for (auto [load, value] : llvm::zip_equal(loads, choice.getResults())) {
    load->getResult(0).replaceAllUsesWith(value);
    load->erase();
  }
}
