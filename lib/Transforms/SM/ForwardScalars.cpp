//===- ForwardScalars.cpp - What of an item the producer finds for all ----===//
//
// Both partitions of a role compute where their item lies. Where that takes a search in memory, as
// for the group that a tile of a grouped product is in, the consumer would stand still for it in
// front of each item, while the producer has done the same ahead.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kForwardScalars = "mk-sm-forward-scalars";

/// Whether the op, and what is in it, has no effects but of ops that `mayHave` takes.
static bool onlyComputes(Operation *op, function_ref<bool(Operation *)> mayHave) {
  return !mk::holdsAny(op, [&](Operation *inner) {
    return !mayHave(inner) && !inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
           !isMemoryEffectFree(inner);
  });
}

/// Whether the op computes scalars from others and from what no kernel writes.
static bool isScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndex(); };
  return op->getNumResults() && llvm::all_of(op->getResultTypes(), isScalar) &&
         onlyComputes(op, [](Operation *inner) {
           auto load = dyn_cast<memref::LoadOp>(inner);
           return load && mk::isNeverWritten(load.getMemRef());
         });
}

/// Whether it takes many accesses to memory, one after the other.
static bool isSearch(Operation *op) {
  return op->getNumRegions() && isScalarOp(op) && mk::holds<memref::LoadOp>(op);
}

/// Whether the consumer computes this itself, from operands that it gets: what is no index, which
/// mailboxes hold, and multiples, of which passes behind this one know that they are some.
static bool isRecomputed(Operation *op) {
  return op->getNumRegions() == 0 && !isa<memref::LoadOp>(op) &&
         (!op->getResult(0).getType().isIndex() ||
          (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_Constant())));
}

/// Whether the producer alone needs to know where the op's tile lies.
static bool isFetched(Operation *op) {
  auto load = dyn_cast<mk::LoadOp>(op);
  return load && !load->use_empty() &&
         (load.getStaged() || llvm::all_of(load->getUses(), [](OpOperand &use) {
            return isa<mk::DotOp>(use.getOwner()) && use.getOperandNumber() < 2; // no accumulator
          }));
}

/// Whether the loop's item follows from what it draws, as in loops over tickets.
static bool followsFromDraws(scf::WhileOp loop) {
  auto isDrawn = [](Operation &op) { return onlyComputes(&op, llvm::IsaPred<TicketOp, PopOp>); };
  return llvm::all_of(*loop.getBeforeBody(), isDrawn) &&
         llvm::all_of(loop.getInits(),
                      [](Value init) {
                        return matchPattern(init, m_Constant()) ||
                               init.getDefiningOp<InitialItemOp>();
                      }) &&
         llvm::all_of(loop.getYieldOp().getResults(),
                      [](Value next) { return matchPattern(next, m_Constant()); });
}

namespace {
/// The scalars of an item that follow from a search.
class ItemScalars {
public:
  ItemScalars(Block &item, Region &role) : item(item), role(role) {
    for (Operation &op : item.without_terminator())
      if (isSearch(&op) || (isScalarOp(&op) && anyOperand(&op, [&](Value operand) {
                              return found.contains(operand.getDefiningOp());
                            })))
        found.insert(&op);
  }

  bool empty() const { return found.empty(); }

  /// Leaves to the consumer what it has to compute itself; false if it would have to search.
  bool leaveToConsumer() {
    SmallVector<Operation *> all(found.getArrayRef());
    for (Operation *op : llvm::reverse(all)) {
      bool needed = llvm::any_of(op->getResults(), [&](Value value) { return isNeeded(value); });
      if (!needed)
        continue;
      if (isRecomputed(op)) {
        found.remove(op);
        recomputed.insert(op);
      } else if (llvm::any_of(op->getResults(), [&](Value value) {
                   return !value.getType().isIndex() && isNeeded(value);
                 })) {
        return false;
      }
    }
    return true;
  }

  /// Whether all of it follows from items and from what no kernel writes.
  bool isKnownAhead() {
    auto draws = dyn_cast<scf::WhileOp>(item.getParentOp());
    return (!draws || followsFromDraws(draws)) &&
           llvm::all_of(found, [&](Operation *op) { return hasKnownOperands(op); });
  }

  /// Inserts ops that hand over what is needed, each in front of the first op that needs any.
  /// Gives the number of scalars; none if they are too many for a mailbox.
  std::optional<size_t> forward() {
    SmallVector<std::pair<Operation *, SmallVector<Value>>> messages;
    SmallVector<Value> ready;
    DenseSet<Operation *> waiting; // recomputed, from some of these
    for (Operation &op : item) {
      if (found.contains(&op)) {
        for (Value result : op.getResults())
          if (isNeeded(result))
            ready.push_back(result);
      } else if (!ready.empty() && dependsOn(&op, ready, waiting)) {
        if (recomputed.contains(&op)) {
          waiting.insert(&op);
          continue;
        }
        if (ready.size() > MailboxType::kMostWords)
          return std::nullopt;
        messages.emplace_back(&op, std::move(ready));
        ready.clear();
        waiting.clear();
      }
    }
    size_t number = 0;
    for (auto &[before, values] : messages) {
      insert(before, values);
      number += values.size();
    }
    return number;
  }

private:
  template <typename Fn> static bool anyOperand(Operation *op, Fn is) {
    return mk::holdsAny(op,
                        [&](Operation *inner) { return llvm::any_of(inner->getOperands(), is); });
  }

  /// Whether the consumer needs the value for more than to compute found scalars.
  bool isNeeded(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !isFetched(user) && !found.contains(item.findAncestorOpInBlock(*user));
    });
  }

  bool hasKnownOperands(Operation *op) {
    auto [it, isNew] = known.try_emplace(op, false);
    if (!isNew)
      return it->second;
    bool result = !anyOperand(op, [&](Value operand) {
      return !op->isAncestor(operand.getParentRegion()->getParentOp()) && !isKnown(operand);
    });
    return known[op] = result;
  }
  bool isKnown(Value value) {
    if (!role.isAncestor(value.getParentRegion()))
      return true;
    Operation *def = value.getDefiningOp();
    if (!def)
      return value.getParentBlock() == &item;
    return isa<TicketOp, PopOp>(def) || (isScalarOp(def) && hasKnownOperands(def));
  }

  static bool dependsOn(Operation *op, ArrayRef<Value> values, const DenseSet<Operation *> &ops) {
    return anyOperand(op, [&](Value operand) {
      return llvm::is_contained(values, operand) || ops.contains(operand.getDefiningOp());
    });
  }

  void insert(Operation *before, ArrayRef<Value> values) {
    OpBuilder b(before);
    auto forward = ForwardOp::create(b, values.front().getLoc(), values);
    IRMapping mapping;
    mapping.map(values, forward.getResults());
    DenseSet<Operation *> cloned;
    for (Operation &op : llvm::make_early_inc_range(item)) {
      if (&op == forward)
        break;
      if (!recomputed.contains(&op) || !dependsOn(&op, values, cloned))
        continue;
      b.clone(op, mapping);
      cloned.insert(&op);
    }
    for (auto [from, to] : mapping.getValueMap())
      from.replaceUsesWithIf(to, [&](OpOperand &use) {
        Operation *user = item.findAncestorOpInBlock(*use.getOwner());
        return user == before || before->isBeforeInBlock(user);
      });
  }

  Block &item;
  Region &role;
  llvm::SetVector<Operation *> found;
  DenseSet<Operation *> recomputed;
  DenseMap<Operation *, bool> known; // by hasKnownOperands
};
} // namespace

/// The loop's body, if its iterations are items of a CTA.
static Block *getItem(Operation *loop) {
  if (auto items = dyn_cast<ItemsOp>(loop))
    return &items.getBody().front();
  auto draws = dyn_cast<scf::WhileOp>(loop);
  return draws && drawsItems(draws) ? draws.getAfterBody() : nullptr;
}

void mk_sm::forwardScalars(mk::RoleOp role) {
  role.walk([&](Operation *loop) {
    Block *item = getItem(loop);
    if (!item)
      return;
    ItemScalars scalars(*item, role.getBody());
    if (scalars.empty())
      return;
    if (auto items = dyn_cast<ItemsOp>(loop); items && items.getTeams() > 1) {
      missed(loop, kForwardScalars) << "has teams, each of which searches for its items: what is "
                                       "sent goes to all threads of a consumer";
    } else if (!scalars.isKnownAhead() || !scalars.leaveToConsumer()) {
      missed(loop, kForwardScalars)
          << "searches in memory in both partitions: what is searched for must follow from the "
             "item and from what no kernel writes, and be of type index";
    } else if (std::optional<size_t> number = scalars.forward()) {
      if (*number)
        passed(loop, kForwardScalars) << remark::add(
            "lets the producer search alone, which then sends {0} scalars of each item", *number);
    } else {
      missed(loop, kForwardScalars)
          << remark::add("searches in memory in both partitions: more than {0} scalars of an item "
                         "follow from it",
                         MailboxType::kMostWords);
    }
  });
}
