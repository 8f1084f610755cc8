//===- MutantArrivals.cpp - Mistakes about how many -----------------------===//
#include "Mutants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

namespace {
struct ArrivalCollector {
  MutantScope &scope;
  std::vector<Edit> edits;

  void add(Operation *site, const Twine &what, std::function<void()> apply) {
    edits.push_back({site, what.str(), std::move(apply)});
  }

  /// An operand that is a number becomes larger or smaller.
  void number(Operation *op, unsigned at, const Twine &name, int64_t by) {
    add(op, name + (by < 0 ? " less " : " plus ") + Twine(std::abs(by)), [op, at, by] {
      OpBuilder b(op);
      Location loc = op->getLoc();
      Value more = arith::ConstantIndexOp::create(b, loc, by);
      op->setOperand(at, arith::AddIOp::create(b, loc, op->getOperand(at), more));
    });
  }

  /// A signal's type changes wherever the signal is known by a name of its own.
  void retype(SignalsOp signals, int64_t arrivals) {
    auto old = cast<SignalType>(signals.getResult().getType());
    add(signals, "arrivals = " + Twine(arrivals), [&scope = scope, signals, old, arrivals]() mutable {
      auto type = SignalType::get(old.getContext(), old.getShape(), old.getScope(),
                                  arrivals);
      llvm::SetVector<Value> values;
      values.insert(signals.getResult());
      // Up from arguments to all callers as well: their types have to agree.
      for (size_t i = 0; i < values.size(); ++i) {
        for (Value alias : scope.aliasesOf(values[i]))
          values.insert(alias);
        auto argument = dyn_cast<BlockArgument>(values[i]);
        auto function = argument ? dyn_cast<func::FuncOp>(
                                       argument.getOwner()->getParentOp())
                                 : func::FuncOp();
        if (function)
          for (Operation *op : scope.getOps())
            if (auto call = dyn_cast<func::CallOp>(op);
                call && call.getCallee() == function.getName())
              values.insert(call.getOperand(argument.getArgNumber()));
      }
      for (Value value : values)
        value.setType(type);
      for (Operation *op : scope.getOps())
        if (auto function = dyn_cast<func::FuncOp>(op))
          function.setFunctionType(
              FunctionType::get(op->getContext(),
                                function.getBody().getArgumentTypes(),
                                function.getResultTypes()));
    });
  }

  template <typename Op> void arrivals(Op op, MutantKind kind) {
    if (!op.getSignal())
      return;
    if (kind == MutantKind::ArrivalDropped)
      return add(op, "raises nothing", [op]() mutable {
        op.getSignalMutable().clear();
        op.getSignalIndexMutable().clear();
        op.setStrong(false);
      });
    add(op, "raises its signal twice", [op]() mutable {
      OpBuilder b(op);
      b.setInsertionPointAfter(op);
      SignalOp::create(b, op.getLoc(), op.getSignal(), op.getSignalIndex(),
                       op.getPeer(), /*amount=*/1, /*strong=*/true);
    });
  }

  void run(MutantKind kind) {
    for (Operation *op : scope.getOps()) {
      if (kind == MutantKind::WaitLowered) {
        auto wait = dyn_cast<WaitOp>(op);
        // From 1 to 0 is the same as no wait.
        APInt count;
        if (wait && !(matchPattern(wait.getCount(), m_ConstantInt(&count)) &&
                      count.sle(1)))
          number(op, wait->getNumOperands() - 1, "count", -1);
      } else if (kind == MutantKind::CountLowered) {
        if (auto count = dyn_cast<CountOp>(op)) {
          number(op, count->getNumOperands() - 1, "amount", -1);
        } else if (auto items = dyn_cast<ForeachItemOp>(op)) {
          number(op, 1, "count", -1);
        } else if (auto signal = dyn_cast<SignalOp>(op)) {
          if (signal.getAmount() > 1)
            add(op, "amount less 1", [signal]() mutable {
              signal.setAmount(signal.getAmount() - 1);
            });
        }
      } else if (kind == MutantKind::ArrivalsChanged) {
        auto signals = dyn_cast<SignalsOp>(op);
        if (!signals)
          continue;
        auto type = cast<SignalType>(signals.getResult().getType());
        if (type.hasRuntimeArrivals()) {
          unsigned at = signals->getNumOperands() - 1;
          number(op, at, "arrivals", 1);
          number(op, at, "arrivals", -1);
        } else if (!type.isDynamic()) {
          retype(signals, type.getArrivals() + 1);
          if (type.getArrivals() > 1)
            retype(signals, type.getArrivals() - 1);
        }
      } else {
        if (auto put = dyn_cast<PutOp>(op))
          arrivals(put, kind);
        else if (auto store = dyn_cast<StoreOp>(op))
          arrivals(store, kind);
        else if (isa<SignalOp>(op) && kind == MutantKind::ArrivalDropped)
          add(op, "removed", [op] { op->erase(); });
        else if (isa<SignalOp>(op))
          add(op, "raised twice", [op] { OpBuilder(op).clone(*op); });
      }
    }
  }
};
} // namespace

std::vector<Edit> fuzz::collectArrivalEdits(MutantScope &scope, MutantKind kind) {
  ArrivalCollector collector{scope, {}};
  collector.run(kind);
  return std::move(collector.edits);
}
