//===- SelectRows.cpp - Rows of a list are looked up once for a loop ------===//
//
// A product gathers the same rows in each step along K, other columns of them each time. Where they
// lie is looked up in front of the loop, and stays in registers of the copiers. The producer waits
// for these when it asks for a tile, so what the copy engine brings into the same slot is asked for
// before.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kSelectRows = "mk-sm-select-rows";

/// Whether nothing happens in the op that makes others see or change a list, and nothing else is
/// gathered.
static bool isQuiet(Operation *op, CopyOp copy) {
  return !mk::holdsAny(op, [&](Operation *inner) {
    if (auto other = dyn_cast<CopyOp>(inner))
      return other != copy && other.getRows();
    return !isa<AcquireOp, CommitOp, scf::ForOp, scf::IfOp, memref::LoadOp>(inner) &&
           !isPure(inner);
  });
}

/// Behind the other copies of its slot, if nothing but these stands between.
static void moveBack(CopyOp copy) {
  Operation *last = copy;
  for (Operation *next = copy->getNextNode(); next; next = next->getNextNode()) {
    auto other = dyn_cast<CopyOp>(next);
    if (other && !other.getRows() && other.getSlot() == copy.getSlot())
      last = next;
    else if (!isPure(next))
      break;
  }
  copy->moveAfter(last);
}

/// Says whether a loop around the copy looks the rows up in each iteration.
static void remarkOn(CopyOp copy, Operation *at, bool isQuiet) {
  if (at != copy)
    passed(copy, kSelectRows) << "looks up its rows in front of the loop";
  else if (isa<scf::ForOp>(copy->getParentOp()))
    missed(copy, kSelectRows) << "looks up its rows in each iteration of the loop, "
                              << (isQuiet ? "where the list, the place in it or the source changes"
                                          : "where something else is gathered, waited for or sent");
}

void mk_sm::selectRows(CopyOp copy) {
  if (!copy.getRows() || copy.getSelected())
    return;
  moveBack(copy);
  Value valid = copy.getValid().empty() ? Value() : copy.getValid()[0];
  SmallVector<Value> needed{copy.getSource(), copy.getOffsets().end()[-2], copy.getRows(),
                            copy.getRowsAt()};
  if (valid)
    needed.push_back(valid);
  Operation *at = copy;
  bool quiet = true;
  for (Region *region = copy->getParentRegion(); isa<scf::ForOp, scf::IfOp>(region->getParentOp());
       region = region->getParentRegion()) {
    quiet = isQuiet(region->getParentOp(), copy);
    if (!quiet || !areValuesDefinedAbove(needed, *region))
      break;
    at = region->getParentOp();
  }
  remarkOn(copy, at, quiet);
  OpBuilder b(at);
  SelectRowsOp::create(b, copy.getLoc(), copy.getTileType().getDimSize(0), copy.getSource(),
                       copy.getOffsets().end()[-2], copy.getRows(), copy.getRowsAt(), valid);
  copy.setSelected(true);
}
