//===- PlanDots.cpp - Which warpgroups do dots, and what they cannot do ----===//
#include "RolePlan.h"
#include "mkernel/Analysis/Dots.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Support/Counted.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

/// What the tensor cores cannot do.
static LogicalResult checkDot(DotOp dot, ArrayRef<LoadOp> loads) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  auto acc = cast<RankedTensorType>(dot.getAcc().getType());
  Type element = lhs.getElementType();
  int64_t bits = lhs.getElementTypeBitWidth();
  bool lhsStaged = llvm::is_contained(loads, dot.getLhs().getDefiningOp<LoadOp>());
  StringRef machine = getSmTarget(dot).getName();
  MatrixUnitAttr unit = getSm(dot).getMatrixUnit();
  if (!unit.takes(element))
    return dot.emitOpError() << "multiplies " << element << ", which the tensor cores of "
                             << machine << " do not: convert the operands to one of "
                             << llvm::interleaved(unit.getOperands().getAsValueRange<TypeAttr>());
  if (element.isF32() && dot.getPrecision() != Precision::TF32)
    return dot.emitOpError() << "multiplies f32 in full precision, which the tensor cores of "
                             << machine
                             << " do not: say 'precision = tf32', or convert the operands";
  if (!llvm::is_contained(loads, dot.getRhs().getDefiningOp<LoadOp>())) {
    bool isConverted =
        isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp, arith::ExtFOp, arith::TruncFOp>(
            dot.getRhs().getDefiningOp());
    InFlightDiagnostic diag = dot.emitOpError()
                              << "takes its right operand from registers (" << rhs
                              << "), but the tensor cores of " << machine
                              << " read it from shared memory: "
                              << (isConverted ? "let another role convert it in memory (mk.load, "
                                                "convert, mk.store), and mk.load that behind its "
                                                "signal"
                                              : "store the tile and mk.load it behind a signal");
    // Transposed, the left operand would be what is in registers.
    if (lhsStaged)
      diag << ", or compute the transposed product with this tile on the left";
    return diag;
  }
  if (!lhsStaged && dot.getTransposeA())
    return dot.emitOpError() << "transposes a left operand in registers (" << lhs
                             << "), which the tensor cores of " << machine
                             << " do not: load it from memory, or take mk.transpose of it";
  if (!lhsStaged && bits != 16)
    return dot.emitOpError() << "takes a left operand of " << element
                             << " from registers, where for " << machine
                             << " its elements lie in other threads than those of an accumulator: "
                                "convert it to bf16 or f16, or load it from memory";
  if (!unit.transposes(element) && (dot.getTransposeA() || !dot.getTransposeB()))
    return dot.emitOpError() << "multiplies " << element
                             << " operands that are not K-major, and the tensor cores of "
                             << machine << " transpose "
                             << llvm::interleaved(unit.getTransposed().getAsValueRange<TypeAttr>())
                             << " only: the left tile must be M x K (no transpose_a), the right "
                                "one N x K (transpose_b)";
  int64_t k = rhs.getDimSize(dot.getTransposeB());
  int64_t step = 8 * unit.getKBytes() / bits;
  if (k % step)
    return dot.emitOpError() << "has K = " << k << ", but the tensor cores of " << machine
                             << " take steps of " << step << " of " << element
                             << ": use tiles of K = " << llvm::alignTo(k, step)
                             << "; where K is a size of the arguments, as that of a head, pad "
                                "these with zeros to as much";
  if (bits == 8 && k > unit.getKOf_8Bits())
    return dot.emitOpError()
           << "adds up " << k << " products of " << element << " in the tensor cores of " << machine
           << ", which keep few bits of a sum of them; sums go on in f32 after at most "
           << unit.getKOf_8Bits() << ": use tiles of K = " << unit.getKOf_8Bits();
  auto layout = MmaAttr::get(dot.getContext(), 1);
  if (std::string problem = explainLayout(acc.getShape(), layout); !problem.empty()) {
    InFlightDiagnostic diag = dot.emitOpError()
                              << "accumulates in " << acc << ", which the tensor cores of "
                              << machine << " do not: " << problem;
    int64_t rows = llvm::alignTo(acc.getDimSize(0), unit.getColumnStep());
    if (isTransposed(unit, rows, acc.getDimSize(1)))
      diag << ", and " << rows << " are computed transposed where both operands are loaded";
    return diag;
  }
  // Wide products are several instructions, each of as many chunks of 16 bits.
  int64_t columns = acc.getDimSize(1), inChunk = getSm(dot).getChunk() / 2;
  if (!getInstructionColumns(getSm(dot), columns)) {
    StringRef across = dot.getSwapped() ? "rows" : "columns";
    return dot.emitOpError() << "makes " << columns << " " << across << ", more than the "
                             << unit.getColumns() << " of one instruction of " << machine
                             << " and no multiple of " << inChunk << ": use tiles of "
                             << columns / inChunk * inChunk << " or "
                             << llvm::alignTo(columns, inChunk) << " " << across;
  }
  return success();
}

/// The best number of warpgroups that can share the rows of all dots; one where teams have items
/// of their own.
static void chooseWarpgroups(RolePlan &plan, ArrayRef<DotOp> dots) {
  plan.op->walk(
      [&](ItemsOp items) { plan.teams = std::max<int64_t>(plan.teams, items.getTeams()); });
  auto note = [&] {
    std::string teams = mkernel::counted(plan.teams, "team"),
                warpgroups = mkernel::counted(plan.warpgroups, "warpgroup");
    analysis(plan.op, kSplitRoles) << remark::add("has dots in {0} of {1}", teams, warpgroups);
  };
  if (plan.teams > 1) {
    plan.warpgroups = 1;
    return note();
  }
  SmAttr sm = getSm(plan.op);
  for (int64_t warpgroups : sm.getRegisters().getWarpgroupCounts()) {
    bool fits = llvm::all_of(dots, [&](DotOp dot) {
      auto acc = cast<RankedTensorType>(dot.getAcc().getType());
      return acc.getDimSize(0) % (sm.getMatrixUnit().getRows() * warpgroups) == 0;
    });
    if (!fits)
      continue;
    plan.warpgroups = warpgroups;
    return note();
  }
  llvm_unreachable("a consumer may have one warpgroup, and rows are multiples of its");
}

LogicalResult mk_sm::planDots(RolePlan &plan, ArrayRef<DotOp> dots, ArrayRef<LoadOp> staged) {
  for (DotOp dot : dots)
    if (failed(checkDot(dot, staged)))
      return failure();
  if (!dots.empty())
    chooseWarpgroups(plan, dots);
  return success();
}
