//===- TileDialect.cpp - Registration of the tile dialect -----------------===//
#include "mkernel/Dialect/Tile/Tile.h"

using namespace mlir;
using namespace mlir::mk;

#include "mkernel/Dialect/Tile/TileDialect.cpp.inc"
#include "mkernel/Dialect/Tile/TileEnums.cpp.inc"

void MkDialect::initialize() {
  registerAttrs();
  registerTypes();
  registerOps();
}

bool mk::isSymmetric(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  return memref && isa_and_nonnull<SymmetricAttr>(memref.getMemorySpace());
}
