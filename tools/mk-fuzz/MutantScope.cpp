//===- MutantScope.cpp - The part of a file that is a kernel --------------===//
#include "Mutants.h"
#include "mkernel/Target/Host/Metadata.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

namespace {
struct Named {
  const char *name, *text;
};
constexpr Named kNames[kMutantKinds] = {
    {"wait-removed", "a wait is not there"},
    {"wait-lowered", "a wait asks for one arrival less"},
    {"wait-late", "a wait stands behind the access that it guards"},
    {"count-lowered", "a counter, a number of items or an amount is one less"},
    {"signal-before-put", "the signal of a put or store is raised before it"},
    {"signal-split", "a signal of its own behind a put, which does not cover it"},
    {"strength-exchanged", "a strong signal is weak"},
    {"release-early", "a signal, count or push stands before the access it tells of"},
    {"index-swapped", "two indices of a signal, counter or record change places"},
    {"index-changed", "an index of a signal, counter or record is another one"},
    {"offset-swapped", "two offsets of a load, store or put change places"},
    {"offset-changed", "an offset of a load, store or put is another one"},
    {"peer-changed", "another rank, or another axis of ranks"},
    {"slot-shared", "all items use one place of a scratch buffer"},
    {"settle-removed", "the source of a put is free before it has been read"},
    {"fence-exchanged", "a fence for a settle, a settle for a fence, or no fence"},
    {"prepare-late", "what mk.prepare does is done by a role, or not at all"},
    {"arrivals-changed", "a signal is declared with one arrival more or less"},
    {"arrival-dropped", "a put, store or signal raises nothing"},
    {"arrival-doubled", "a signal is raised twice"},
};
} // namespace

StringRef fuzz::toString(MutantKind kind) {
  return kNames[static_cast<size_t>(kind)].name;
}
StringRef fuzz::describe(MutantKind kind) {
  return kNames[static_cast<size_t>(kind)].text;
}
//===----------------------------------------------------------------------===//
// Scope
//===----------------------------------------------------------------------===//

static void addReachable(Operation *from, llvm::SetVector<func::FuncOp> &set) {
  auto module = from->getParentOfType<ModuleOp>();
  from->walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && set.insert(callee))
      addReachable(callee, set);
  });
}

MutantScope::MutantScope(ModuleOp file, StringRef name)
    : module(file.clone()) {
  for (KernelOp each : llvm::to_vector(module->getOps<KernelOp>()))
    if (each.getSymName() == name)
      kernel = each;
    else
      each.erase();
  separateFromReference();
  llvm::SetVector<func::FuncOp> reachable;
  addReachable(kernel, reachable);
  // In their order in the file.
  for (auto function : module->getOps<func::FuncOp>())
    if (reachable.contains(function))
      functions.push_back(function);
  auto add = [&](Operation *op) { ops.push_back(op); };
  kernel->walk<WalkOrder::PreOrder>(add);
  for (func::FuncOp function : functions)
    function->walk<WalkOrder::PreOrder>(add);
}

void MutantScope::separateFromReference() {
  llvm::SetVector<func::FuncOp> ofKernel, ofReference;
  addReachable(kernel, ofKernel);
  // Those of other kernels in the file are left as they are.
  for (auto function : module->getOps<func::FuncOp>())
    if (!ofKernel.contains(function)) {
      ofReference.insert(function);
      addReachable(function, ofReference);
    }
  llvm::StringMap<std::string> copies;
  SmallVector<Operation *> callers{kernel};
  for (func::FuncOp function : ofKernel) {
    if (!ofReference.contains(function)) {
      callers.push_back(function);
      continue;
    }
    OpBuilder b(function);
    auto copy = cast<func::FuncOp>(b.clone(*function));
    copy.setName((function.getName() + "_in_kernel").str());
    copies[function.getName()] = copy.getName().str();
    callers.push_back(copy);
  }
  for (Operation *caller : callers)
    caller->walk([&](func::CallOp call) {
      if (auto it = copies.find(call.getCallee()); it != copies.end())
        call.setCallee(it->second);
    });
}

func::FuncOp MutantScope::calleeOf(func::CallOp call) {
  return getModule().lookupSymbol<func::FuncOp>(call.getCallee());
}

MutantScope::Summary MutantScope::summarize(Operation *root) {
  Summary sum;
  root->walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = calleeOf(call);
      if (!callee)
        return;
      auto [it, added] = summaries.try_emplace(callee, Summary{});
      if (added) {
        Summary inner = summarize(callee);
        summaries[callee] = inner;
      }
      Summary inner = summaries[callee];
      sum.accesses |= inner.accesses;
      sum.waits |= inner.waits;
      sum.releases |= inner.releases;
    }
    sum.accesses |=
        isa<LoadOp, StoreOp, PutOp, memref::LoadOp, memref::StoreOp>(op);
    sum.waits |= isa<WaitOp, SettleOp, ForeachItemOp>(op);
    sum.releases |= isa<SignalOp, CountOp, PushOp>(op);
  });
  return sum;
}

SmallVector<Value> MutantScope::aliasesOf(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      if (auto call = dyn_cast<func::CallOp>(use.getOwner())) {
        if (func::FuncOp callee = calleeOf(call))
          values.insert(callee.getArgument(use.getOperandNumber()));
      } else if (auto choice = dyn_cast<SelectOp>(use.getOwner())) {
        values.insert(choice.getResult());
      }
    }
  return values.takeVector();
}

SmallVector<IndexList> fuzz::indexListsOf(Operation *op) {
  SmallVector<IndexList> lists;
  auto add = [&](OperandRange range, const char *name, bool memory) {
    if (!range.empty())
      lists.push_back({range.getBeginOperandIndex(),
                       static_cast<unsigned>(range.size()), name, memory});
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    add(load.getOffsets(), "offset", true);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    add(store.getOffsets(), "offset", true);
    add(store.getSignalIndex(), "signal index", false);
  } else if (auto put = dyn_cast<PutOp>(op)) {
    add(put.getSrcOffsets(), "source offset", true);
    add(put.getDstOffsets(), "destination offset", true);
    add(put.getSignalIndex(), "signal index", false);
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    add(load.getIndices(), "index", true);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    add(store.getIndices(), "index", true);
  } else if (auto signal = dyn_cast<SignalOp>(op)) {
    add(signal.getIndex(), "index", false);
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    add(wait.getIndex(), "index", false);
  } else if (auto count = dyn_cast<CountOp>(op)) {
    add(count.getIndex(), "index", false);
  } else if (auto push = dyn_cast<PushOp>(op)) {
    add(push.getRecord(), "word", false);
  }
  return lists;
}

SmallVector<Value> MutantScope::indicesAt(Operation *at) {
  llvm::DenseSet<Value> used;
  for (Operation *op : ops)
    for (IndexList list : indexListsOf(op))
      for (Value value : op->getOperands().slice(list.first, list.size))
        used.insert(value);
  SmallVector<Value> values;
  auto add = [&](Value value) {
    if (isa<IndexType>(value.getType()) && used.contains(value))
      values.push_back(value);
  };
  for (Operation *op = at; op && op->getBlock(); op = op->getParentOp()) {
    if (isa<func::FuncOp, KernelOp>(op))
      break;
    for (Value argument : op->getBlock()->getArguments())
      add(argument);
    for (Operation &before : *op->getBlock()) {
      if (&before == op)
        break;
      for (Value result : before.getResults())
        add(result);
    }
  }
  return values;
}

std::vector<Edit> MutantScope::collect(MutantKind kind) {
  switch (kind) {
  case MutantKind::WaitRemoved:
  case MutantKind::WaitLate:
  case MutantKind::SignalBeforePut:
  case MutantKind::SignalSplit:
  case MutantKind::StrengthExchanged:
  case MutantKind::ReleaseEarly:
  case MutantKind::SettleRemoved:
  case MutantKind::FenceExchanged:
  case MutantKind::PrepareLate:
    return collectOrderEdits(*this, kind);
  case MutantKind::IndexSwapped:
  case MutantKind::IndexChanged:
  case MutantKind::OffsetSwapped:
  case MutantKind::OffsetChanged:
  case MutantKind::PeerChanged:
  case MutantKind::SlotShared:
    return collectPlaceEdits(*this, kind);
  case MutantKind::WaitLowered:
  case MutantKind::CountLowered:
  case MutantKind::ArrivalsChanged:
  case MutantKind::ArrivalDropped:
  case MutantKind::ArrivalDoubled:
    return collectArrivalEdits(*this, kind);
  case MutantKind::Count:
    break;
  }
  return {};
}
