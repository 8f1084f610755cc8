//===- DropIdleRoles.cpp - Roles that do nothing on this mesh -------------===//
#include "Functions.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Evaluate.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// What ops do that conditions and loops let in.
struct IdleRoles {
  MeshOp mesh;
  IndexEvaluator numbers;

  IdleRoles(KernelOp kernel) : mesh(kernel.getMeshOp()) {
    FailureOr<SmallVector<int64_t>> ctas = getCtas(kernel);
    SmallVector<RoleOp> roles(kernel.getBody().getOps<RoleOp>());
    kernel.walk([&](CtasOfOp op) {
      for (auto [role, count] : llvm::zip(roles, *ctas))
        if (role.getSymName() == op.getRole())
          numbers.assume(op, count);
    });
  }

  /// Whether there is a rank for the loop to go to.
  bool hasPeers(ForeachPeerOp loop) {
    int64_t ranks = 1;
    for (auto name : loop.getAxes().getAsRange<StringAttr>()) {
      int64_t size = mesh.getAxis(mesh.findAxis(name.getValue())).getSize();
      if (ShapedType::isDynamic(size))
        return true;
      ranks *= size;
    }
    return loop.getIncludingSelf() || ranks > 1;
  }

  bool isIdle(Block &block) {
    return llvm::all_of(block, [&](Operation &op) { return isIdle(op); });
  }

  bool isIdle(Operation &op) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      std::optional<int64_t> known = numbers.getIndex(branch.getCondition());
      bool may = !known || *known != 0, mayNot = !known || *known == 0;
      return (!may || isIdle(*branch.thenBlock())) &&
             (!mayNot || !branch.elseBlock() || isIdle(*branch.elseBlock()));
    }
    if (auto loop = dyn_cast<ForeachPeerOp>(op))
      return !hasPeers(loop) || isIdle(loop.getBody().front());
    if (auto loop = dyn_cast<ForeachOp>(op);
        loop && llvm::any_of(loop.getBounds(), [&](Value bound) {
          std::optional<int64_t> known = numbers.getIndex(bound);
          return known && *known <= 0;
        }))
      return true;
    if (isa<ForeachOp, scf::ForOp>(op))
      return isIdle(op.getRegion(0).front());
    return isMemoryEffectFree(&op) && !op.getNumRegions();
  }
};
} // namespace

/// Roles with CTAs of the grid stay: these would have nothing else.
LogicalResult mk::dropIdleRoles(KernelOp kernel) {
  if (failed(getCtas(kernel)))
    return failure();
  IdleRoles idle(kernel);
  for (RoleOp role : llvm::make_early_inc_range(kernel.getBody().getOps<RoleOp>())) {
    bool isNamed = false;
    kernel.walk([&](CtasOfOp op) { isNamed |= op.getRole() == role.getSymName(); });
    if (!role.isInGrid() && !isNamed && idle.isIdle(role.getBody().front()))
      role.erase();
  }
  return success();
}
