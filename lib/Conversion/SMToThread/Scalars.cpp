//===- Scalars.cpp - Constants, and scalars of a kernel --------------------===//
#include "Bounds.h"
#include "Faults.h"
#include "Lowerings.h"
#include "Peers.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Support/RowMajor.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static LogicalResult refuseDense(Operation *op) {
  // Constants of equal value are one, which stands nowhere.
  Location where = isa<UnknownLoc>(op->getLoc()) && !op->use_empty() ? (*op->user_begin())->getLoc()
                                                                     : op->getLoc();
  return emitError(where) << "'arith.constant' op is a tile whose elements differ; for "
                          << getSmTarget(op).getName()
                          << " only a tile of "
                             "one value can be made in registers: mk.load it from an argument";
}

static LogicalResult lowerConstant(arith::ConstantOp op, PartitionBuilder &p) {
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()); dense && !dense.isSplat())
    return refuseDense(op);
  p.set(op.getResult(), p.constant(op.getValue()));
  return success();
}

static LogicalResult lowerDim(memref::DimOp op, PartitionBuilder &p) {
  std::optional<int64_t> d = op.getConstantIndex();
  if (!d)
    return op.emitOpError() << "asks for a dimension known at run time only";
  p.set(op, sizeOf(p, getBuffer(p, op, op.getSource()), *d));
  return success();
}

/// The address of the element that an op reads.
static Value findScalar(PartitionBuilder &p, Operation *op, Value memref, ValueRange at) {
  Buffer from = getBuffer(p, op, memref);
  SmallVector<Value> indices = checkScalar(p, op, MK_READ_ARGUMENT, from, at);
  return elementAddress(p, from, indices);
}

static void lowerScalarLoad(memref::LoadOp op, PartitionBuilder &p) {
  Value address = findScalar(p, op, op.getMemRef(), op.getIndices());
  p.set(op, loadScalar(p, op, getRegisterType(op.getType()), address));
}

// All threads have the value; one writes it.
static void lowerScalarStore(memref::StoreOp op, PartitionBuilder &p) {
  Buffer to = getBuffer(p, op, op.getMemRef());
  checkScalar(p, op, MK_WRITTEN_ARGUMENT, to, op.getIndices());
  Value value = p.scalar(op.getValue());
  Value address = elementAddress(p, to, p.scalars(op.getIndices()));
  ifThen(p, eq(p, p.partitionThread, 0),
         [&] { unlessFailed(p, [&] { store(p, value, address); }); });
}

// Of this rank; mk-expand-ranks computes others.
static void lowerCoord(CoordOp op, PartitionBuilder &p) {
  MeshOp mesh = p.info.getKernel().getMeshOp();
  unsigned axis = mesh.findAxis(op.getAxis());
  p.set(op, mkernel::findCoordinate<Value>(ThreadMath{p}, readRank(p), mesh.getStride(axis),
                                           mesh.getAxis(axis).getSize()));
}

static void lowerInitialItem(InitialItemOp op, PartitionBuilder &p) {
  auto role = op->getParentOfType<RoleOp>();
  bool hasHelpers =
      llvm::any_of(p.info.resources.roles, [&](RoleOp other) { return isFollowedBy(other, role); });
  Value item = p.ctaInRole;
  if (hasHelpers) {
    auto [first, own] = p.info.ctasOf(*p.info.resources.indexOf(role));
    item = select(p, ult(p, sub(p, p.cta, first), own), item, p.c64(-1));
  }
  p.set(op, item);
}

void sm::populateScalarLowerings(LoweringTable &table) {
  table.add(
      lowerConstant, lowerDim, lowerScalarLoad, lowerScalarStore, lowerCoord, lowerInitialItem,
      [](LoadAgreedOp op, PartitionBuilder &p) {
        Value address = findScalar(p, op, op.getMemref(), op.getIndices());
        p.set(op, loadAgreed(p, getRegisterType(op.getType()), address));
      },
      // Of this rank; mk-expand-ranks computes others.
      [](RankOp op, PartitionBuilder &p) { p.set(op, readRank(p)); },
      [](CtasOfOp op, PartitionBuilder &p) {
        p.set(op, p.c64(p.info.ctas[*p.info.resources.roleIndex(op.getRole())]));
      },
      [](ParamOp op, PartitionBuilder &p) { p.set(op, p.scalar(op.getDefaultValue())); },
      // LLVM would read it once, at the start.
      [](ReadDimOp op, PartitionBuilder &p) {
        unsigned d = cast<BlockArgument>(op.getDim()).getArgNumber();
        p.set(op, readParam(p, p.info.params.dims + 8 * d, /*pinned=*/true));
      },
      // A team is a warpgroup.
      [](TeamIndexOp op, PartitionBuilder &p) {
        p.set(op, p.partition.getTeams() > 1 ? resize(p, p.group, p.i64) : p.c64(0));
      },
      [](WarpgroupIndexOp op, PartitionBuilder &p) { p.set(op, resize(p, p.group, p.i64)); },
      // Buffers are looked through where they are used.
      [](SelectOp op, PartitionBuilder &p) {});
}
