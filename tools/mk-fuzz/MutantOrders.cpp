//===- MutantOrders.cpp - Mistakes about what is before what --------------===//
#include "Mutants.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

namespace {
struct OrderCollector {
  MutantScope &scope;
  std::vector<Edit> edits;

  void add(Operation *site, const Twine &what, std::function<void()> apply) {
    edits.push_back({site, what.str(), std::move(apply)});
  }

  void removal(Operation *op) {
    add(op, "removed", [op] { op->erase(); });
  }

  /// A wait, or an scf.if with waits alone, goes behind the next access.
  void late(Operation *op) {
    MutantScope::Summary own = scope.summarize(op);
    bool alone = isa<WaitOp>(op) || isa<scf::IfOp>(op);
    if (!alone || !own.waits || own.accesses || own.releases ||
        op->getNumResults())
      return;
    for (Operation *next = op->getNextNode();
         next && !next->hasTrait<OpTrait::IsTerminator>();
         next = next->getNextNode())
      if (scope.summarize(next).accesses)
        return add(op, "moved behind '" + next->getName().getStringRef() + "'",
                   [op, next] { op->moveAfter(next); });
  }

  /// The signal of a put or store as an op of its own, before or behind it.
  template <typename Op> void split(Op op, bool before) {
    if (!op.getSignal())
      return;
    add(op, before ? "its signal raised before it" : "its signal split off",
        [op, before]() mutable {
          OpBuilder b(op);
          if (!before)
            b.setInsertionPointAfter(op);
          SignalOp::create(b, op.getLoc(), op.getSignal(), op.getSignalIndex(),
                           op.getPeer(), /*amount=*/1, /*strong=*/false);
          op.getSignalMutable().clear();
          op.getSignalIndexMutable().clear();
          op.setStrong(false);
        });
  }

  /// What tells others, and the scalars that it needs, go before accesses.
  void early(Operation *op) {
    MutantScope::Summary own = scope.summarize(op);
    if (!own.releases || own.accesses || own.waits ||
        !isa<SignalOp, CountOp, PushOp, scf::IfOp, func::CallOp, ForeachPeerOp>(op))
      return;
    SmallVector<Operation *> moved{op};
    auto needs = [&](Operation *before) {
      return llvm::any_of(moved, [&](Operation *each) {
        bool found = false;
        each->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            found |= operand.getDefiningOp() == before;
        });
        return found;
      });
    };
    unsigned passed = 0;
    for (Operation *to = op->getPrevNode(); to; to = to->getPrevNode()) {
      MutantScope::Summary other = scope.summarize(to);
      bool effects = other.accesses || other.waits;
      if (needs(to)) {
        if (effects || other.releases || !isMemoryEffectFree(to))
          return;
        moved.push_back(to);
        continue;
      }
      if (!effects)
        continue;
      add(op, "moved before '" + to->getName().getStringRef() + "'",
          [moved, to] {
            for (Operation *each : llvm::reverse(moved))
              each->moveBefore(to);
          });
      if (++passed == 2)
        return;
    }
  }

  template <typename Op> void weaken(Op op) {
    if (op.getStrong())
      add(op, "weak", [op]() mutable { op.setStrong(false); });
  }

  template <typename To> void exchange(Operation *op) {
    add(op, "becomes '" + To::getOperationName() + "'", [op] {
      OpBuilder b(op);
      To::create(b, op->getLoc());
      op->erase();
    });
  }

  void prepare(PrepareOp op) {
    removal(op);
    for (RoleOp role : scope.getKernel().getBody().getOps<RoleOp>())
      add(op, "moved into role '" + role.getSymName() + "'", [op, role]() mutable {
        Block &to = role.getBody().front();
        to.getOperations().splice(to.begin(),
                                  op.getBody().front().getOperations());
        op->erase();
      });
  }

  void run(MutantKind kind) {
    for (Operation *op : scope.getOps()) {
      auto put = dyn_cast<PutOp>(op);
      auto store = dyn_cast<StoreOp>(op);
      auto signal = dyn_cast<SignalOp>(op);
      if (kind == MutantKind::WaitRemoved) {
        if (isa<WaitOp>(op))
          removal(op);
      } else if (kind == MutantKind::WaitLate) {
        late(op);
      } else if (kind == MutantKind::SignalBeforePut ||
                 kind == MutantKind::SignalSplit) {
        bool before = kind == MutantKind::SignalBeforePut;
        if (put)
          split(put, before);
        if (store)
          split(store, before);
      } else if (kind == MutantKind::StrengthExchanged) {
        if (put)
          weaken(put);
        if (store)
          weaken(store);
        if (signal)
          weaken(signal);
      } else if (kind == MutantKind::ReleaseEarly) {
        early(op);
      } else if (kind == MutantKind::SettleRemoved) {
        if (isa<SettleOp>(op))
          removal(op);
      } else if (kind == MutantKind::FenceExchanged) {
        if (isa<SettleOp>(op))
          exchange<FenceOp>(op);
        if (isa<FenceOp>(op)) {
          exchange<SettleOp>(op);
          removal(op);
        }
      } else if (kind == MutantKind::PrepareLate) {
        if (auto found = dyn_cast<PrepareOp>(op))
          prepare(found);
      }
    }
  }
};
} // namespace

std::vector<Edit> fuzz::collectOrderEdits(MutantScope &scope, MutantKind kind) {
  OrderCollector collector{scope, {}};
  collector.run(kind);
  return std::move(collector.edits);
}
