//===- SMPhases.cpp - What the SM level promises from pass to pass --------===//
#include "mkernel/Analysis/SMPhases.h"
#include "SMChannels.h"
#include "mkernel/Dialect/Tile/Buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::mk_sm;

std::optional<Phase> mk_sm::parsePhase(StringRef name) {
  for (auto [text, phase] : {std::pair<StringRef, Phase>("tiles", Phase::Tiles),
                             std::pair<StringRef, Phase>("partitioned", Phase::Partitioned),
                             std::pair<StringRef, Phase>("overlapped", Phase::Overlapped),
                             std::pair<StringRef, Phase>("sized", Phase::Sized),
                             std::pair<StringRef, Phase>("placed", Phase::Placed)})
    if (name == text)
      return phase;
  return std::nullopt;
}

/// The roles of a kernel that its CTAs do, and mk.prepare.
static SmallVector<Operation *> getScopes(mk::KernelOp kernel) {
  SmallVector<Operation *> scopes;
  for (Operation &op : kernel.getBody().front())
    if (auto role = dyn_cast<mk::RoleOp>(op);
        isa<mk::PrepareOp>(op) || (role && !role.isOfEngines()))
      scopes.push_back(&op);
  return scopes;
}

static bool isSplit(Operation *scope) { return !scope->getRegion(0).getOps<PartitionOp>().empty(); }

/// Applies `check` to all ops of a scope; the first failure ends it.
static LogicalResult checkAll(Operation *scope,
                              llvm::function_ref<LogicalResult(Operation *)> check) {
  WalkResult result = scope->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    return op == scope ? WalkResult::advance() : WalkResult(check(op));
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static LogicalResult verifyUnsplit(Operation *op) {
  if (isa<mk::ForeachOp, mk::ForeachItemOp, mk::ForeachPeerOp>(op))
    return op->emitOpError() << "is a loop of the tile level in front of the split of roles: "
                                "expand it by mk-expand-loops";
  if (isa<mk::FoldOp>(op))
    return op->emitOpError()
           << "is a fold in front of the split of roles: expand it by mk-expand-folds";
  if (isa<func::CallOp>(op))
    return op->emitOpError()
           << "is a call in front of the split of roles: inline it by mk-inline-calls";
  if (isa<MkSMDialect>(op->getDialect()) &&
      !isa<ItemsOp, AtItemOp, TicketOp, PopOp, InitialItemOp, ForwardOp, OrderOp, SwapPartsOp>(op))
    return op->emitOpError() << "is of a phase behind the split, in a role that is not split: put "
                                "it into a partition";
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type);
        tile && (tile.getEncoding() || !tile.hasStaticShape()))
      return op->emitOpError()
             << "gives " << type
             << " in front of the split of roles, where tiles have extents that are numbers and no "
                "layout: run mk-resolve-params, and leave the layout out";
  return success();
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

static LogicalResult verifyFragment(Operation *op, Type type, PartitionOp partition) {
  if (isa<RingType, MailboxType, StagingType, CursorType>(type) &&
      !isa<MkSMDialect>(op->getDialect()))
    return op->emitOpError() << "carries " << type
                             << ", but channels and their cursors are no values: name the op that "
                                "makes it where it is used";
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return success();
  if (partition.getKind() != PartitionKind::Consumer)
    return op->emitOpError()
           << "has " << type << " in a " << stringifyPartitionKind(partition.getKind())
           << ", a single warp that holds no tiles: stage it, or compute it in the consumer";
  Attribute layout = tile.getEncoding();
  if (!layout || !tile.hasStaticShape())
    return op->emitOpError()
           << "has " << type
           << " in a consumer, where tiles are fragments: give it a layout, such as #mk_sm.mma";
  if (std::string problem = explainLayout(tile.getShape(), layout); !problem.empty())
    return op->emitOpError() << "has " << type << ": " << problem;
  if (getLayoutThreads(layout) != partition.getNumThreads())
    return op->emitOpError() << "has " << type << " over " << getLayoutThreads(layout)
                             << " threads, but its body is run by " << partition.getNumThreads()
                             << ": use a layout over as many";
  return success();
}

static LogicalResult verifyTypes(Operation *op, PartitionOp partition) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes())))
    if (failed(verifyFragment(op, type, partition)))
      return failure();
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      if (failed(verifyFragment(op, type, partition)))
        return failure();
  return success();
}

LogicalResult mk_sm::verifyPartitions(mk::KernelOp kernel) {
  for (Operation *scope : getScopes(kernel))
    for (Operation &op : scope->getRegion(0).front()) {
      if (isa<SharedOwner, SyncWarpsOp>(op))
        continue;
      auto partition = dyn_cast<PartitionOp>(op);
      if (!partition)
        return op.emitOpError() << "stands in a role beside its partitions, where nobody does it: "
                                   "run mk-sm-split-roles, or move it into a partition";
      if (failed(
              checkAll(partition, [&](Operation *inner) { return verifyTypes(inner, partition); })))
        return failure();
    }
  return success();
}

/// What partitions do besides, in all phases behind the split.
static LogicalResult verifyWork(Operation *scope, Phase phase) {
  return checkAll(
      scope, [&](Operation *op) -> LogicalResult {
        auto partition = op->getParentOfType<PartitionOp>();
        if (!partition)
          return success();
        if (isa<mk::DotOp, mk::ForeachOp, mk::ForeachItemOp, mk::ForeachPeerOp, mk::FoldOp>(op))
          return op->emitOpError()
                 << "is of the tile level in a partition: run mk-sm-split-roles on the whole role";
        if (isa<ForwardOp>(op))
          return op->emitOpError() << "is of a role that is not split: let the producer send what "
                                      "the consumer receives";
        if (partition.getKind() == PartitionKind::Producer && mk::hasVisibleEffect(op))
          return op->emitOpError() << "acts on what others see in a producer, which runs ahead of "
                                      "what is computed: move it into the consumer";
        if (isa<TurnWaitOp, TurnPassOp, TeamIndexOp>(op) && phase == Phase::Partitioned)
          return op->emitOpError() << "is about turns before passes have dealt them out: leave it "
                                      "to mk-sm-take-turns and mk-sm-alternate-items";
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Matrix ops
//===----------------------------------------------------------------------===//

/// In the form that the split gives.
static LogicalResult verifyWaitedAtOnce(Operation *scope) {
  return checkAll(scope, [](Operation *op) -> LogicalResult {
    auto dot = dyn_cast<MmaOp>(op);
    if (!dot)
      return success();
    auto wait = dyn_cast_or_null<MmaWaitOp>(dot->getNextNode());
    if (!wait || wait.getPending() != 0 ||
        !llvm::is_contained(wait.getFragments(), dot.getResult()))
      return dot.emitOpError() << "is not waited for at once, as passes that overlap matrix ops "
                                  "expect: put mk_sm.mma_wait 0 behind it";
    return success();
  });
}

/// Fragments that nobody fills are accumulators that the first product ignores.
static LogicalResult verifyPoison(Operation *scope) {
  auto isIgnored = [](OpOperand &use) {
    auto dot = dyn_cast<MmaOp>(use.getOwner());
    return dot && &use == &dot.getAccMutable() && dot.getAccumulate();
  };
  return checkAll(scope, [&](Operation *op) -> LogicalResult {
    auto poison = dyn_cast<ub::PoisonOp>(op);
    if (!poison)
      return success();
    for (OpOperand &use : poison->getUses()) {
      auto loop = dyn_cast<scf::ForOp>(use.getOwner());
      bool ignored = loop ? llvm::all_of(loop.getTiedLoopRegionIterArg(&use).getUses(), isIgnored)
                          : isIgnored(use);
      if (!ignored)
        return use.getOwner()->emitOpError()
               << "uses a fragment that nobody has filled other than as the accumulator of an "
                  "mk_sm.mma that says when it counts (accumulate): start from zeros";
    }
    return success();
  });
}

/// Teams hand their place in the rings over with the turn.
static LogicalResult verifyTeams(Operation *scope) {
  for (auto partition : scope->getRegion(0).getOps<PartitionOp>()) {
    if (partition.getTeams() == 1)
      continue;
    bool waits = false, turns = false;
    partition.walk([&](Operation *op) {
      waits |= isa<mk_sm::WaitOp>(op);
      turns |= isa<TurnWaitOp>(op);
    });
    if (waits && !turns)
      return partition.emitOpError() << "has teams that wait for slots without a turn, and would "
                                        "take one another's: run mk-sm-alternate-items";
  }
  return success();
}

LogicalResult mk_sm::verifyPhase(mk::KernelOp kernel, Phase phase) {
  if (phase == Phase::Tiles) {
    for (Operation *scope : getScopes(kernel))
      if (!isSplit(scope) && failed(checkAll(scope, verifyUnsplit)))
        return failure();
    return success();
  }
  if (phase == Phase::Placed)
    return verifyPlaced(kernel);
  if (failed(verifyPartitions(kernel)))
    return failure();
  for (Operation *scope : getScopes(kernel)) {
    if (failed(verifyWork(scope, phase)) ||
        failed(verifyChannels(scope, /*paired=*/phase == Phase::Partitioned)))
      return failure();
    if (phase == Phase::Partitioned ? failed(verifyWaitedAtOnce(scope))
                                    : failed(verifyPoison(scope)) || failed(verifyTeams(scope)))
      return failure();
  }
  return phase == Phase::Sized ? verifySizes(kernel) : success();
}
