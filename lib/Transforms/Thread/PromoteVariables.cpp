//===- PromoteVariables.cpp - Variables become values ---------------------===//
//
// MLIR's mem2reg does not look into loops and branches of scf. These are rebuilt here from the
// outside in, with one more value for each variable that they change. Where a variable is loaded
// behind an op follows from the order of the program: each block is walked once.
//
//===----------------------------------------------------------------------===//
#include "Expand.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::mk_thread;

namespace {
using Variables = SmallVector<LLVM::AllocaOp>;

/// The variables of one kernel, and what each holds where the walk is.
class Promotion {
public:
  explicit Promotion(KernelOp kernel) : rewriter(kernel.getContext()), kernel(kernel) {}
  void run();

private:
  /// Variables that the op's regions store, and that are loaded there (`inside`), outside of it, or
  /// in the next iteration of a loop around it.
  Variables findChanged(Operation *op, bool inside);
  SmallVector<Value> read(const Variables &from);
  void write(const Variables &to, ValueRange written);

  void visitBlock(Block &block);
  /// Visits a region that begins with `first` in the variables, as its last arguments if it has
  /// them; its terminator gives them as well.
  void visitRegion(Region &region, const Variables &changed, bool hasArguments);
  void visitFor(scf::ForOp op);
  void visitWhile(scf::WhileOp op);
  void visitIf(scf::IfOp op);

  IRRewriter rewriter;
  KernelOp kernel;
  SmallVector<LLVM::AllocaOp> variables;
  DenseMap<Operation *, Value> values;
  /// Variables that a loop around the walk carries.
  DenseSet<Operation *> carried;
};
} // namespace

/// Whether all uses are loads and stores of the whole variable.
static bool isVariable(LLVM::AllocaOp op) {
  Type type = op.getElemType();
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    if (auto load = dyn_cast<LLVM::LoadOp>(use.getOwner()))
      return load.getType() == type && !load.getVolatile_();
    auto store = dyn_cast<LLVM::StoreOp>(use.getOwner());
    return store && store.getValue() != op.getResult() && store.getValue().getType() == type &&
           !store.getVolatile_();
  });
}

/// Whether it is used in loops and branches of scf only, and in the kernel itself.
static bool isRebuilt(LLVM::AllocaOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *up = user->getParentOp();
    while (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(up))
      up = up->getParentOp();
    return up == op->getParentOp();
  });
}

Variables Promotion::findChanged(Operation *op, bool inside) {
  Variables changed;
  for (LLVM::AllocaOp variable : variables) {
    bool isStored = false, isLoaded = carried.contains(variable);
    for (Operation *user : variable->getUsers()) {
      bool isInside = op->isProperAncestor(user);
      isStored |= isInside && isa<LLVM::StoreOp>(user);
      isLoaded |= (inside || !isInside) && isa<LLVM::LoadOp>(user);
    }
    if (isStored && isLoaded)
      changed.push_back(variable);
  }
  return changed;
}

SmallVector<Value> Promotion::read(const Variables &from) {
  return llvm::map_to_vector(from, [&](LLVM::AllocaOp variable) { return values[variable]; });
}

void Promotion::write(const Variables &to, ValueRange written) {
  for (auto [variable, value] : llvm::zip_equal(to, written))
    values[variable] = value;
}

void Promotion::visitRegion(Region &region, const Variables &changed, bool hasArguments) {
  Block &block = region.front();
  if (hasArguments)
    for (LLVM::AllocaOp variable : changed)
      values[variable] = block.addArgument(variable.getElemType(), variable.getLoc());
  visitBlock(block);
  Operation *end = block.getTerminator();
  end->insertOperands(end->getNumOperands(), read(changed));
}

/// `before`, then the types of the variables.
static SmallVector<Type> appendTypes(TypeRange before, const Variables &changed) {
  SmallVector<Type> types(before);
  for (LLVM::AllocaOp variable : changed)
    types.push_back(variable.getElemType());
  return types;
}

/// `op` stands for `old`, with as many results more as there are variables; gives those.
static ResultRange replace(IRRewriter &rewriter, Operation *old, Operation *op) {
  op->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  unsigned known = old->getNumResults();
  rewriter.replaceOp(old, op->getResults().take_front(known));
  return op->getResults().drop_front(known);
}

void Promotion::visitFor(scf::ForOp op) {
  Variables changed = findChanged(op, /*inside=*/true);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits(op.getInitArgs());
  llvm::append_range(inits, read(changed));
  auto loop = scf::ForOp::create(rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                 op.getStep(), inits);
  if (!op.getBody()->mightHaveTerminator())
    rewriter.setInsertionPointToEnd(op.getBody()), scf::YieldOp::create(rewriter, op.getLoc());
  loop.getRegion().takeBody(op.getRegion());
  llvm::SaveAndRestore outer(carried);
  DenseMap<Operation *, Value> before = values;
  carried.insert_range(changed);
  visitRegion(loop.getRegion(), changed, /*hasArguments=*/true);
  values = before;
  write(changed, replace(rewriter, op, loop));
}

void Promotion::visitWhile(scf::WhileOp op) {
  Variables changed = findChanged(op, /*inside=*/true);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits(op.getInits());
  llvm::append_range(inits, read(changed));
  auto loop =
      scf::WhileOp::create(rewriter, op.getLoc(), appendTypes(op.getResultTypes(), changed), inits);
  loop.getBefore().takeBody(op.getBefore());
  loop.getAfter().takeBody(op.getAfter());
  llvm::SaveAndRestore outer(carried);
  DenseMap<Operation *, Value> before = values;
  carried.insert_range(changed);
  for (Region *region : {&loop.getBefore(), &loop.getAfter()})
    visitRegion(*region, changed, /*hasArguments=*/true);
  values = before;
  write(changed, replace(rewriter, op, loop));
}

void Promotion::visitIf(scf::IfOp op) {
  Variables changed = findChanged(op, /*inside=*/false);
  rewriter.setInsertionPoint(op);
  bool otherwise = !op.getElseRegion().empty();
  auto choice = scf::IfOp::create(rewriter, op.getLoc(), appendTypes(op.getResultTypes(), changed),
                                  op.getCondition(), /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  choice.getThenRegion().takeBody(op.getThenRegion());
  if (otherwise)
    choice.getElseRegion().takeBody(op.getElseRegion());
  else if (!changed.empty())
    rewriter.createBlock(&choice.getElseRegion()), scf::YieldOp::create(rewriter, op.getLoc());
  DenseMap<Operation *, Value> before = values;
  for (Region &region : choice->getRegions()) {
    if (!region.empty())
      visitRegion(region, changed, /*hasArguments=*/false);
    values = before;
  }
  write(changed, replace(rewriter, op, choice));
}

void Promotion::visitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      Operation *variable = load.getAddr().getDefiningOp();
      if (values.contains(variable))
        rewriter.replaceOp(load, values[variable]);
    } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
      Operation *variable = store.getAddr().getDefiningOp();
      if (values.contains(variable)) {
        values[variable] = store.getValue();
        rewriter.eraseOp(store);
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      visitFor(loop);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      visitWhile(loop);
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      visitIf(choice);
    }
  }
}

static void keep(LLVM::AllocaOp op, StringRef why) {
  StringRef kernel = op->getParentOfType<KernelOp>().getSymName();
  remark::missed(op.getLoc(), mk_sm::describeRemark("mk-thread-promote-variables", kernel))
      << remark::add("is a variable that stays in memory: {0}", why);
}

void Promotion::run() {
  for (auto op : kernel.getBody().front().getOps<LLVM::AllocaOp>()) {
    auto first = dyn_cast_or_null<LLVM::StoreOp>(op->getNextNode());
    if (!isVariable(op))
      keep(op, "its address is used for more than loads and stores of all of it");
    else if (!isRebuilt(op))
      keep(op, "it is used in a region of an op that is no loop or branch of scf");
    else if (!first || first.getAddr() != op.getResult())
      // Loads before any store have no value; there are none where a variable is stored first.
      keep(op, "it is not stored right behind its declaration");
    else
      variables.push_back(op);
  }
  for (LLVM::AllocaOp variable : variables)
    values[variable] = Value();
  visitBlock(kernel.getBody().front());
  for (LLVM::AllocaOp variable : variables)
    rewriter.eraseOp(variable);
}

void mk_thread::promoteVariables(KernelOp kernel) { Promotion(kernel).run(); }
