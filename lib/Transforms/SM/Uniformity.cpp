//===- Uniformity.cpp - What CTAs of a cluster have in common -------------===//
#include "Uniformity.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_sm;

bool Uniformity::isUniform(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  bool result = compute(value);
  known[value] = result;
  return result;
}

bool Uniformity::compute(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (isa<mk::KernelOp>(parent))
      return true;
    if (auto items = dyn_cast<ItemsOp>(parent))
      return arg == items.getRound() && areClusters(items);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return false;
    if (arg != loop.getInductionVar())
      return carriesUniformly(loop);
    return isUniform(loop.getLowerBound()) && isUniform(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return carriesUniformly(loop);
  bool divides = isa<arith::DivSIOp, arith::DivUIOp>(op);
  if (divides || isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    std::optional<int64_t> step = getStep(op->getOperand(0));
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    if (step && divisor && (divides ? isPlaceEnd(*divisor, *step) : *divisor == *step))
      return true;
  }
  auto all = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand); });
  };
  // Numbers that nobody writes while the kernel runs.
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto arg = dyn_cast<BlockArgument>(load.getMemRef());
    auto kernel = op->getParentOfType<mk::KernelOp>();
    return arg && arg.getOwner() == &kernel.getBody().front() &&
           kernel.getArgKind(arg.getArgNumber() - kernel.getNumDims()) == mk::ArgKind::In && all();
  }
  return !isa<InitialItemOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op) && all();
}

/// Whether all that a loop carries is uniform. That is taken for true while the loop's body is
/// looked at; where it turns out not to be, what followed from it is forgotten.
bool Uniformity::carriesUniformly(scf::ForOp loop) {
  if (!isUniform(loop) || varying.contains(loop) ||
      !llvm::all_of(loop.getInitArgs(), [&](Value init) { return isUniform(init); }))
    return false;
  for (Value carried : loop.getRegionIterArgs())
    known[carried] = true;
  if (llvm::all_of(loop.getYieldedValues(), [&](Value next) { return isUniform(next); }))
    return true;
  varying.insert(loop);
  known.clear();
  return false;
}

/// The numbers of a group are m * step * size + r + step * i with r < step, where i is the place in
/// the group and the rest is uniform. Whether dividing by `divisor` leaves m, or what all of the
/// cluster, or of twice and four times as many CTAs, has in common, as where items are in groups
/// that are larger than the cluster. Other multiples that happen to be known are of no account.
bool Uniformity::isPlaceEnd(int64_t divisor, int64_t step) const {
  return divisor == step * group.size || llvm::any_of(ArrayRef<int64_t>{1, 2, 4}, [&](int64_t n) {
           return divisor * group.stride == n * cluster * step;
         });
}

/// The step of such a number, if it is one.
std::optional<int64_t> Uniformity::getStep(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto items = dyn_cast<ItemsOp>(arg.getOwner()->getParentOp());
    return items && arg == items.getItem() && areClusters(items) ? std::optional(group.stride)
                                                                 : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    std::optional<int64_t> step = getStep(op->getOperand(0));
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    if (!step || !divisor)
      return std::nullopt;
    if (isa<arith::RemSIOp, arith::RemUIOp>(op))
      return isPlaceEnd(*divisor, *step) ? step : std::nullopt;
    return *step > 1 && *divisor == *step ? std::optional<int64_t>(1) : std::nullopt;
  }
  if (!isa<arith::AddIOp>(op))
    return std::nullopt;
  for (auto [to, added] : {std::pair(op->getOperand(0), op->getOperand(1)),
                           std::pair(op->getOperand(1), op->getOperand(0))})
    if (isMultiple(added) && isUniform(added))
      if (std::optional<int64_t> step = getStep(to); step == group.stride)
        return step;
  return std::nullopt;
}

/// Of the cluster's size.
bool Uniformity::isMultiple(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % cluster == 0;
  if (auto count = value.getDefiningOp<mk::CtasOfOp>())
    return ctas.lookup(count.getRole()) % cluster == 0;
  auto product = value.getDefiningOp<arith::MulIOp>();
  return product && (isMultiple(product.getLhs()) || isMultiple(product.getRhs()));
}

/// Whether the CTAs that share the items are whole clusters.
bool Uniformity::areClusters(ItemsOp items) {
  auto role = items->getParentOfType<mk::RoleOp>();
  return role && ctas.lookup(role.getSymName()) % cluster == 0;
}

bool Uniformity::isUniform(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isUniform(branch.getCondition());
  if (auto items = dyn_cast<ItemsOp>(op))
    return isUniform(items.getTotal()) && isMultiple(items.getTotal()) && areClusters(items);
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && isUniform(loop.getLowerBound()) && isUniform(loop.getUpperBound()) &&
         isUniform(loop.getStep());
}

bool Uniformity::isReachedUniformly(Operation *op) {
  for (Operation *up = op->getParentOp(); !isa<PartitionOp>(up); up = up->getParentOp())
    if (!isUniform(up))
      return false;
  return true;
}
