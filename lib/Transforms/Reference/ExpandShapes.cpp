//===- ExpandShapes.cpp - Dimensions that become several ------------------===//
//
// Upstream computes what is left of a dimension for the only extent of its group that is not a
// number. A reference may ask for several of these: the op says all extents, and here they are
// taken at its word, once their product is what is there.
//
//===----------------------------------------------------------------------===//
#include "ExpandShapes.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

/// Has it reported if a group of extents does not multiply to what there is.
static void guardProduct(memref::ExpandShapeOp op, IndexMath m, ArrayRef<OpFoldResult> sizes) {
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value product = m.index(1);
    for (int64_t i : group)
      product = m.mul(product, getValueOrCreateConstantIndexOp(m.b, m.loc, sizes[i]));
    Value there = memref::DimOp::create(m.b, m.loc, op.getSrc(), d);
    cf::AssertOp::create(m.b, m.loc, m.equal(product, there), "bounds");
  }
}

static void expandShape(memref::ExpandShapeOp op) {
  IndexMath m{OpBuilder(op), op.getLoc()};
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  guardProduct(op, m, sizes);
  auto source = memref::ExtractStridedMetadataOp::create(m.b, m.loc, op.getSrc());
  MemRefType type = op.getResultType();
  auto [known, offset] = type.getStridesAndOffset();
  SmallVector<OpFoldResult> strides(type.getRank());
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[d];
    for (int64_t i : llvm::reverse(group)) {
      strides[i] = ShapedType::isDynamic(known[i]) ? OpFoldResult(stride)
                                                   : OpFoldResult(m.b.getIndexAttr(known[i]));
      stride = m.mul(stride, getValueOrCreateConstantIndexOp(m.b, m.loc, sizes[i]));
    }
  }
  OpFoldResult start = ShapedType::isDynamic(offset) ? OpFoldResult(source.getOffset())
                                                     : OpFoldResult(m.b.getIndexAttr(offset));
  Value result = memref::ReinterpretCastOp::create(m.b, m.loc, type, source.getBaseBuffer(), start,
                                                   sizes, strides);
  op.replaceAllUsesWith(result);
  op.erase();
}

void mk::expandShapes(ModuleOp module) {
  SmallVector<memref::ExpandShapeOp> ops;
  module.walk([&](memref::ExpandShapeOp op) {
    if (!op.getResultType().hasStaticShape())
      ops.push_back(op);
  });
  llvm::for_each(ops, expandShape);
}
