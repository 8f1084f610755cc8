//===- LowerPredicates.cpp - Products, votes and divisions ----------------===//
//
// At the thread level conditions are words. As values of LLVM predicates would be computed early
// and kept, and there are 7 of them: each is set in front of the instruction that takes it.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

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
  auto descriptor = [&](Value value, int64_t offset) {
    if (offset)
      value = ptx.get("add.u64 $0, $1, " + std::to_string(offset) + ";", value.getType(), value);
    return operand(value);
  };
  bool isStaged = op.getLeft().size() == 1;
  std::string left;
  if (isStaged) {
    left = descriptor(op.getLeft()[0], op.getLeftOffset());
  } else {
    left = listOperands(next, op.getLeft().size());
    for (Value value : op.getLeft())
      (void)operand(value);
  }
  std::string right = descriptor(op.getRight(), op.getRightOffset());
  Value scale = op.getAccumulate()
                    ? ptx.make<arith::ExtUIOp>(ptx.b.getI32Type(), op.getAccumulate())
                    : ptx.number(ties);
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(op.getN()) + "k" +
                     std::to_string(op.getK()) + ".f32." + op.getLeftType().str() + "." +
                     op.getRightType().str() + " " + listOperands(0, numAcc) + ", " + left + ", " +
                     right + ", " + operand(ptx.testWord(scale)) + ", 1, 1";
  if (op.getK() == 16) {
    if (isStaged)
      text += op.getTransposeLeft() ? ", 1" : ", 0";
    text += op.getTransposeRight() ? ", 1" : ", 0";
  }
  text += ";";
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
// that none goes astray, or it would keep what follows out of uniform registers.
static SmallVector<Value> divide(Ptx &ptx, Value x, Value y) {
  Type i32 = ptx.b.getI32Type(), i64 = ptx.b.getI64Type();
  Value one = ptx.number(1, 64);
  Blocks blocks(ptx, i64);
  Block *large = blocks.add(), *next = blocks.add({i32, i64, i64}), *done = blocks.add();
  auto vote = [&](NVVM::VoteSyncKind kind, Value condition) -> Value {
    return NVVM::VoteSyncOp::create(ptx.b, ptx.loc, ptx.b.getI1Type(), ptx.number(-1), condition,
                                    kind);
  };
  Value upper = ptx.make<arith::ShRUIOp>(ptx.make<arith::OrIOp>(x, y), ptx.number(32, 64));
  Value isLarge = ptx.compare(arith::CmpIPredicate::ne, upper, ptx.number(0, 64));
  blocks.jumpIf(vote(NVVM::VoteSyncKind::any, isLarge), large);
  // A division by zero gives some number: not arith.divui, whose result would be poison.
  Value quotient = ptx.get("div.u32 $0, $1, $2;", i32,
                           {ptx.make<arith::TruncIOp>(i32, x), ptx.make<arith::TruncIOp>(i32, y)});
  blocks.jump(blocks.end, ptx.make<arith::ExtUIOp>(i64, quotient));
  // As many rounds as x has bits, of which a shift by 64 leaves none: LLVM's would be poison. Its
  // ctlz gives 64 bits, PTX's 32.
  blocks.enter(large);
  Value zeros = ptx.get("clz.b64 $0, $1;", i32, x);
  Value bits = ptx.get("shl.b64 $0, $1, $2;", i64, {x, zeros});
  blocks.jump(next, {ptx.make<arith::SubIOp>(ptx.number(64), zeros), bits, ptx.number(0, 64)});
  blocks.enter(next);
  Value count = next->getArgument(0), rest = next->getArgument(2);
  bits = next->getArgument(1);
  Value ends = ptx.compare(arith::CmpIPredicate::eq, count, ptx.number(0));
  blocks.jumpIf(vote(NVVM::VoteSyncKind::all, ends), done);
  rest = ptx.make<arith::OrIOp>(ptx.make<arith::ShLIOp>(rest, one),
                                ptx.make<arith::ShRUIOp>(bits, ptx.number(63, 64)));
  Value goes = ptx.compare(arith::CmpIPredicate::uge, rest, y);
  rest = ptx.make<arith::SelectOp>(goes, ptx.make<arith::SubIOp>(rest, y), rest);
  Value nextBits = ptx.make<arith::OrIOp>(ptx.make<arith::ShLIOp>(bits, one),
                                          ptx.make<arith::ExtUIOp>(i64, goes));
  blocks.repeat(next, {ptx.make<arith::SubIOp>(count, ptx.number(1)), nextBits, rest});
  blocks.enter(done);
  return blocks.finish(bits);
}

void mk::thread::addPredicatePatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<WgmmaOp>(patterns, lowerWgmma);
  addPattern<DivideOp>(patterns, [frame](DivideOp op, Ptx &ptx) {
    Arguments arguments;
    arguments.add(op.getX());
    arguments.add(op.getY());
    return callRoutine(ptx, frame, "divide", arguments, op.getType(),
                       [](Ptx &ptx, ValueRange args) { return divide(ptx, args[0], args[1]); });
  });
  // The result is a word, made of a predicate that is not kept.
  auto toWord = [](Ptx &ptx, Value predicate) -> SmallVector<Value> {
    return {ptx.get("selp.b32 $0, 1, 0, $1;", ptx.b.getI32Type(), predicate)};
  };
  addPattern<SyncOrOp>(patterns, [toWord](SyncOrOp op, Ptx &ptx) {
    std::string threads = std::to_string(int64_t(op.getThreads()));
    return toWord(ptx, ptx.test("barrier.cta.red.or.aligned.pred $0, $1, " + threads + ", $2;",
                                {op.getId(), ptx.testWord(op.getWord())},
                                /*touchesMemory=*/true));
  });
  addPattern<AnyOp>(patterns, [toWord](AnyOp op, Ptx &ptx) {
    return toWord(ptx, ptx.test("vote.sync.any.pred $0, $1, 0xffffffff;",
                                ptx.testWord(op.getWord()), /*touchesMemory=*/true));
  });
}
