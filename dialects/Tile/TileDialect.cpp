//===- TileDialect.cpp - Registration of the tile dialect -----------------===//
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Transforms/InliningUtils.h"

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

bool mk::isSymmetric(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  return memref && isa_and_nonnull<SymmetricAttr>(memref.getMemorySpace());
}
