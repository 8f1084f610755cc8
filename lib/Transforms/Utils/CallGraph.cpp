//===- CallGraph.cpp - What calls grow to when they are inlined -----------===//
#include "mkernel/Transforms/CallGraph.h"
#include "mkernel/Support/Checked.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
struct CallGraph {
  ModuleOp module;
  const Twine &what;
  DenseMap<Operation *, int64_t> sizes; // -1: being counted

  /// Nesting of helper functions that no honest file reaches.
  static constexpr unsigned kMaxDepth = 64;

  FailureOr<int64_t> count(Operation *root, unsigned depth = 0) {
    auto [it, isNew] = sizes.try_emplace(root, -1);
    if (!isNew)
      return it->second;
    int64_t total = 0;
    SmallVector<func::CallOp> calls;
    root->walk([&](Operation *op) {
      ++total;
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
    });
    if (total > kMaxInlinedOps)
      return root->emitError() << what << " has more than " << kMaxInlinedOps << " ops: use loops";
    for (func::CallOp call : calls) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue; // inlining says so
      if (depth == kMaxDepth)
        return call.emitOpError() << "calls @" << call.getCallee() << " through more than "
                                  << kMaxDepth << " functions: call fewer in a row";
      FailureOr<int64_t> size = count(callee, depth + 1);
      if (failed(size))
        return failure();
      if (*size < 0)
        return call.emitOpError() << "calls @" << call.getCallee() << " recursively; functions of "
                                  << what << " are inlined and cannot recurse";
      total = mkernel::checked::add(total, *size).value_or(INT64_MAX);
      if (total > kMaxInlinedOps)
        return call.emitOpError()
               << "calls @" << call.getCallee() << ", with which " << what
               << " would have more than " << kMaxInlinedOps
               << " ops when all calls are inlined: call fewer functions, or use a loop";
    }
    return sizes[root] = total;
  }
};
} // namespace

LogicalResult mk::verifyInlinedSize(ModuleOp module, Operation *root, const Twine &what) {
  return CallGraph{module, what, DenseMap<Operation *, int64_t>()}.count(root);
}
