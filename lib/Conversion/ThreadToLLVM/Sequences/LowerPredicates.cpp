//===- LowerPredicates.cpp - Instructions that take or give a predicate ---===//
//
// At the thread level conditions are words. As values of LLVM predicates would be computed early
// and kept, and there are 7 of them: here each lives for an instruction.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

/// Declares `p`: whether the word is other than 0, or is 0.
static std::string setPredicate(const std::string &word, bool isInverted = false) {
  return std::string(".reg .pred p; setp.") + (isInverted ? "eq" : "ne") + ".b32 p, " + word +
         ", 0; ";
}

std::string mk::thread::underPredicate(int64_t number, bool isInverted,
                                       const std::string &instruction) {
  return "{ " + setPredicate("$" + std::to_string(number), isInverted) + "@p " + instruction + " }";
}

/// An instruction that combines the predicates that operand `number` is other than 0, of several
/// threads, to the result.
static std::string combinePredicates(int64_t number, const std::string &instruction) {
  return "{ " + setPredicate("$" + std::to_string(number)) + instruction +
         " selp.b32 $0, 1, 0, p; }";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

// nvvm.wgmma.mma_async has its scale as an attribute only and takes both operands from shared
// memory only; kernels need a scale at run time and a left operand in registers. Accumulators are
// tied operands, since the instruction reads and writes them. What is added to a descriptor is
// added here: LLVM would keep each sum through the loop, in two registers.
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
  std::string text = "{ " + before + setPredicate(scale) + "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(op.getN()) + "k" + std::to_string(op.getK()) + ".f32." +
                     op.getLeftType().str() + "." + op.getRightType().str() + " " +
                     listOperands(0, numAcc) + ", " + left + ", " + right + ", p, 1, 1";
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

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

// ptxas divides 64-bit integers in a subroutine, whose registers a producer of 24 or 40 does not
// have. Items and tiles are counted below 2^32, as a rule: one 32-bit division. What is larger
// takes a bit at a time, in few registers. All lanes divide the same numbers; the votes tell ptxas
// that none goes astray, or it would keep what follows out of uniform registers. Neither LLVM IR
// nor scf can say that the loop is not to be unrolled, on the way through upstream passes.
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

void mk::thread::addPredicatePatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<WgmmaOp>(patterns, lowerWgmma);
  addPattern<DivideOp>(patterns, [](DivideOp op, Ptx &ptx) {
    return ptx.run(kDivide, op.getType(), op->getOperands(), /*touchesMemory=*/false);
  });
  addPattern<SyncOrOp>(patterns, [](SyncOrOp op, Ptx &ptx) {
    std::string threads = std::to_string(int64_t(op.getThreads()));
    return ptx.run(
        combinePredicates(2, "barrier.cta.red.or.aligned.pred p, $1, " + threads + ", p;"),
        op.getType(), {op.getId(), op.getWord()});
  });
  addPattern<AnyOp>(patterns, [](AnyOp op, Ptx &ptx) {
    return ptx.run(combinePredicates(1, "vote.sync.any.pred p, p, 0xffffffff;"), op.getType(),
                   op.getWord());
  });
  addPattern<FailUnlessOp>(patterns, [frame](FailUnlessOp op, Ptx &ptx) {
    ReportAttr report = op.getReport();
    return ptx.run(underPredicate(0, /*isInverted=*/true,
                                  "st.volatile.shared.b32 [" + frame.failed() + "], " +
                                      std::to_string(report.getKind() | report.getRole() << 8) +
                                      ";"),
                   {}, op.getHolds());
  });
}
