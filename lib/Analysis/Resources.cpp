//===- Resources.cpp - What a kernel declares, numbered -------------------===//
#include "mkernel/Analysis/Resources.h"

using namespace mlir;
using namespace mlir::mk;

std::optional<unsigned> KernelResources::lookup(Operation *op) const {
  auto it = index.find(op);
  if (!op || it == index.end())
    return std::nullopt;
  return it->second;
}

std::optional<unsigned> KernelResources::roleIndex(StringRef name) const {
  for (unsigned i = 0; i != roles.size(); ++i)
    if (RoleOp role = roles[i]; role.getSymName() == name)
      return i;
  return std::nullopt;
}

SmallVector<unsigned> KernelResources::getChain(unsigned role) const {
  SmallVector<unsigned> chain;
  for (RoleOp last = roles[role]; last.getThen(); last = roles[chain.back()]) {
    unsigned next = *roleIndex(*last.getThen());
    // A cycle is refused by the verifier, which may not have run yet.
    if (next == role || llvm::is_contained(chain, next))
      break;
    chain.push_back(next);
  }
  return chain;
}

SmallVector<SmallVector<unsigned>> KernelResources::getChains() const {
  SmallVector<SmallVector<unsigned>> chains;
  for (unsigned role = 0; role != roles.size(); ++role)
    chains.push_back(getChain(role));
  return chains;
}

KernelResources::KernelResources(Operation *kernel) {
  auto add = [&](auto &list, auto op) {
    index[op] = list.size();
    list.push_back(op);
  };
  // Declarations, roles and requirements are direct children of the kernel.
  for (Operation &op : cast<KernelOp>(kernel).getBody().getOps()) {
    if (auto signals = dyn_cast<SignalsOp>(op))
      add(this->signals, signals);
    else if (auto counters = dyn_cast<CountersOp>(op))
      add(this->counters, counters);
    else if (auto queue = dyn_cast<QueueOp>(op))
      add(queues, queue);
    else if (auto requirement = dyn_cast<RequireOp>(op))
      add(requirements, requirement);
    else if (auto role = dyn_cast<RoleOp>(op))
      add(roles, role);
    else if (auto prepare = dyn_cast<PrepareOp>(op))
      this->prepare = prepare;
  }
  for (auto [i, role] : llvm::enumerate(roles)) {
    unsigned number = i;
    role->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isDistributedLoop(op))
        return;
      index[op] = loops.size();
      loops.push_back({op, number});
    });
  }
}

Value mk::getWritten(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getDest();
  if (auto put = dyn_cast<PutOp>(op))
    return put.getDest();
  auto store = dyn_cast<memref::StoreOp>(op);
  return store ? store.getMemRef() : Value();
}

std::pair<ArrayRef<int64_t>, ValueRange> mk::getDeclaredShape(Value declared) {
  if (auto signals = declared.getDefiningOp<SignalsOp>())
    return {signals.getType().getShape(), signals.getExtents()};
  auto counters = declared.getDefiningOp<CountersOp>();
  return {counters.getType().getShape(), counters.getExtents()};
}

SmallVector<unsigned> mk::getPossibleArgs(KernelOp kernel, Value buffer) {
  if (auto select = buffer.getDefiningOp<SelectOp>()) {
    SmallVector<unsigned> args = getPossibleArgs(kernel, select.getTrueValue());
    for (unsigned arg : getPossibleArgs(kernel, select.getFalseValue()))
      if (!llvm::is_contained(args, arg))
        args.push_back(arg);
    return args;
  }
  auto arg = dyn_cast<BlockArgument>(buffer);
  if (!arg || arg.getOwner() != &kernel.getBody().front())
    return {};
  return {arg.getArgNumber() - static_cast<unsigned>(kernel.getNumDims())};
}

bool mk::mayBeSame(KernelOp kernel, Value first, Value second) {
  SmallVector<unsigned> args = getPossibleArgs(kernel, first);
  return llvm::any_of(getPossibleArgs(kernel, second),
                      [&](unsigned arg) { return llvm::is_contained(args, arg); });
}
