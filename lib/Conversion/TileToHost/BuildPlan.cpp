//===- BuildPlan.cpp - What the runtime needs to know before a launch -----===//
//
// Builds mk_plan: shapes of arguments and extents of signals, counters and
// queues, from dimensions and coordinates alone (see mkernel/ABI/Package.h).
//
//===----------------------------------------------------------------------===//
#include "CheckedArith.h"
#include "HostLowering.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Analysis/Lines.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Support/RowMajor.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk {
#define GEN_PASS_DEF_BUILDPLANPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
class PlanBuilder {
public:
  PlanBuilder(KernelOp kernel, func::FuncOp function, const llvm::StringMap<int64_t> &ctasOfRole)
      : kernel(kernel), function(function), mesh(kernel.getMeshOp()),
        lowering(kernel, function, /*pointerIsLaunch=*/true), checks(lowering) {
    lowering.ctasOfRole = ctasOfRole;
  }

  LogicalResult build(const KernelResources &resources);

private:
  LogicalResult writeArguments();
  /// What the extents of signals, counters and queues and the requirements are computed from.
  LogicalResult computeResources(const KernelResources &resources);
  void writeResources(const KernelResources &resources);
  /// The number of the first requirement that does not hold, from 1 on, or what has wrapped.
  Value findFault(const KernelResources &resources);
  /// Extents of argument `i` as its shape says; global if they are uniform.
  FailureOr<SmallVector<Value>> argExtents(unsigned i);
  /// The value of `value` here, of what kernel scope or a role's top level
  /// computes; null if it depends on more than sizes.
  Value compute(Value value);
  /// A loop's items must be countable, where that is known before a launch.
  void countItems(ForeachOp loop);
  /// Clones an op whose wraps are faults, unless they are those of turns or branches.
  void cloneChecked(Operation &op);
  /// Whether what `op`, or an op inside of it, takes from outside has a value here.
  bool isKnown(Operation &op, Value input);
  /// This rank's extent of dimension `d` of argument `i`.
  Value localExtent(unsigned i, unsigned d);
  std::optional<std::pair<unsigned, int64_t>> getExtent(Operation *op);
  void write(Value value);

  KernelOp kernel;
  func::FuncOp function;
  MeshOp mesh;
  HostLowering lowering;
  CheckedArith checks;
  IRMapping mapping;
  SmallVector<SmallVector<Value>> extents;
  int64_t written = 0;
};
} // namespace

FailureOr<SmallVector<Value>> PlanBuilder::argExtents(unsigned i) {
  SmallVector<Value> dims, extents;
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    dims.push_back(mapping.lookup(kernel.getDim(d)));
  SmallVector<AffineExpr> sizes;
  for (Attribute axis : kernel.getSizeAxes())
    sizes.push_back(getAffineConstantExpr(
        lowering.getAxisSize(mesh.findAxis(cast<StringAttr>(axis).getValue())),
        kernel.getContext()));
  int64_t line = getLine(kernel.getLoc());
  for (auto [d, expr] : llvm::enumerate(kernel.getArgShape(i).getResults())) {
    checks.place(line, /*argument=*/i, /*dimension=*/d);
    // Axes have sizes now, so that what is divided by is a number.
    AffineExpr known = expr.replaceSymbols(sizes);
    FailureOr<Value> extent = checks.emit(known, dims);
    if (failed(extent))
      return kernel.emitOpError() << "argument '"
                                  << cast<StringAttr>(kernel.getArgNames()[i]).getValue()
                                  << "' has extent '" << describeExtent(kernel, expr)
                                  << "' in dimension " << d
                                  << ", whose divisor is no number above 0: divide by one";
    extents.push_back(*extent);
  }
  return extents;
}

void PlanBuilder::cloneChecked(Operation &op) {
  // Bodies of loops may ask for extents.
  SmallVector<Value> extentsInside;
  op.walk([&](Operation *inner) {
    if (auto extent = getExtent(inner))
      extentsInside.push_back(localExtent(extent->first, extent->second));
  });
  Operation *copy = lowering.b.clone(op, mapping);
  SmallVector<Operation *> asking;
  copy->walk([&](Operation *inner) {
    if (getExtent(inner))
      asking.push_back(inner);
  });
  for (auto [inner, extent] : llvm::zip_equal(asking, extentsInside)) {
    inner->getResult(0).replaceAllUsesWith(extent);
    inner->erase();
  }
  checks.place(getLine(op.getLoc()));
  checks.check(copy);
}

bool PlanBuilder::isKnown(Operation &op, Value input) {
  return mapping.contains(input) || llvm::all_of(input.getUsers(), [&](Operation *user) {
           return !op.isAncestor(user) || getExtent(user);
         });
}

/// The extent of an argument that an op asks for.
std::optional<std::pair<unsigned, int64_t>> PlanBuilder::getExtent(Operation *op) {
  auto dim = dyn_cast<memref::DimOp>(op);
  if (!dim || !dim.getConstantIndex())
    return std::nullopt;
  auto arg = dyn_cast<BlockArgument>(dim.getSource());
  if (!arg || arg.getOwner() != &kernel.getBody().front())
    return std::nullopt;
  return std::pair(arg.getArgNumber() - kernel.getNumDims(), *dim.getConstantIndex());
}

Value PlanBuilder::compute(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  // Only what every launch computes: a branch that is not taken may wrap.
  if (!op || !isa<KernelOp, RoleOp>(op->getParentOp()) || op->getNumRegions() ||
      !isMemoryEffectFree(op) || isa<SignalsOp, CountersOp, QueueOp>(op))
    return {};
  if (auto extent = getExtent(op)) {
    mapping.map(value, localExtent(extent->first, extent->second));
    return mapping.lookup(value);
  }
  for (Value operand : op->getOperands())
    if (!compute(operand))
      return {};
  cloneChecked(*op);
  return mapping.lookup(value);
}

void PlanBuilder::countItems(ForeachOp loop) {
  if (!isa<RoleOp>(loop->getParentOp()))
    return;
  SmallVector<Value> bounds;
  for (Value bound : loop.getBounds())
    bounds.push_back(compute(bound));
  if (!llvm::all_of(bounds, [](Value bound) { return bound; }))
    return;
  Value total = lowering.index(1);
  checks.place(getLine(loop.getLoc()));
  for (Value bound : bounds)
    total = checks.mul(total, lowering.max(bound, lowering.index(0)));
}

Value PlanBuilder::localExtent(unsigned i, unsigned d) {
  Value extent = extents[i][d];
  ArrayAttr split = kernel.getArgSplit(i);
  if (split.empty() || dependsOnRankDim(kernel, kernel.getArgShape(i).getResult(d)))
    return extent;
  auto axes = cast<ArrayAttr>(split[d]);
  auto axisOf = [&](Attribute name) { return mesh.findAxis(cast<StringAttr>(name).getValue()); };
  int64_t shards = 1;
  for (Attribute name : axes)
    shards *= lowering.getAxisSize(axisOf(name));
  Value shard = mkernel::numberRowMajor<Value>(
      static_cast<IndexMath &>(lowering), axes.size(),
      [&](unsigned at) { return lowering.index(lowering.getAxisSize(axisOf(axes[at]))); },
      [&](unsigned at) { return lowering.getCoord(axisOf(axes[at])); });
  Value chunk =
      arith::CeilDivSIOp::create(lowering.b, lowering.loc, extent, lowering.index(shards));
  return lowering.clamp(lowering.sub(extent, lowering.mul(shard, chunk)), chunk);
}

void PlanBuilder::write(Value value) {
  OpBuilder &b = lowering.b;
  Value address =
      LLVM::GEPOp::create(b, lowering.loc, lowering.pointerType(), b.getI64Type(),
                          function.getArgument(1), ArrayRef<LLVM::GEPArg>{int32_t(written++)});
  LLVM::StoreOp::create(b, lowering.loc, lowering.toI64(value), address);
}

LogicalResult PlanBuilder::writeArguments() {
  Value dims =
      lowering.loadField(lowering.getLaunch(), offsetof(mk_launch, dims), lowering.pointerType());
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    mapping.map(kernel.getDim(d), lowering.loadElement(dims, d));
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    FailureOr<SmallVector<Value>> shape = argExtents(i);
    if (failed(shape))
      return failure();
    extents.push_back(std::move(*shape));
    for (Value extent : extents.back())
      write(extent);
  }
  return success();
}

LogicalResult PlanBuilder::computeResources(const KernelResources &resources) {
  // Only what the written values need: kernel scope may compute more, from
  // arguments that do not exist yet.
  llvm::SmallPtrSet<Operation *, 16> needed;
  auto need = [&](ValueRange values) {
    SmallVector<Value> open(values);
    while (!open.empty())
      if (Operation *op = open.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
        llvm::append_range(open, getInputs(op));
  };
  for (SignalsOp op : resources.signals)
    need(op->getOperands());
  for (CountersOp op : resources.counters)
    need(op->getOperands());
  for (QueueOp op : resources.queues)
    need(op->getOperands());
  for (RequireOp op : resources.requirements)
    need(op->getOperands());
  for (Operation &op : kernel.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    if (auto extent = getExtent(&op)) {
      mapping.map(op.getResult(0), localExtent(extent->first, extent->second));
      continue;
    }
    for (Value input : getInputs(&op))
      if (!isKnown(op, input))
        return op.emitOpError()
               << "feeds the size of a signal, counter or queue, or a requirement, but depends on "
                  "the contents of an argument; only dimensions, mesh and extents of arguments are "
                  "known before a launch";
    cloneChecked(op);
  }
  return success();
}

void PlanBuilder::writeResources(const KernelResources &resources) {
  auto writeShape = [&](ArrayRef<int64_t> shape, ValueRange dynamic) {
    unsigned next = 0;
    for (int64_t extent : shape)
      write(ShapedType::isDynamic(extent) ? mapping.lookup(dynamic[next++])
                                          : lowering.index(extent));
  };
  for (SignalsOp op : resources.signals) {
    SignalType type = cast<SignalType>(op.getResult().getType());
    writeShape(type.getShape(), op.getExtents());
    write(type.hasRuntimeArrivals() ? mapping.lookup(op.getArrivals())
                                    : lowering.index(type.getArrivals()));
  }
  for (CountersOp op : resources.counters)
    writeShape(cast<CounterType>(op.getResult().getType()).getShape(), op.getExtents());
  for (QueueOp op : resources.queues) {
    int64_t capacity = cast<QueueType>(op.getResult().getType()).getCapacity();
    write(ShapedType::isDynamic(capacity) ? mapping.lookup(op.getCapacity())
                                          : lowering.index(capacity));
  }
  for (auto &loop : resources.loops)
    if (auto foreach = dyn_cast<ForeachOp>(loop.op))
      countItems(foreach);
}

Value PlanBuilder::findFault(const KernelResources &resources) {
  // A requirement says more than what wraps behind it.
  Value verdict = checks.getFault();
  for (unsigned i = resources.requirements.size(); i-- > 0;) {
    RequireOp requirement = resources.requirements[i];
    verdict =
        lowering.select(mapping.lookup(requirement.getCondition()), verdict, lowering.i64(i + 1));
  }
  return verdict;
}

LogicalResult PlanBuilder::build(const KernelResources &resources) {
  if (failed(writeArguments()) || failed(computeResources(resources)))
    return failure();
  writeResources(resources);
  func::ReturnOp::create(lowering.b, lowering.loc, findFault(resources));
  dropMemorySpaces(function);
  return lowering.run();
}

namespace {
struct BuildPlanPass : mk::impl::BuildPlanPassBase<BuildPlanPass> {
  using BuildPlanPassBase::BuildPlanPassBase;

  LogicalResult build(KernelOp kernel) {
    FailureOr<llvm::StringMap<int64_t>> ctasOfRole = countCtasOfRoles(kernel);
    if (failed(ctasOfRole))
      return failure();
    OpBuilder b(kernel);
    func::FuncOp plan = createHostFunction(kernel, kPlanFunction, 2, b.getI64Type());
    return PlanBuilder(kernel, plan, *ctasOfRole).build(getChildAnalysis<KernelResources>(kernel));
  }

  void runOnOperation() override {
    if (failed(verifyHostKernel(getOperation())))
      return signalPassFailure();
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    SmallVector<Operation *> others;
    for (Operation &op : *getOperation().getBody())
      if (isa<KernelOp, MeshOp, func::FuncOp>(op))
        others.push_back(&op);
    for (KernelOp kernel : kernels)
      if (failed(build(kernel)))
        return signalPassFailure();
    // Kernels are as they were.
    if (!only)
      return markAnalysesPreserved<KernelResources>();
    for (Operation *op : llvm::reverse(others))
      op->erase();
  }
};
} // namespace
