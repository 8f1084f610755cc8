//===- ItemPlaces.cpp - Places that differ where items do -----------------===//
#include "ItemPlaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mk_sm;

void LinearForm::add(Value value, int64_t factor) {
  Operation *op = value.getDefiningOp();
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    number += factor * *known;
  } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    add(op->getOperand(0), factor);
    add(op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor);
  } else if (auto product = dyn_cast_or_null<arith::MulIOp>(op);
             product && getConstantIntValue(product.getRhs())) {
    add(product.getLhs(), factor * *getConstantIntValue(product.getRhs()));
  } else if (product && getConstantIntValue(product.getLhs())) {
    add(product.getRhs(), factor * *getConstantIntValue(product.getLhs()));
  } else {
    terms[value] += factor;
  }
}

std::optional<int64_t> LinearForm::minus(const LinearForm &other) const {
  auto has = [](const LinearForm &all, const LinearForm &of) {
    return llvm::all_of(of.terms, [&](auto &term) {
      auto it = all.terms.find(term.first);
      return term.second == (it == all.terms.end() ? 0 : it->second);
    });
  };
  if (!has(*this, other) || !has(other, *this))
    return std::nullopt;
  return number - other.number;
}

static bool isQuotient(Operation *op) {
  return isa_and_nonnull<arith::DivUIOp, arith::DivSIOp>(op);
}

static bool isModulo(Operation *op) { return isa_and_nonnull<arith::RemUIOp, arith::RemSIOp>(op); }

/// Whether the value is an index of a loop over items, or what divisions leave of one.
static bool followsFromIndex(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isQuotient(op) && !isModulo(op))
      return false;
    value = op->getOperand(0);
  }
  return isa<mk::ForeachOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
}

/// How many values it can have, if that is known; a signed rest may be negative. Divisors are
/// positive: they count rows, columns, tiles.
std::optional<int64_t> ItemPlaces::getTrips(Value value) {
  if (auto index = dyn_cast<BlockArgument>(value))
    return index.getOwner() == &items.getBody().front()
               ? getConstantIntValue(items.getBounds()[index.getArgNumber()])
               : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!isModulo(op))
    return std::nullopt;
  Value divisor = op->getOperand(1);
  if (auto least = divisor.getDefiningOp();
      isa_and_nonnull<arith::MinSIOp, arith::MinUIOp>(least) &&
      getConstantIntValue(least->getOperand(1)))
    divisor = least->getOperand(1);
  std::optional<int64_t> most = getConstantIntValue(divisor);
  if (most && *most <= 0)
    return std::nullopt;
  if (most && isa<arith::RemSIOp>(op) && !followsFromIndex(op->getOperand(0)))
    return 2 * *most - 1;
  return most;
}

void ItemPlaces::add(Value from, Value to, int64_t before, int64_t behind) {
  LinearForm first(from), second(to);
  if (std::optional<int64_t> distance = second.minus(first))
    places.push_back({second, std::max(before - *distance, behind + *distance)});
}

/// Whether it follows from what is known.
bool ItemPlaces::isDetermined(Value value) {
  SmallVector<Value> left{value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (!items.getBody().isAncestor(next.getParentRegion()) || known.contains(next) ||
        !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
      return false;
    llvm::append_range(left, op->getOperands());
  }
  return true;
}

/// All that a place depends on is the same, if what moves it less, by all that it can, does not
/// reach what the next one moves it by.
bool ItemPlaces::learn(const Place &place) {
  SmallVector<std::pair<int64_t, Value>> moves;
  for (auto [value, factor] : place.form.terms)
    if (factor && !isDetermined(value))
      moves.emplace_back(std::abs(factor), value);
  llvm::stable_sort(moves, llvm::less_first());
  std::optional<int64_t> reach = place.reach;
  for (auto [move, value] : moves) {
    if (!reach || move < *reach)
      return false;
    std::optional<int64_t> trips = getTrips(value);
    reach = trips ? std::optional(*reach + move * (*trips - 1)) : std::nullopt;
  }
  for (auto [move, value] : moves)
    known.insert(value);
  return !moves.empty();
}

/// Also by a quotient and the rest.
bool ItemPlaces::isKnown(Value value) {
  if (getTrips(value) == 1 || isDetermined(value))
    return true;
  bool isFound = llvm::any_of(value.getUsers(), [&](Operation *by) {
    return isQuotient(by) && by->getOperand(0) == value && isDetermined(by->getOperand(1)) &&
           isKnown(by->getResult(0)) && llvm::any_of(value.getUsers(), [&](Operation *of) {
             return isModulo(of) && of->getOperands() == by->getOperands() &&
                    isKnown(of->getResult(0));
           });
  });
  if (isFound)
    known.insert(value);
  return isFound;
}

bool ItemPlaces::areApart() {
  for (Value index : items.getBody().getArguments())
    if (getTrips(index) == 1)
      known.insert(index);
  for (bool learnt = true; learnt;) {
    learnt = false;
    for (const Place &place : places)
      learnt |= learn(place);
  }
  return llvm::all_of(items.getBody().getArguments(), [&](Value index) { return isKnown(index); });
}
