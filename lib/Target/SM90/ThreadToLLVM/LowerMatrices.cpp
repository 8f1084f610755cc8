//===- LowerMatrices.cpp - Around products, and single instructions -------===//
//
// Touching accumulators while a group is in flight serialises the pipeline (ptxas C7514). LLVM
// sees only data flow, so what a fence or a wait orders passes through it. ptxas may still
// hoist a wait: that is its right.
//
//===----------------------------------------------------------------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static StringRef nameOfPair(Type type) { return isa<Float8E4M3FNType>(type) ? "e4m3x2" : "e5m2x2"; }

static SmallVector<Value> lowerApproximate(ApproximateOp op, Ptx &ptx) {
  // NVVM has an op for rcp.approx.ftz alone.
  static const char *const kNames[] = {"rcp.approx.f32", "sin.approx.f32", "cos.approx.f32"};
  std::string name = kNames[unsigned(op.getFunction())];
  return {ptx.pure(name + " $0, $1;", op.getType(), op.getX())};
}

void mk::thread::addMatrixPatterns(RewritePatternSet &patterns) {
  addPattern<WgmmaFenceOp>(patterns, [](WgmmaFenceOp op, Ptx &ptx) {
    return ptx.tied("wgmma.fence.sync.aligned;", op.getValues());
  });
  addPattern<WgmmaCommitOp>(patterns, [](WgmmaCommitOp, Ptx &ptx) {
    return ptx.run("wgmma.commit_group.sync.aligned;", {}, {}, /*touchesMemory=*/false);
  });
  addPattern<WgmmaWaitOp>(patterns, [](WgmmaWaitOp op, Ptx &ptx) {
    return ptx.tied("wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";",
                    op.getValues());
  });
  addPattern<PinOp>(patterns, [](PinOp op, Ptx &ptx) { return ptx.tied("", op.getValues()); });
  addPattern<StMatrixOp>(patterns, [](StMatrixOp op, Ptx &ptx) {
    return ptx.run(std::string("stmatrix.sync.aligned.m8n8.x4") +
                       (op.getTranspose() ? ".trans" : "") + ".shared.b16 [$0], {$1, $2, $3, $4};",
                   {}, op->getOperands());
  });
  addPattern<DivergentZeroOp>(patterns, [](DivergentZeroOp op, Ptx &ptx) -> SmallVector<Value> {
    // Threads of a CTA are few: the upper half of the square is 0. As arithmetic of its
    // own LLVM would fold it where it knows that the number is small.
    return {ptx.pure("mul.hi.u32 $0, $1, $1;", op.getType(), {op.getThread()})};
  });
  addPattern<ApproximateOp>(patterns, lowerApproximate);
  // NVVM's conversions of fp8 may be computed ahead of a branch, where elements would take
  // registers.
  addPattern<ToFp8Op>(patterns, [](ToFp8Op op, Ptx &ptx) -> SmallVector<Value> {
    // The first operand becomes the upper byte.
    return {ptx.pure("cvt.rn.satfinite." + nameOfPair(op.getType()).str() + ".f32 $0, $1, $2;",
                     op.getResult().getType(), {op.getHigh(), op.getLow()})};
  });
  addPattern<MaskedOrOp>(patterns, [](MaskedOrOp op, Ptx &ptx) -> SmallVector<Value> {
    // Of two instructions with a constant each ptxas makes no single one.
    constexpr int kTable = 0xea; // of (a & b) | c (PTX ISA, "lop3")
    std::string text =
        llvm::formatv("lop3.b32 $0, $1, {0}, {1}, {2};", op.getMask(), op.getBits(), kTable);
    return {ptx.pure(text, op.getType(), op.getX())};
  });
  addPattern<FromFp8Op>(patterns, [](FromFp8Op op, Ptx &ptx) -> SmallVector<Value> {
    return {ptx.pure("cvt.rn.f16x2." + nameOfPair(op.getType()).str() + " $0, $1;",
                     op.getResult().getType(), op.getBits())};
  });
}
