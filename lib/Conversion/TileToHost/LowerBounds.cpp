//===- LowerBounds.cpp - Checks that what ops name exists -----------------===//
//
// One index is compared where it is used; a region is looked at by the runtime, which knows the
// extents on all ranks. Loads and stores of tiles leave out what does not exist, at edges.
// Dimensions in front of a tile's have one index and no edge: a store is checked for them.
//
//===----------------------------------------------------------------------===//
#include "HostLowering.h"
#include "mkernel/ABI/HostCalls.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

void HostLowering::checkIndices(Operation *op, int64_t named, Value number, ValueRange indices,
                                ArrayRef<Value> extents, Value used) {
  if (!sites)
    return;
  for (auto [d, i, extent] : llvm::enumerate(indices, extents)) {
    Value outside = cmp(arith::CmpIPredicate::uge, i, extent);
    if (used)
      outside = arith::AndIOp::create(b, loc, used, outside);
    auto report = scf::IfOp::create(b, loc, outside);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(report.thenBlock());
    call("mkrt_outside",
         {getCta(), i32(sites->numberOf(op)), i32(named), number, i32(d), toI64(i), toI64(extent)});
  }
}

void HostLowering::checkPut(PutOp op, Value rows) {
  if (!sites)
    return;
  Value site = i32(sites->numberOf(op));
  SmallVector<Value> sizes(op.getSizes());
  if (rows) {
    auto type = cast<MemRefType>(rows.getType());
    sizes[0] = min(sizes[0], index(type.getDimSize(0)));
  }
  auto check = [&](int64_t named, Value buffer, ValueRange offsets, Value rank) {
    // Of another buffer the runtime knows no extents, only where memory ends.
    Value argument = argumentOf(buffer);
    if (!argument)
      return;
    SmallVector<Value> operands{getCta(),
                                site,
                                i32(named),
                                argument,
                                rank,
                                i32(sizes.size()),
                                stackArray(SmallVector<Value>(offsets)),
                                stackArray(sizes)};
    if (rows)
      operands.push_back(address(rows, index(0)));
    call(rows ? "mkrt_region_rows" : "mkrt_region", operands);
  };
  check(MK_READ_ARGUMENT, op.getSource(), op.getSrcOffsets(), toI64(getRank()));
  check(MK_WRITTEN_ARGUMENT, op.getDest(), op.getDstOffsets(), toI64(op.getPeer()));
}

void HostLowering::checkScalarAccess(Operation *op) {
  if (!sites)
    return;
  b.setInsertionPoint(op);
  loc = op->getLoc();
  auto load = dyn_cast<memref::LoadOp>(op);
  auto store = dyn_cast<memref::StoreOp>(op);
  Value buffer = load ? load.getMemRef() : store.getMemRef();
  ValueRange indices = load ? load.getIndices() : store.getIndices();
  SmallVector<Value> extents;
  for (unsigned d = 0; d != indices.size(); ++d)
    extents.push_back(memref::DimOp::create(b, loc, buffer, index(d)));
  Value argument = argumentOf(buffer);
  checkIndices(op, load ? MK_READ_ARGUMENT : MK_WRITTEN_ARGUMENT, argument ? argument : i32(-1),
               indices, extents);
}

void HostLowering::checkStore(StoreOp op, const TilePart &part, Value rows) {
  int64_t lead = op.getOffsets().size() - cast<RankedTensorType>(op.getTile().getType()).getRank();
  Value argument = argumentOf(op.getDest());
  if (!sites || !argument)
    return;
  SmallVector<Value> extents;
  for (int64_t d = 0; d != lead; ++d)
    extents.push_back(
        d == 0 && rows ? rows : Value(memref::DimOp::create(b, loc, op.getDest(), index(d))));
  Value used;
  for (Value size : part.edges) {
    Value isAny = cmp(arith::CmpIPredicate::sgt, size, index(0));
    used = used ? arith::AndIOp::create(b, loc, used, isAny) : isAny;
  }
  checkIndices(op, MK_WRITTEN_ARGUMENT, argument, op.getOffsets().take_front(lead), extents, used);
}
