//===- VerifySizes.cpp - Sizes that are known must fit in their types -----===//
//
// Behind this, canonicalisation folds constants, and would fold one that wraps to what
// is left of it. What is not known yet mk_plan computes, with tests of its own.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Support/Checked.h"
#include "mkernel/Support/Counted.h"
#include "mkernel/Transforms/Sizes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VERIFYSIZESPASS
#include "mkernel/Transforms/Sizes/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

static constexpr StringLiteral kAtLeast0 = ": extents are at least 0; bind other sizes";

namespace {
struct VerifySizesPass : mk::impl::VerifySizesPassBase<VerifySizesPass> {
  /// What a branch does may be left out with these sizes.
  bool isCertain(Operation *op) {
    for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent);
         parent = parent->getParentOp())
      if (!isa<RoleOp, PrepareOp, ForeachOp, ForeachItemOp, ForeachPeerOp, FoldOp>(parent))
        return false;
    return true;
  }

  LogicalResult verifyArith(Operation *op) {
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !isCertain(op))
      return success();
    (void)numbers->getIndex(op->getResult(0));
    if (!numbers->wraps(op))
      return success();
    StringRef sign = isa<arith::AddIOp>(op) ? " + " : isa<arith::SubIOp>(op) ? " - " : " * ";
    return op->emitOpError() << "wraps: " << *numbers->getIndex(op->getOperand(0)) << sign
                             << *numbers->getIndex(op->getOperand(1))
                             << " does not fit in 64 bits; bind smaller sizes";
  }

  LogicalResult verifyItems(ForeachOp loop) {
    SmallVector<int64_t> bounds;
    for (Value bound : loop.getBounds()) {
      std::optional<int64_t> number = numbers->getIndex(bound);
      if (!number || *number < 0)
        return success();
      bounds.push_back(*number);
    }
    if (mkernel::checked::product(bounds))
      return success();
    return loop.emitOpError() << "goes over " << llvm::interleaved(bounds, " x ")
                              << " items, more than fit in 64 bits; bind smaller sizes";
  }

  /// Of signals, counters and queues.
  LogicalResult verifyDeclared(Operation *op) {
    ValueRange extents = llvm::TypeSwitch<Operation *, ValueRange>(op)
                             .Case<SignalsOp, CountersOp>([](auto op) { return op.getExtents(); })
                             .Case([](QueueOp op) { return op->getOperands(); })
                             .Default([](Operation *) { return ValueRange(); });
    for (auto [d, value] : llvm::enumerate(extents))
      if (std::optional<int64_t> extent = numbers->getIndex(value); extent && *extent < 0)
        return op->emitOpError() << "has " << *extent << " elements in dimension " << d
                                 << kAtLeast0;
    return success();
  }

  /// A coordinate outside of its axis would be one of another rank.
  LogicalResult verifyCoordinates(RankOp op) {
    MeshOp mesh = getKernel(op).getMeshOp();
    if (!op.getAxes() || !isCertain(op))
      return success();
    for (auto [name, coord] : llvm::zip(op.getAxes()->getAsRange<StringAttr>(), op.getCoords())) {
      int64_t size = mesh.getAxis(mesh.findAxis(name.getValue())).getSize();
      std::optional<int64_t> place = numbers->getIndex(coord);
      if (!ShapedType::isDynamic(size) && place && (*place < 0 || *place >= size))
        return op.emitOpError() << "has coordinate " << *place << " along axis '" << name.getValue()
                                << "', which has " << mkernel::counted(size, "rank")
                                << ": coordinates count from 0";
    }
    return success();
  }

  LogicalResult verifyArguments(KernelOp kernel) {
    for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
      SmallVector<int64_t> extents;
      unsigned rank = kernel.getArgShape(i).getNumResults();
      StringRef name = cast<StringAttr>(kernel.getArgNames()[i]).getValue();
      for (unsigned d = 0; d != rank; ++d) {
        std::optional<SplitExtent> extent = getSplitExtent(kernel, i, d);
        if (extent && extent->whole < 0)
          return kernel.emitOpError()
                 << "argument '" << name << "' has " << extent->whole << " elements in dimension "
                 << d << " (" << describeExtent(kernel, kernel.getArgShape(i).getResult(d)) << ")"
                 << kAtLeast0;
        std::optional<int64_t> own = kernel.getArgExtent(i, d);
        if (own)
          extents.push_back(*own);
        auto type = cast<MemRefType>(kernel.getKernelArg(i).getType());
        if (type.isDynamicDim(d) || own == type.getDimSize(d))
          continue;
        InFlightDiagnostic diag = kernel.emitOpError() << "argument '" << name << "' has ";
        if (own)
          diag << *own;
        else
          diag << "a number that is not known, or not the same on all ranks, of";
        return diag << " elements in dimension " << d << " on each rank ("
                    << describeExtent(kernel, kernel.getArgShape(i).getResult(d))
                    << "), and its type says " << type.getDimSize(d)
                    << ": bind other sizes, or write '?' in the type";
      }
      if (extents.size() != rank)
        continue;
      mkernel::checked::Number elements = mkernel::checked::product(extents);
      if (!elements || *elements > mkernel::checked::kMostElements)
        return kernel.emitOpError()
               << "argument '" << name << "' is " << llvm::interleaved(extents, " x ")
               << " on each rank, more than 2^46 elements; bind smaller sizes";
    }
    return success();
  }

  /// An address of one rank names the same element at another only if rows are equally long.
  LogicalResult verifyShards(KernelOp kernel) {
    for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
      // Nobody writes to another rank's inputs.
      if (!isSymmetric(kernel.getKernelArg(i).getType()) || kernel.getArgKind(i) == ArgKind::In)
        continue;
      AffineMap shape = kernel.getArgShape(i);
      for (unsigned d = 1; d < shape.getNumResults(); ++d) {
        std::optional<SplitExtent> extent = getSplitExtent(kernel, i, d);
        if (!extent || extent->whole % extent->shards == 0)
          continue;
        return kernel.emitOpError()
               << "symmetric argument '" << cast<StringAttr>(kernel.getArgNames()[i]).getValue()
               << "' has " << extent->whole << " elements in dimension " << d << ", of which "
               << extent->shards
               << " ranks have different numbers, so that peers would not find its rows: only its "
                  "first dimension may be split unevenly; bind a multiple of "
               << extent->shards << ", or let peers write to scratch of whole shards";
      }
    }
    return success();
  }

  /// A launch would be refused, whatever it is given.
  LogicalResult verifyRequirement(RequireOp require) {
    if (numbers->getIndex(require.getCondition()) != 0)
      return success();
    InFlightDiagnostic diag = require.emitOpError() << "does not hold: " << require.getMessage();
    SmallVector<std::string> given;
    for (ParamOp param : getParamsOf(require.getCondition()))
      if (std::optional<int64_t> number = numbers->getIndex(param.getValue()))
        given.push_back((param.getName() + " = " + Twine(*number)).str());
    if (!given.empty())
      diag << " (" << llvm::interleaved(given) << ")";
    return diag << "; choose sizes, a mesh and parameters for which it does";
  }

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      numbers = &getChildAnalysis<IndexEvaluator>(kernel);
      // It says more than what wraps behind it.
      for (RequireOp require : kernel.getBody().getOps<RequireOp>())
        if (failed(verifyRequirement(require)))
          return signalPassFailure();
      if (failed(verifyArguments(kernel)) || failed(verifyShards(kernel)))
        return signalPassFailure();
      if (holdsAny(kernel, [&](Operation *op) {
            auto loop = dyn_cast<ForeachOp>(op);
            auto rank = dyn_cast<RankOp>(op);
            return failed(verifyArith(op)) || failed(verifyDeclared(op)) ||
                   (loop && failed(verifyItems(loop))) || (rank && failed(verifyCoordinates(rank)));
          }))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

  IndexEvaluator *numbers = nullptr; // of the kernel at hand
};
} // namespace
