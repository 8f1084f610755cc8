//===- LowerMatrices.cpp - The tensor cores, and single instructions ------===//
//
// nvvm.wgmma.mma_async has its scale as an attribute only and takes both operands from shared
// memory only; kernels need a scale at run time and a left operand in registers. Accumulators are
// tied operands, since the instruction reads and writes them.
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

static SmallVector<Value> lowerWgmma(WgmmaOp op, Ptx &ptx) {
  int64_t numAcc = op.getResults().size();
  bool ties = !op.getAcc().empty();
  int64_t next = ties ? 2 * numAcc : numAcc;
  SmallVector<Value> others;
  auto operand = [&](Value value) {
    others.push_back(value);
    return "$" + std::to_string(next++);
  };
  std::string before;
  auto descriptor = [&](Value value, int64_t offset, StringRef name) {
    std::string text = operand(value);
    if (!offset)
      return text;
    before += ".reg .b64 " + name.str() + "; add.u64 " + name.str() + ", " + text + ", " +
              std::to_string(offset) + "; ";
    return name.str();
  };
  bool isStaged = op.getLeft().size() == 1;
  std::string left;
  if (isStaged) {
    left = descriptor(op.getLeft()[0], op.getLeftOffset(), "da");
  } else {
    left = listOperands(next, op.getLeft().size());
    for (Value value : op.getLeft())
      (void)operand(value);
  }
  std::string right = descriptor(op.getRight(), op.getRightOffset(), "db");
  std::string scale = ties ? "1" : "0";
  if (Value accumulate = op.getAccumulate())
    scale = operand(ptx.b.createOrFold<arith::ExtUIOp>(ptx.loc, ptx.b.getI32Type(), accumulate));
  std::string text = "{ " + before + ".reg .pred p; setp.ne.b32 p, " + scale +
                     ", 0; wgmma.mma_async.sync.aligned.m64n" + std::to_string(op.getN()) + "k" +
                     std::to_string(op.getK()) + ".f32." + op.getLeftType().str() + "." +
                     op.getRightType().str() + " " + listOperands(0, numAcc) + ", " + left + ", " +
                     right + ", p, 1, 1";
  if (op.getK() == 16) {
    if (isStaged)
      text += op.getTransposeLeft() ? ", 1" : ", 0";
    text += op.getTransposeRight() ? ", 1" : ", 0";
  }
  text += "; }";
  if (ties)
    return ptx.tied(text, op.getAcc(), others);
  return ptx.run(text, op.getResults().getTypes(), others, /*touchesMemory=*/false);
}

// ptxas divides 64-bit integers in a subroutine, whose registers a producer of 24 or 40 does not
// have. Items and tiles are counted below 2^32, as a rule: one 32-bit division. What is larger
// takes a bit at a time, in few registers. All lanes divide the same numbers; the votes tell ptxas
// that none goes astray, or it would keep what follows out of uniform registers.
static const char kDivide[] =
    "{ .reg .pred p; .reg .b32 low, by, n; .reg .b64 bits, rest, top; "
    "or.b64 bits, $1, $2; shr.u64 bits, bits, 32; setp.ne.u64 p, bits, 0; "
    "vote.sync.any.pred p, p, 0xffffffff; @p bra LARGE; cvt.u32.u64 low, $1; cvt.u32.u64 by, $2; "
    "div.u32 low, low, by; cvt.u64.u32 $0, low; bra DONE; "
    // As many rounds as x has bits: ptxas would unroll a constant number.
    "LARGE: clz.b64 n, $1; shl.b64 bits, $1, n; sub.u32 n, 64, n; mov.b64 rest, 0; "
    ".pragma \"nounroll\"; NEXT: setp.eq.u32 p, n, 0; "
    "vote.sync.all.pred p, p, 0xffffffff; @p bra END; "
    "shr.u64 top, bits, 63; shl.b64 rest, rest, 1; or.b64 rest, rest, top; "
    "shl.b64 bits, bits, 1; setp.ge.u64 p, rest, $2; @p sub.u64 rest, rest, $2; "
    "@p or.b64 bits, bits, 1; sub.u32 n, n, 1; bra NEXT; "
    "END: mov.b64 $0, bits; DONE: }";

static StringRef nameOfPair(Type type) { return isa<Float8E4M3FNType>(type) ? "e4m3x2" : "e5m2x2"; }

static SmallVector<Value> lowerApproximate(ApproximateOp op, Ptx &ptx) {
  static const char *const kNames[] = {"rcp.approx.f32", "rcp.approx.ftz.f32", "sin.approx.f32",
                                       "cos.approx.f32"};
  std::string name = kNames[unsigned(op.getFunction())];
  return {ptx.pure(name + " $0, $1;", op.getType(), op.getX())};
}

void mk::thread::addMatrixPatterns(RewritePatternSet &patterns) {
  addPattern<WgmmaOp>(patterns, lowerWgmma);
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
  addPattern<OwnZeroOp>(patterns, [](OwnZeroOp op, Ptx &ptx) -> SmallVector<Value> {
    // Threads of a CTA are few: the upper half of the square is 0.
    return {ptx.pure("mul.hi.u32 $0, $1, $1;", op.getType(), {op.getThread()})};
  });
  addPattern<ApproximateOp>(patterns, lowerApproximate);
  addPattern<ToFp8Op>(patterns, [](ToFp8Op op, Ptx &ptx) -> SmallVector<Value> {
    // The first operand becomes the upper byte.
    return {ptx.pure("cvt.rn.satfinite." + nameOfPair(op.getType()).str() + ".f32 $0, $1, $2;",
                     op.getResult().getType(), {op.getHigh(), op.getLow()})};
  });
  addPattern<FromFp8Op>(patterns, [](FromFp8Op op, Ptx &ptx) -> SmallVector<Value> {
    return {ptx.pure("cvt.rn.f16x2." + nameOfPair(op.getType()).str() + " $0, $1;",
                     op.getResult().getType(), op.getBits())};
  });
  addPattern<DivideOp>(patterns, [](DivideOp op, Ptx &ptx) {
    return ptx.run(kDivide, op.getType(), op->getOperands(), /*touchesMemory=*/false);
  });
}
