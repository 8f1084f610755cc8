//===- FunctionPass.h - Passes that are functions -------------*- C++ -*-===//
#ifndef MKERNEL_TRANSFORMS_FUNCTIONPASS_H
#define MKERNEL_TRANSFORMS_FUNCTIONPASS_H

#include "mlir/Pass/Pass.h"

namespace mlir::mk {

/// The class of a pass without options, made from what TableGen has of it and from a function of
/// the op that it runs on, or of each op of a kind in there, which may fail. A second parameter is
/// an analysis of an op in there, which the analysis manager has. An explicit instantiation defines
/// `create...Pass`, behind the pass's GEN_PASS_DEF.
template <template <typename> typename BaseT, auto run>
struct FunctionPass : BaseT<FunctionPass<BaseT, run>> {
  void runOnOperation() override { visit(run); }

private:
  template <typename ResultT, typename OpT> void visit(ResultT (*function)(OpT)) {
    visitEach<OpT>([&](OpT op) -> ResultT { return function(op); });
  }
  template <typename ResultT, typename OpT, typename AnalysisT>
  void visit(ResultT (*function)(OpT, AnalysisT &)) {
    visitEach<OpT>([&](OpT op) -> ResultT {
      return function(op, this->template getChildAnalysis<std::remove_const_t<AnalysisT>>(op));
    });
  }

  template <typename OpT, typename FunctionT> void visitEach(FunctionT function) {
    auto call = [&](OpT op) -> WalkResult {
      if constexpr (std::is_void_v<std::invoke_result_t<FunctionT, OpT>>)
        return function(op), success();
      else
        return function(op);
    };
    if (this->getOperation()->walk(call).wasInterrupted())
      this->signalPassFailure();
  }
};

} // namespace mlir::mk

#endif // MKERNEL_TRANSFORMS_FUNCTIONPASS_H
