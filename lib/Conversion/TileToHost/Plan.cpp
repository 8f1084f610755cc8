//===- Plan.cpp - What the runtime needs to know before a launch ----------===//
//
// Builds mk_plan: shapes of arguments and extents of signals, counters and
// queues, from dimensions and coordinates alone (see mkernel/ABI/Package.h).
//
//===----------------------------------------------------------------------===//
#include "HostLowering.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
class PlanBuilder {
public:
  PlanBuilder(KernelOp kernel, func::FuncOp function,
              const llvm::StringMap<int64_t> &ctasOfRole)
      : kernel(kernel), function(function), mesh(kernel.getMeshOp()),
        lowering(kernel, function, /*pointerIsLaunch=*/true) {
    lowering.ctasOfRole = ctasOfRole;
  }

  LogicalResult build();

private:
  /// Extents of argument `i` as its shape says; global if they are uniform.
  SmallVector<Value> argExtents(unsigned i);
  /// This rank's extent of dimension `d` of argument `i`.
  Value localExtent(unsigned i, unsigned d);
  bool dependsOnRankDim(AffineExpr expr);
  void write(Value value);

  KernelOp kernel;
  func::FuncOp function;
  MeshOp mesh;
  HostLowering lowering;
  IRMapping mapping;
  SmallVector<SmallVector<Value>> extents;
  int64_t written = 0;
};
} // namespace

SmallVector<Value> PlanBuilder::argExtents(unsigned i) {
  OpBuilder &b = lowering.builder();
  SmallVector<Value> operands;
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    operands.push_back(mapping.lookup(kernel.getDim(d)));
  for (Attribute axis : kernel.getSizeAxes())
    operands.push_back(lowering.index(lowering.getAxisSize(
        mesh.findAxis(cast<StringAttr>(axis).getValue()))));
  return llvm::to_vector(*affine::expandAffineMap(
      b, lowering.loc(), kernel.getArgShape(i), operands));
}

bool PlanBuilder::dependsOnRankDim(AffineExpr expr) {
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    if (kernel.getDimKind(d) == DimKind::Rank && expr.isFunctionOfDim(d))
      return true;
  return false;
}

Value PlanBuilder::localExtent(unsigned i, unsigned d) {
  Value extent = extents[i][d];
  ArrayAttr split = kernel.getArgSplit(i);
  if (split.empty() || dependsOnRankDim(kernel.getArgShape(i).getResult(d)))
    return extent;
  auto axes = cast<ArrayAttr>(split[d]);
  int64_t shards = 1;
  Value shard = lowering.index(0);
  for (Attribute name : axes) {
    unsigned axis = mesh.findAxis(cast<StringAttr>(name).getValue());
    shards *= lowering.getAxisSize(axis);
    shard = lowering.add(
        lowering.mul(shard, lowering.index(lowering.getAxisSize(axis))),
        lowering.getCoord(axis));
  }
  Value up = lowering.add(extent, lowering.index(shards - 1));
  Value chunk = lowering.div(up, lowering.index(shards));
  return lowering.clamp(lowering.sub(extent, lowering.mul(shard, chunk)), chunk);
}

void PlanBuilder::write(Value value) {
  OpBuilder &b = lowering.builder();
  Value address = LLVM::GEPOp::create(
      b, lowering.loc(), lowering.pointerType(), b.getI64Type(),
      function.getArgument(1), ArrayRef<LLVM::GEPArg>{int32_t(written++)});
  LLVM::StoreOp::create(b, lowering.loc(), lowering.toI64(value), address);
}

LogicalResult PlanBuilder::build() {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.loc();
  Value dims = lowering.loadField(lowering.getLaunch(), offsetof(mk_launch, dims),
                                  lowering.pointerType());
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    mapping.map(kernel.getDim(d), lowering.loadElement(dims, d));
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    extents.push_back(argExtents(i));
    for (Value extent : extents.back())
      write(extent);
  }

  KernelResources resources = getKernelResources(kernel);
  // Only what the written values need: kernel scope may compute more, from
  // arguments that do not exist yet.
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getParentOp() == kernel; };
  auto need = [&](ValueRange values) {
    for (Value value : values)
      if (value.getDefiningOp())
        (void)getBackwardSlice(value, &needed, options);
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
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto arg = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> d = dim.getConstantIndex();
      if (arg && d) {
        mapping.map(dim.getResult(),
                    localExtent(arg.getArgNumber() - kernel.getNumDims(), *d));
        continue;
      }
    }
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        return op.emitOpError()
               << "feeds the size of a signal, counter or queue, or a "
                  "requirement, but depends on the contents of an argument; only "
                  "dimensions, mesh and extents of arguments are known before "
                  "a launch";
    b.clone(op, mapping);
  }

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
    writeShape(cast<CounterType>(op.getResult().getType()).getShape(),
               op.getExtents());
  for (QueueOp op : resources.queues) {
    int64_t capacity = cast<QueueType>(op.getResult().getType()).getCapacity();
    write(ShapedType::isDynamic(capacity) ? mapping.lookup(op.getCapacity())
                                          : lowering.index(capacity));
  }
  Value verdict = lowering.i64(0);
  for (unsigned i = resources.requirements.size(); i-- > 0;)
    verdict = lowering.select(
        mapping.lookup(resources.requirements[i].getCondition()), verdict,
        lowering.i64(i + 1));
  func::ReturnOp::create(b, loc, verdict);
  dropMemorySpaces(function);
  return lowering.run();
}

LogicalResult mk::buildPlan(KernelOp kernel, func::FuncOp function,
                            const llvm::StringMap<int64_t> &ctasOfRole) {
  return PlanBuilder(kernel, function, ctasOfRole).build();
}
