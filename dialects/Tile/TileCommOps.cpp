//===- TileCommOps.cpp - Effects of communication -------------------------===//
#include "TileDirectives.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileCommOps.cpp.inc"

void MkDialect::registerCommOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileCommOps.cpp.inc"
      >();
}
