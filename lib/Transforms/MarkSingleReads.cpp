//===- MarkSingleReads.cpp - Loads of what is read once in a launch -------===//
//
// An L2 cache is of no use to what nobody reads again, and keeps what others share for longer
// without it. Here, where loops are what the author wrote.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kMarkSingleReads = "mk-mark-single-reads";

/// Whether an index is a term of `offset`, maybe with a factor: another number of it is another
/// place.
static bool isTerm(BlockArgument index, Value offset) {
  if (offset == index)
    return true;
  Operation *op = offset.getDefiningOp();
  return isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return isTerm(index, operand); });
}

/// Whether each iteration of a loop around the load reads another tile.
static bool movesOn(LoadOp load, BlockArgument index) {
  return llvm::any_of(load.getOffsets(), [&](Value offset) { return isTerm(index, offset); });
}

static bool movesOn(LoadOp load, ForeachOp loop) {
  return llvm::all_of(llvm::zip(loop.getBounds(), loop.getBody().getArguments()), [&](auto pair) {
    auto [bound, index] = pair;
    std::optional<int64_t> count = evaluateIndex(bound);
    return (count && *count <= 1) || movesOn(load, index);
  });
}

/// The same for any op around the load: what is visited in another way may come again.
static bool movesOn(LoadOp load, Operation *around) {
  if (auto loop = dyn_cast<ForeachOp>(around))
    return movesOn(load, loop);
  if (auto fold = dyn_cast<FoldOp>(around))
    return movesOn(load, fold.getBody().getArgument(0));
  if (auto loop = dyn_cast<scf::ForOp>(around))
    return movesOn(load, cast<BlockArgument>(loop.getInductionVar()));
  return isa<scf::IfOp>(around);
}

/// Why what the load reads may be read again, or be written; empty if neither.
static StringRef findReader(LoadOp load) {
  auto arg = dyn_cast<BlockArgument>(load.getSource());
  if (!arg || !isNeverWritten(arg))
    return "the kernel may write it";
  if (load.getRows())
    return "a list may name rows of it several times";
  auto isOther = [&](Operation *user) { return user != load && !isa<memref::DimOp>(user); };
  if (llvm::any_of(arg.getUsers(), isOther))
    return "another op takes the argument, too";
  bool isDealtOut = false;
  Operation *around = load->getParentOp();
  for (; !isa<RoleOp, KernelOp>(around); around = around->getParentOp()) {
    if (!movesOn(load, around))
      return "a loop around it has iterations that read the same, or may";
    isDealtOut |= isa<ForeachOp>(around);
  }
  return isDealtOut ? "" : "all CTAs of the role read it, without an mk.foreach that deals it out";
}

void mk::markSingleReads(LoadOp load) {
  if (TargetAttr target = findTarget(load); target && !target.getSm())
    return;
  if (StringRef reader = findReader(load); !reader.empty()) {
    mk_sm::missed(load, kMarkSingleReads) << "may be read again: " << reader.str();
    return;
  }
  load.setOnce(true);
  mk_sm::passed(load, kMarkSingleReads) << "is read once in a launch: the L2 cache keeps others";
}
