//===- TileDirectives.h - Custom directives of the op syntax --*- C++ -*-===//
//
// What `custom<Name>(...)` in the assembly formats of Tile*Ops.td stands for. The
// generated definitions are spread over several files, which all see these.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECTS_TILE_TILEDIRECTIVES_H
#define MKERNEL_DIALECTS_TILE_TILEDIRECTIVES_H

#include "TileSyntax.h"
#include "mlir/IR/DialectImplementation.h"

namespace mlir::mk {

inline ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        FailureOr<AxisAttr> axis = parseAxisBody(parser);
        if (failed(axis))
          return failure();
        list.push_back(*axis);
        return success();
      }))
    return failure();
  axes = parser.getBuilder().getArrayAttr(list);
  return success();
}

inline void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printAxisBody(printer, cast<AxisAttr>(axis), /*quoted=*/false);
  });
}

inline ParseResult parseCtas(OpAsmParser &parser, CtasAttr &ctas) {
  FailureOr<CtasAttr> parsed = parseCtasBody(parser);
  if (failed(parsed))
    return failure();
  ctas = *parsed;
  return success();
}

inline void printCtas(OpAsmPrinter &printer, Operation *, CtasAttr ctas) {
  printCtasBody(printer, ctas);
}

inline ParseResult parseReduction(OpAsmParser &parser,
                                  ReductionAttr &reduction) {
  FailureOr<Reduction> kind = FieldParser<Reduction>::parse(parser);
  if (failed(kind))
    return failure();
  reduction = ReductionAttr::get(parser.getContext(), *kind);
  return success();
}

inline void printReduction(OpAsmPrinter &printer, Operation *,
                           ReductionAttr reduction) {
  printer << stringifyReduction(reduction.getValue());
}

inline ParseResult parsePrecision(OpAsmParser &parser,
                                  PrecisionAttr &precision) {
  FailureOr<Precision> kind = FieldParser<Precision>::parse(parser);
  if (failed(kind))
    return failure();
  precision = PrecisionAttr::get(parser.getContext(), *kind);
  return success();
}

inline void printPrecision(OpAsmPrinter &printer, Operation *,
                           PrecisionAttr precision) {
  printer << stringifyPrecision(precision.getValue());
}

/// The name the author gave to the result; nothing is written for it.
inline ParseResult parseResultName(OpAsmParser &parser, StringAttr &name) {
  if (parser.getNumResults())
    name = parser.getBuilder().getStringAttr(parser.getResultName(0).first);
  else
    name = parser.getBuilder().getStringAttr("");
  return success();
}

inline void printResultName(OpAsmPrinter &, Operation *, StringAttr) {}

inline ParseResult parseAxisName(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

inline OptionalParseResult parseOptionalAxisName(OpAsmParser &parser,
                                                 StringAttr &name) {
  std::string text;
  // A location may follow an op that names no axis.
  if (StringRef(parser.getCurrentLocation().getPointer()).starts_with("loc("))
    return std::nullopt;
  if (failed(parser.parseOptionalKeywordOrString(&text)))
    return std::nullopt;
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

inline void printAxisName(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

inline void printOptionalAxisName(OpAsmPrinter &printer, Operation *op,
                                  StringAttr name) {
  printAxisName(printer, op, name);
}

inline ParseResult
parseAxisCoords(OpAsmParser &parser, ArrayAttr &axes,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &coords) {
  SmallVector<Attribute> names;
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        std::string name;
        if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
            parser.parseOperand(coords.emplace_back()))
          return failure();
        names.push_back(parser.getBuilder().getStringAttr(name));
        return success();
      }))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

inline void printAxisCoords(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
                            OperandRange coords) {
  if (!axes)
    return;
  llvm::interleaveComma(llvm::zip(axes, coords), printer, [&](auto pair) {
    printer.printKeywordOrString(
        cast<StringAttr>(std::get<0>(pair)).getValue());
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
}

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILEDIRECTIVES_H
