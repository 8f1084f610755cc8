//===- TileVerifyTiles.cpp - Verifiers of tile ops ------------------------===//
#include "TileSyntax.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult LoadOp::verify() { return success(); }
LogicalResult StoreOp::verify() { return success(); }
LogicalResult SelectOp::verify() { return success(); }
LogicalResult DotOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult MaskOp::verify() { return success(); }
