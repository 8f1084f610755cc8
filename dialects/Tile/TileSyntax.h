//===- TileSyntax.h - Syntax shared by attributes and ops -----*- C++ -*-===//
//
// An op writes `order(raster = 8)` for the attribute #mk.order<raster = 8>;
// these parse and print what stands between the brackets.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECTS_TILE_TILESYNTAX_H
#define MKERNEL_DIALECTS_TILE_TILESYNTAX_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::mk {

/// A word, or a string.
ParseResult parseName(AsmParser &parser, StringAttr &name);

ParseResult parseBody(AsmParser &parser, AxisAttr &axis);
void printBody(AsmPrinter &printer, AxisAttr axis, bool quoted = true);
ParseResult parseBody(AsmParser &parser, CtasAttr &ctas);
void printBody(AsmPrinter &printer, CtasAttr ctas);
ParseResult parseBody(AsmParser &parser, ScheduleAttr &schedule);
void printBody(AsmPrinter &printer, ScheduleAttr schedule);
ParseResult parseBody(AsmParser &parser, OrderAttr &order);
void printBody(AsmPrinter &printer, OrderAttr order);

/// The region of an op, which gets a block also where nothing is written in it.
ParseResult parseRegionOf(OpAsmParser &parser, OperationState &result,
                          ArrayRef<OpAsmParser::Argument> args);

/// Parses a comma-separated list of axis names without brackets.
ParseResult parseAxisNames(AsmParser &parser, SmallVectorImpl<Attribute> &names);
void printAxisNames(AsmPrinter &printer, ArrayAttr names);

/// Verifies that `name` is an axis of the mesh of the kernel around `op`, if
/// there is one (helper functions have none until they are inlined).
LogicalResult verifyAxis(Operation *op, StringRef name, SymbolTableCollection &symbols);

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILESYNTAX_H
