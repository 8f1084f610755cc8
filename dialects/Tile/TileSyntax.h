//===- TileSyntax.h - Syntax shared by attributes and ops -----*- C++ -*-===//
//
// An op writes `order(raster = 8)` for the attribute #mk.order<raster = 8>;
// these parse and print what stands between the brackets.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECTS_TILE_TILESYNTAX_H
#define MKERNEL_DIALECTS_TILE_TILESYNTAX_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk {

FailureOr<AxisAttr> parseAxisBody(AsmParser &parser);
void printAxisBody(AsmPrinter &printer, AxisAttr axis, bool quoted);
FailureOr<CtasAttr> parseCtasBody(AsmParser &parser);
void printCtasBody(AsmPrinter &printer, CtasAttr ctas);
FailureOr<ScheduleAttr> parseScheduleBody(AsmParser &parser);
void printScheduleBody(AsmPrinter &printer, ScheduleAttr schedule);
FailureOr<OrderAttr> parseOrderBody(AsmParser &parser);
void printOrderBody(AsmPrinter &printer, OrderAttr order);

/// Parses a comma-separated list of axis names without brackets.
ParseResult parseAxisNames(AsmParser &parser, SmallVectorImpl<Attribute> &names);
void printAxisNames(AsmPrinter &printer, ArrayAttr names);

/// Verifies that `name` is an axis of the mesh of the kernel around `op`, if
/// there is one (helper functions have none until they are inlined).
LogicalResult verifyAxis(Operation *op, StringRef name,
                         SymbolTableCollection &symbols);

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILESYNTAX_H
