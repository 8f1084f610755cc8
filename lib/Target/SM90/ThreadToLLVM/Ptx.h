//===- Ptx.h - Inline PTX, and patterns that make it --------------*- C++ -*-===//
//
// The instructions that neither LLVM nor NVVM can say, or not as kernels need them, are inline
// PTX. All of it is made in this folder. Why there is no op for it:
//
//   - LLVM may move, merge or drop what it takes for a plain access (polls, words that are
//     read again to save a register, accesses under a predicate);
//   - addresses are numbers at this level, and ops of NVVM take pointers: of barriers, copies and
//     stores, whose text would be the same;
//   - griddepcontrol and wgmma's commit say the wrong thing of memory (LLVM 22): that the first
//     touches none, and the second all;
//   - named barriers, votes and barriers of a cluster have ops that allow other code than is
//     written here (aligned ones, or a predicate that is kept);
//   - nvvm.fence.proxy is moved out of branches, since LLVM does not take it for convergent;
//   - llvm.atomicrmw loses order and scope on the way through the NVPTX backend;
//   - nvvm.wgmma takes no operand in registers and no scale at run time, and ties nothing;
//   - ops for numbers of thread, CTA and SM have no effects: LLVM reads these once and keeps them;
//   - conditions are predicates of single instructions: LLVM would compute an i1 early and keep it;
//   - there is none: for cache policies, st.async, and arithmetic as PTX defines it.
//
// A string is one instruction. Where an op takes several, with branches, these are a routine
// (Blocks.h).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_PTX_H
#define MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_PTX_H

#include "mkernel/Dialect/Thread/Thread.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::mk::thread {

/// What ops of a kernel refer to.
struct Frame {
  mk_thread::FrameAttr attr;
  LLVM::LLVMFuncOp function;
  LLVM::GlobalOp shared;
  std::string params; // the name of the parameters in PTX

  /// In PTX, the address of a byte of shared memory.
  std::string at(int64_t offset) const { return "mk_shared+" + std::to_string(offset); }
  /// That of the word that says that this CTA has failed.
  std::string failed() const { return at(attr.getFailed()); }
};

/// Makes inline PTX at the place of an op.
struct Ptx {
  OpBuilder &b;
  Location loc;

  /// Text with operands $0.. of which the first are the results. Has side effects and, unless
  /// told otherwise, touches memory.
  SmallVector<Value> run(StringRef text, TypeRange results, ValueRange operands,
                         bool touchesMemory = true);
  /// The same with one result, for what LLVM would compute somewhere else.
  Value get(StringRef text, Type result, ValueRange operands = {}, bool touchesMemory = false) {
    return run(text, result, operands, touchesMemory)[0];
  }
  /// A word of the parameters.
  Value loadParam(const Frame &frame, int64_t offset, unsigned bits = 64) {
    return get("ld.param.b" + std::to_string(bits) + " $0, [" + frame.params + "+" +
                   std::to_string(offset) + "];",
               b.getIntegerType(bits));
  }
  /// One whose place is an argument of a routine.
  Value loadParam(const Frame &frame, Value offset) {
    Value params = get("mov.b64 $0, " + frame.params + ";", b.getI64Type());
    return get("ld.param.b64 $0, [$1];", b.getI64Type(), make<arith::AddIOp>(params, offset));
  }
  /// A predicate. There are 7 of them, and LLVM would keep it.
  Value test(StringRef text, ValueRange operands, bool touchesMemory = false) {
    return get(text, b.getI1Type(), operands, touchesMemory);
  }
  /// Whether a word is other than 0, or is 0.
  Value testWord(Value word, bool isInverted = false) {
    return test(isInverted ? "setp.eq.b32 $0, $1, 0;" : "setp.ne.b32 $0, $1, 0;", word);
  }
  /// The same in a routine, whose instructions LLVM leaves where they are.
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return make<arith::CmpIOp>(predicate, a, b);
  }
  Value isSet(Value word) { return compare(arith::CmpIPredicate::ne, word, number(0)); }
  /// A store of a word or of a number, under a predicate if there is one.
  void store(StringRef instruction, Value address, int64_t offset, OpFoldResult value,
             Value predicate = {});
  /// The same for instructions whose result depends on their operands alone.
  Value pure(StringRef text, Type result, ValueRange operands);
  /// An op of arith, or a number.
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return b.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value, unsigned bits = 32) {
    return arith::ConstantIntOp::create(b, loc, value, bits);
  }
  /// An op of NVVM that serves, without results.
  template <typename Op, typename... Args> SmallVector<Value> upstream(Args &&...args) {
    Op::create(b, loc, std::forward<Args>(args)...);
    return {};
  }
  /// Text whose results are tied to the first operands: nothing that reads or writes
  /// these may move across it.
  SmallVector<Value> tied(StringRef text, ValueRange values, ValueRange others = {});
};

/// "{$2, $3}", or "$2": operands from `first` on.
std::string listOperands(int64_t first, int64_t count);

/// A pattern that is a function.
template <typename OpT> class FunctionPattern : public OpRewritePattern<OpT> {
public:
  using Function = std::function<SmallVector<Value>(OpT, Ptx &)>;
  FunctionPattern(MLIRContext *context, Function function)
      : OpRewritePattern<OpT>(context), function(std::move(function)) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Ptx ptx{rewriter, op.getLoc()};
    rewriter.replaceOp(op, function(op, ptx));
    return success();
  }

private:
  Function function;
};

/// Adds a pattern for OpT: `function` makes what stands for its results.
template <typename OpT>
void addPattern(RewritePatternSet &patterns, typename FunctionPattern<OpT>::Function function) {
  patterns.add<FunctionPattern<OpT>>(patterns.getContext(), std::move(function));
}

void addLaunchPatterns(RewritePatternSet &patterns, const Frame &frame);
void addSyncPatterns(RewritePatternSet &patterns);
void addMemoryPatterns(RewritePatternSet &patterns, const Frame &frame);
void addCopyPatterns(RewritePatternSet &patterns);
void addMatrixPatterns(RewritePatternSet &patterns);
void addPredicatePatterns(RewritePatternSet &patterns, const Frame &frame);
void addWaitPatterns(RewritePatternSet &patterns, const Frame &frame);
void addCheckPatterns(RewritePatternSet &patterns, const Frame &frame);
void addSpanPatterns(RewritePatternSet &patterns, const Frame &frame);

} // namespace mlir::mk::thread

#endif // MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_PTX_H
