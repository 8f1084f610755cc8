//===- InlineCalls.cpp - Inline the functions that kernels call -----------===//
#include "Functions.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/CallGraph.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
struct Inliner {
  ModuleOp module;
  DenseSet<func::FuncOp> inlined = {};

  LogicalResult inlineCall(func::CallOp call, SymbolTableCollection &symbols) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(module, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return call.emitOpError()
             << "calls @" << call.getCallee()
             << ", which has no body here; a kernel can only call functions of its own file";
    if (!callee.getBody().hasOneBlock())
      return call.emitOpError() << "calls @" << call.getCallee()
                                << ", which branches between blocks; use scf.if and scf.for";
    inlined.insert(callee);
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    for (Operation &op : callee.front().without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] :
         llvm::zip(call.getResults(), callee.front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    return success();
  }

  /// Erases the private functions that were inlined and that nothing else needs. Not
  /// left to symbol-dce, which takes the name of a role for a use of a function.
  void eraseInlined() {
    llvm::SmallSetVector<func::FuncOp, 8> unused;
    SmallVector<Operation *> needed;
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && function.isPrivate() && inlined.contains(function))
        unused.insert(function);
      else
        needed.push_back(&op);
    }
    while (!needed.empty())
      needed.pop_back_val()->walk([&](Operation *op) {
        if (isa<RoleOp, CtasOfOp>(op))
          return;
        op->getAttrDictionary().walk([&](FlatSymbolRefAttr name) {
          auto function = module.lookupSymbol<func::FuncOp>(name);
          if (function && unused.remove(function))
            needed.push_back(function);
        });
      });
    for (func::FuncOp function : unused)
      function.erase();
  }

  LogicalResult run() {
    SymbolTableCollection symbols;
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      if (failed(verifyInlinedSize(module, kernel, "a kernel")))
        return failure();
      while (true) {
        SmallVector<func::CallOp> calls;
        kernel.walk([&](func::CallOp call) { calls.push_back(call); });
        if (calls.empty())
          break;
        for (func::CallOp call : calls)
          if (failed(inlineCall(call, symbols)))
            return failure();
      }
    }
    eraseInlined();
    return success();
  }
};
} // namespace

LogicalResult mk::inlineCalls(ModuleOp module) { return Inliner{module}.run(); }
