//===- TileOpDefs.cpp - Generated definitions and small directives --------===//
#include "TileSyntax.h"

using namespace mlir;
using namespace mlir::mk;

//===----------------------------------------------------------------------===//
// Custom directives of the assembly formats
//===----------------------------------------------------------------------===//

static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
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

static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printAxisBody(printer, cast<AxisAttr>(axis), /*quoted=*/false);
  });
}

static ParseResult parseCtas(OpAsmParser &parser, CtasAttr &ctas) {
  FailureOr<CtasAttr> parsed = parseCtasBody(parser);
  if (failed(parsed))
    return failure();
  ctas = *parsed;
  return success();
}

static void printCtas(OpAsmPrinter &printer, Operation *, CtasAttr ctas) {
  printCtasBody(printer, ctas);
}

static ParseResult parseReduction(OpAsmParser &parser,
                                  ReductionAttr &reduction) {
  FailureOr<Reduction> kind = FieldParser<Reduction>::parse(parser);
  if (failed(kind))
    return failure();
  reduction = ReductionAttr::get(parser.getContext(), *kind);
  return success();
}

static void printReduction(OpAsmPrinter &printer, Operation *,
                           ReductionAttr reduction) {
  printer << stringifyReduction(reduction.getValue());
}

static ParseResult parsePrecision(OpAsmParser &parser,
                                  PrecisionAttr &precision) {
  FailureOr<Precision> kind = FieldParser<Precision>::parse(parser);
  if (failed(kind))
    return failure();
  precision = PrecisionAttr::get(parser.getContext(), *kind);
  return success();
}

static void printPrecision(OpAsmPrinter &printer, Operation *,
                           PrecisionAttr precision) {
  printer << stringifyPrecision(precision.getValue());
}

/// The name the author gave to the result; nothing is written for it.
static ParseResult parseResultName(OpAsmParser &parser, StringAttr &name) {
  if (parser.getNumResults())
    name = parser.getBuilder().getStringAttr(parser.getResultName(0).first);
  else
    name = parser.getBuilder().getStringAttr("");
  return success();
}

static void printResultName(OpAsmPrinter &, Operation *, StringAttr) {}

static ParseResult parseAxisName(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

static OptionalParseResult parseOptionalAxisName(OpAsmParser &parser,
                                                 StringAttr &name) {
  std::string text;
  if (failed(parser.parseOptionalKeywordOrString(&text)))
    return std::nullopt;
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printAxisName(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

static void printOptionalAxisName(OpAsmPrinter &printer, Operation *op,
                                  StringAttr name) {
  printAxisName(printer, op, name);
}

static ParseResult
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

static void printAxisCoords(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
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

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileOps.cpp.inc"

void MkDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axis names
//===----------------------------------------------------------------------===//

ParseResult mk::parseAxisNames(AsmParser &parser,
                               SmallVectorImpl<Attribute> &names) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

void mk::printAxisNames(AsmPrinter &printer, ArrayAttr names) {
  llvm::interleaveComma(names, printer.getStream(), [&](Attribute name) {
    printer.printKeywordOrString(cast<StringAttr>(name).getValue());
  });
}

LogicalResult mk::verifyAxis(Operation *op, StringRef name,
                             SymbolTableCollection &symbols) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = getKernel(op);
  if (!kernel)
    return success();
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(kernel->getParentOp(),
                                                      kernel.getMeshAttr());
  // An unknown mesh is the kernel's own error.
  if (!mesh || mesh.findAxis(name) >= 0)
    return success();
  return op->emitOpError() << "names axis '" << name << "', but mesh @"
                           << mesh.getSymName() << " has " << mesh.describeAxes();
}
