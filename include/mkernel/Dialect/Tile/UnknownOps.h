//===- UnknownOps.h - Names that no op of a dialect has -----------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_TILE_UNKNOWNOPS_H
#define MKERNEL_DIALECT_TILE_UNKNOWNOPS_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::mk {

/// Parses an op that its dialect does not have: an error, which names the op with the most similar
/// name that it has, if there is one. For Dialect::getParseOperationHook.
ParseResult refuseUnknownOp(OpAsmParser &parser, OperationState &op);

} // namespace mlir::mk

#endif // MKERNEL_DIALECT_TILE_UNKNOWNOPS_H
