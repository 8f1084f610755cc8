//===- SpreadLoads.cpp - Each thread loads what it needs of a row ---------===//
#include "Functions.h"
#include "Pressure.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSpreadLoads = "mk-sm-spread-loads";

void mk_sm::spreadLoads(mk::BroadcastOp broadcast) {
  auto tile = cast<RankedTensorType>(broadcast.getType());
  if (tile.getRank() != 2 || !isa_and_nonnull<BlockedAttr>(tile.getEncoding()) ||
      broadcast.getDims() != ArrayRef<int64_t>{0})
    return;
  auto load = dyn_cast_or_null<mk::LoadOp>(findLoad(broadcast.getSource().getDefiningOp()));
  if (!load || load->getBlock() != broadcast->getBlock() || load.getRows())
    return;
  // The row is read where the load stands: what is behind may write it.
  SmallVector<Operation *> chain;
  for (Operation *op = broadcast.getSource().getDefiningOp(); op != load;
       op = op->getOperand(0).getDefiningOp())
    chain.push_back(op);
  OpBuilder b(load);
  auto ofElements = [&](Value row) {
    return RankedTensorType::get(tile.getShape(), getElementTypeOrSelf(row), tile.getEncoding());
  };
  auto spread = cast<mk::LoadOp>(b.clone(*load));
  spread.setSpread(true);
  spread.getTile().setType(ofElements(load.getTile()));
  Value value = spread.getTile();
  for (Operation *op : llvm::reverse(chain)) {
    b.setInsertionPoint(op);
    IRMapping map;
    map.map(op->getOperand(0), value);
    Operation *converted = b.clone(*op, map);
    converted->getResult(0).setType(ofElements(op->getResult(0)));
    value = converted->getResult(0);
  }
  passed(load, kSpreadLoads) << "is loaded by each thread that needs it";
  broadcast.replaceAllUsesWith(value);
  broadcast.erase();
  for (Operation *op : chain)
    if (op->use_empty())
      op->erase();
  if (load->use_empty())
    load.erase();
}
