//===- TileVerifyStructure.cpp - Verifiers of meshes, kernels, roles ------===//
#include "TileSyntax.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name, int64_t size, LinkKind link) {
  return success();
}
LogicalResult CtasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t fixed, APFloat share, bool rest,
                               int64_t min) {
  return success();
}
LogicalResult SignalType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Scope scope,
                                 int64_t arrivals) {
  return success();
}
LogicalResult CounterType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape) {
  return success();
}
LogicalResult QueueType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t capacity, int64_t width, Type element) {
  return success();
}
LogicalResult MeshOp::verify() { return success(); }
LogicalResult KernelOp::verify() { return success(); }
LogicalResult KernelOp::verifyRegions() { return success(); }
LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
LogicalResult RoleOp::verify() { return success(); }
LogicalResult PrepareOp::verify() { return success(); }
LogicalResult SignalsOp::verify() { return success(); }
LogicalResult CountersOp::verify() { return success(); }
LogicalResult QueueOp::verify() { return success(); }
LogicalResult RankOp::verify() { return success(); }
LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
LogicalResult CoordOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
LogicalResult SizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success();
}
LogicalResult CtasOfOp::verify() { return success(); }
