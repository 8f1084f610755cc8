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
  auto parseAxis = [&]() -> ParseResult {
    AxisAttr axis;
    if (parseBody(parser, axis))
      return failure();
    list.push_back(axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseAxis))
    return failure();
  axes = parser.getBuilder().getArrayAttr(list);
  return success();
}
inline void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  llvm::interleaveComma(axes.getAsRange<AxisAttr>(), printer,
                        [&](AxisAttr axis) { printBody(printer, axis, /*quoted=*/false); });
}

inline ParseResult parseCtas(OpAsmParser &parser, CtasAttr &ctas) {
  return parseBody(parser, ctas);
}
inline void printCtas(OpAsmPrinter &printer, Operation *, CtasAttr ctas) {
  printBody(printer, ctas);
}

/// The word for a value of an enumeration, without brackets.
template <typename AttrT> ParseResult parseWord(OpAsmParser &parser, AttrT &attr) {
  auto kind = FieldParser<decltype(attr.getValue())>::parse(parser);
  if (failed(kind))
    return failure();
  attr = AttrT::get(parser.getContext(), *kind);
  return success();
}
template <typename AttrT> void printWord(OpAsmPrinter &printer, Operation *, AttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

/// The default of a parameter.
inline ParseResult parseDefaultNumber(OpAsmParser &parser, IntegerAttr &number) {
  int64_t value = 0;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(value);
  if (!parsed.has_value())
    return parser.emitError(loc) << "has a default that is no integer: write a number, as in "
                                    "'mk.param \"TM\" = 128', or a value: default(%v)";
  number = parser.getBuilder().getI64IntegerAttr(value);
  return *parsed;
}
inline void printDefaultNumber(OpAsmPrinter &printer, Operation *, IntegerAttr number) {
  printer << number.getInt();
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
  return parseName(parser, name);
}

inline OptionalParseResult parseOptionalAxisName(OpAsmParser &parser, StringAttr &name) {
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

inline void printOptionalAxisName(OpAsmPrinter &printer, Operation *op, StringAttr name) {
  printAxisName(printer, op, name);
}

inline ParseResult parseAxisCoords(OpAsmParser &parser, ArrayAttr &axes,
                                   SmallVectorImpl<OpAsmParser::UnresolvedOperand> &coords) {
  SmallVector<Attribute> names;
  auto parseCoord = [&]() -> ParseResult {
    StringAttr name;
    if (parseName(parser, name) || parser.parseEqual() ||
        parser.parseOperand(coords.emplace_back()))
      return failure();
    names.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseCoord))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

inline void printAxisCoords(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
                            OperandRange coords) {
  if (!axes)
    return;
  llvm::interleaveComma(llvm::zip(axes, coords), printer, [&](auto pair) {
    printer.printKeywordOrString(cast<StringAttr>(std::get<0>(pair)).getValue());
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
}

} // namespace mlir::mk

#endif // MKERNEL_DIALECTS_TILE_TILEDIRECTIVES_H
