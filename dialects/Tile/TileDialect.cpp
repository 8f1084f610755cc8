//===- TileDialect.cpp - Registration of the tile dialect -----------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Transforms/InliningUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::mk;

#include "mkernel/Dialect/Tile/TileDialect.cpp.inc"
#include "mkernel/Dialect/Tile/TileEnums.cpp.inc"

namespace {
/// Helper functions are a notation: whatever they hold may stand where they are
/// called, and is verified again there.
struct MkInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

LogicalResult MkDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                  NamedAttribute attribute) {
  if (attribute.getName() != kReferenceDim)
    return op->emitError() << "has the attribute '" << attribute.getName().getValue()
                           << "' on argument " << argument << ": there is only '" << kReferenceDim
                           << "', the name of a dimension";
  if (!isa<StringAttr>(attribute.getValue()))
    return op->emitError() << "has " << attribute.getValue() << " as '" << kReferenceDim
                           << "' of argument " << argument
                           << ": it is the name of a dimension, a string";
  return success();
}

void MkDialect::initialize() {
  addInterfaces<MkInlinerInterface>();
  registerAttrs();
  registerTypes();
  registerStructureOps();
  registerScalarOps();
  registerLoopOps();
  registerTileOps();
  registerCommOps();
}

bool mk::isTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.hasStaticShape() || isa_and_nonnull<ExtentsAttr>(tensor.getEncoding()));
}

SmallVector<Value> mk::getInputs(Operation *op) {
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs.takeVector();
}

bool mk::isSymmetric(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  return memref && isa_and_nonnull<SymmetricAttr>(memref.getMemorySpace());
}
