//===- TileTypes.cpp - Syntax of the tile dialect's types -----------------===//
#include "TileSyntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_TYPEDEF_CLASSES
#include "mkernel/Dialect/Tile/TileTypes.cpp.inc"

void MkDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "mkernel/Dialect/Tile/TileTypes.cpp.inc"
      >();
}

Type SignalType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  StringRef scopeName;
  int64_t arrivals = kDynamicArrivals;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true,
                                /*withTrailingX=*/false) ||
      parser.parseComma() || parser.parseKeyword(&scopeName) || parser.parseComma())
    return {};
  std::optional<Scope> scope = symbolizeScope(scopeName);
  if (!scope) {
    parser.emitError(loc) << "unknown signal scope '" << scopeName << "', expected gpu or sys";
    return {};
  }
  if (failed(parser.parseOptionalKeyword("dynamic"))) {
    if (parser.parseKeyword("arrivals", " = n or 'dynamic'") || parser.parseEqual())
      return {};
    if (succeeded(parser.parseOptionalQuestion()))
      arrivals = kRuntimeArrivals;
    else if (parser.parseInteger(arrivals))
      return {};
    else if (arrivals < 0) {
      // The values below zero stand for '?' and 'dynamic' in memory only.
      parser.emitError(loc) << "a signal needs at least one arrival a launch, got " << arrivals;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SignalType>(loc, parser.getContext(), shape, *scope, arrivals);
}

void SignalType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << ", " << stringifyScope(getScope()) << ", ";
  if (isDynamic())
    printer << "dynamic";
  else if (hasRuntimeArrivals())
    printer << "arrivals = ?";
  else
    printer << "arrivals = " << getArrivals();
  printer << '>';
}

Type CounterType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<CounterType>(loc, parser.getContext(), shape);
}

void CounterType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << '>';
}

Type QueueType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(elementType) ||
      parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc)
        << "a queue type has a capacity and a record width, as in !mk.queue<?x2xi32>; got "
        << shape.size() << " extents";
    return {};
  }
  return parser.getChecked<QueueType>(loc, parser.getContext(), shape[0], shape[1], elementType);
}

void QueueType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList({getCapacity(), getWidth()});
  printer << 'x' << getElementType() << '>';
}
