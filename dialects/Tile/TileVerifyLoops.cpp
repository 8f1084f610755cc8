//===- TileVerifyLoops.cpp - Verifiers of iteration -----------------------===//
#include "TileSyntax.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ScheduleKind kind, int64_t tail) {
  return success();
}
LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t raster, OwnPlace own, int64_t spread,
                                bool stagger, int64_t longestFirst) {
  return success();
}
LogicalResult ForeachOp::verify() { return success(); }
LogicalResult ForeachItemOp::verify() { return success(); }
LogicalResult ForeachPeerOp::verify() { return success(); }
LogicalResult ForeachPeerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
LogicalResult FoldOp::verify() { return success(); }
LogicalResult FoldOp::verifyRegions() { return success(); }
LogicalResult FoldOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
