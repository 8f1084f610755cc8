//===- OnlyStores.cpp - The store that alone takes a tile -----------------===//
#include "mkernel/Analysis/OnlyStores.h"
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

Operation *OnlyStores::find(Operation *op) {
  auto [it, isNew] = stores.try_emplace(op, nullptr);
  if (!isNew)
    return it->second;
  if (!isByElements(op))
    return nullptr;
  Operation *store = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *end = nullptr;
    if (user->getBlock() == op->getBlock())
      end = isa<mk_sm::StoreOp, mk::StoreOp>(user) ? user : find(user);
    if (!end || (store && store != end))
      return nullptr;
    store = end;
  }
  return stores[op] = store;
}
