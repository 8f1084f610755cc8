//===- KeepRoles.cpp - What of a kernel is whose --------------------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Transforms/Passes.h"

namespace mlir::mk {
#define GEN_PASS_DEF_KEEPROLESPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct KeepRolesPass : mk::impl::KeepRolesPassBase<KeepRolesPass> {
  using KeepRolesPassBase::KeepRolesPassBase;

  void runOnOperation() override {
    getOperation().walk([&](RoleOp role) {
      if (role.isOfEngines() == engines)
        return;
      // Nothing of it is used elsewhere. The role keeps its number.
      Block &body = role.getBody().front();
      while (!body.empty())
        body.back().erase();
    });
  }
};
} // namespace
