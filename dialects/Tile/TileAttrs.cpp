//===- TileAttrs.cpp - Syntax of the tile dialect's attributes ------------===//
#include "TileSyntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_ATTRDEF_CLASSES
#include "mkernel/Dialect/Tile/TileAttrs.cpp.inc"

void MkDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mkernel/Dialect/Tile/TileAttrs.cpp.inc"
      >();
}

/// Parses `= integer`.
static ParseResult parseValue(AsmParser &parser, int64_t &value) {
  return failure(parser.parseEqual() || parser.parseInteger(value));
}

ParseResult mk::parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

/// Parses `= integer` or `= NAME`.
static ParseResult parseValueOrParam(AsmParser &parser, int64_t &value, StringAttr &name) {
  if (parser.parseEqual())
    return failure();
  OptionalParseResult number = parser.parseOptionalInteger(value);
  return number.has_value() ? *number : parseName(parser, name);
}

/// Between angle brackets.
template <typename AttrT> static Attribute parseAttr(AsmParser &parser) {
  AttrT attr;
  if (parser.parseLess() || parseBody(parser, attr) || parser.parseGreater())
    return {};
  return attr;
}
template <typename AttrT> static void printAttr(AsmPrinter &printer, AttrT attr) {
  printer << '<';
  printBody(printer, attr);
  printer << '>';
}

static void printValueOrParam(AsmPrinter &printer, int64_t value, StringAttr name) {
  if (name)
    printer.printKeywordOrString(name.getValue());
  else
    printer << value;
}

//===----------------------------------------------------------------------===//
// Axis
//===----------------------------------------------------------------------===//

ParseResult mk::parseBody(AsmParser &parser, AxisAttr &axis) {
  std::string name;
  int64_t size = ShapedType::kDynamic;
  StringRef link;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name)) && failed(parser.parseKeywordOrString(&name)))
    return failure();
  if (parser.parseEqual())
    return failure();
  if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(size))
    return failure();
  if (parser.parseKeyword("via") || parser.parseKeyword(&link))
    return failure();
  std::optional<LinkKind> kind = symbolizeLinkKind(link);
  if (!kind)
    return parser.emitError(loc) << "axis '" << name << "': unknown link kind '" << link
                                 << "', expected 'link' (peers load and store) or 'net' (only the "
                                    "transport reaches them)";
  axis = parser.getChecked<AxisAttr>(loc, parser.getContext(), name, size, *kind);
  return success(bool(axis));
}

void mk::printBody(AsmPrinter &printer, AxisAttr axis, bool quoted) {
  if (quoted)
    printer << '"' << axis.getName() << '"';
  else
    printer.printKeywordOrString(axis.getName());
  printer << " = ";
  if (ShapedType::isDynamic(axis.getSize()))
    printer << '?';
  else
    printer << axis.getSize();
  printer << " via " << stringifyLinkKind(axis.getLink());
}

Attribute AxisAttr::parse(AsmParser &parser, Type) { return parseAttr<AxisAttr>(parser); }
void AxisAttr::print(AsmPrinter &printer) const { printAttr(printer, *this); }

//===----------------------------------------------------------------------===//
// Ctas
//===----------------------------------------------------------------------===//

ParseResult mk::parseBody(AsmParser &parser, CtasAttr &ctas) {
  int64_t fixed = 0, min = 1;
  double share = 0;
  bool rest = false, engines = false;
  StringAttr param, beside;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult number = parser.parseOptionalInteger(fixed);
  if (number.has_value() && failed(*number))
    return failure();
  if (!number.has_value() && succeeded(parser.parseOptionalKeyword("engines"))) {
    engines = true;
    fixed = min = 1;
  } else if (succeeded(parser.parseOptionalKeyword("beside"))) {
    if (parser.parseSymbolName(beside))
      return failure();
    min = number.has_value() ? fixed : 1;
  } else if (number.has_value()) {
    min = fixed;
  } else if (succeeded(parser.parseOptionalKeyword("param"))) {
    if (parseName(parser, param))
      return failure();
    if (succeeded(parser.parseOptionalComma()) &&
        (parser.parseKeyword("share") || parser.parseEqual() || parser.parseFloat(share)))
      return failure();
  } else {
    if (succeeded(parser.parseOptionalKeyword("rest")))
      rest = true;
    else if (parser.parseKeyword("share", ", 'rest', 'beside', 'engines' or a number of CTAs") ||
             parser.parseEqual() || parser.parseFloat(share))
      return failure();
    if (succeeded(parser.parseOptionalComma()) &&
        (parser.parseKeyword("min") || parseValue(parser, min)))
      return failure();
  }
  ctas = parser.getChecked<CtasAttr>(loc, parser.getContext(), fixed, APFloat(share), rest, min,
                                     param, beside, engines);
  return success(bool(ctas));
}

void mk::printBody(AsmPrinter &printer, CtasAttr ctas) {
  if (StringAttr param = ctas.getFixedParam()) {
    printer << "param ";
    printer.printKeywordOrString(param.getValue());
    if (!ctas.getShare().isZero()) {
      printer << ", share = ";
      printer.printFloat(ctas.getShare());
    }
    return;
  }
  if (ctas.getEngines()) {
    printer << "engines";
    return;
  }
  if (ctas.getFixed())
    printer << ctas.getFixed();
  if (StringAttr beside = ctas.getBeside()) {
    printer << (ctas.getFixed() ? " beside " : "beside ");
    printer.printSymbolName(beside.getValue());
  }
  if (ctas.getFixed() || ctas.getBeside())
    return;
  if (ctas.getRest()) {
    printer << "rest";
  } else {
    printer << "share = ";
    printer.printFloat(ctas.getShare());
  }
  if (ctas.getMin() != 1)
    printer << ", min = " << ctas.getMin();
}

Attribute CtasAttr::parse(AsmParser &parser, Type) { return parseAttr<CtasAttr>(parser); }
void CtasAttr::print(AsmPrinter &printer) const { printAttr(printer, *this); }

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

ParseResult mk::parseBody(AsmParser &parser, ScheduleAttr &schedule) {
  StringRef name;
  int64_t tail = 0, parts = 0;
  StringAttr kindParam, tailParam, partsParam;
  std::optional<ScheduleKind> kind = ScheduleKind::Static;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  if (name == "param") {
    if (parseName(parser, kindParam))
      return failure();
  } else if (!(kind = symbolizeScheduleKind(name))) {
    return parser.emitError(loc) << "unknown schedule '" << name
                                 << "', expected static, ticket, stream_k or param NAME";
  }
  while (succeeded(parser.parseOptionalComma())) {
    bool isParts = succeeded(parser.parseOptionalKeyword("parts"));
    if ((!isParts && parser.parseKeyword("tail")) ||
        parseValueOrParam(parser, isParts ? parts : tail, isParts ? partsParam : tailParam))
      return failure();
  }
  schedule = parser.getChecked<ScheduleAttr>(loc, parser.getContext(), *kind, tail, parts,
                                             kindParam, tailParam, partsParam);
  return success(bool(schedule));
}

void mk::printBody(AsmPrinter &printer, ScheduleAttr schedule) {
  if (StringAttr param = schedule.getKindParam()) {
    printer << "param ";
    printer.printKeywordOrString(param.getValue());
  } else {
    printer << stringifyScheduleKind(schedule.getKind());
  }
  if (schedule.getTail() || schedule.getTailParam()) {
    printer << ", tail = ";
    printValueOrParam(printer, schedule.getTail(), schedule.getTailParam());
  }
  if (schedule.getParts() || schedule.getPartsParam()) {
    printer << ", parts = ";
    printValueOrParam(printer, schedule.getParts(), schedule.getPartsParam());
  }
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) { return parseAttr<ScheduleAttr>(parser); }
void ScheduleAttr::print(AsmPrinter &printer) const { printAttr(printer, *this); }

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

ParseResult mk::parseBody(AsmParser &parser, OrderAttr &order) {
  int64_t raster = 0, spread = 0, longest = 0, alternate = 0;
  OwnPlace own = OwnPlace::Any;
  bool stagger = false;
  StringAttr rasterParam, alternateParam;
  SMLoc loc = parser.getCurrentLocation();
  // 0 is what is not said.
  auto checkCount = [&](StringRef what, SMLoc at, bool isZero) -> ParseResult {
    if (!isZero)
      return success();
    return parser.emitError(at) << what << " = 0: it counts items and is at least 1";
  };
  auto parseItem = [&]() -> ParseResult {
    SMLoc itemLoc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword("stagger"))) {
      stagger = true;
      return success();
    }
    if (succeeded(parser.parseOptionalKeyword("raster")))
      return failure(parseValueOrParam(parser, raster, rasterParam) ||
                     checkCount("raster", itemLoc, !raster && !rasterParam));
    if (succeeded(parser.parseOptionalKeyword("alternate")))
      return parseValueOrParam(parser, alternate, alternateParam);
    if (succeeded(parser.parseOptionalKeyword("longest_first"))) {
      longest = 1;
      if (succeeded(parser.parseOptionalEqual()))
        return failure(parser.parseInteger(longest) ||
                       checkCount("longest_first", itemLoc, longest == 0));
      return success();
    }
    StringRef place;
    if (failed(parser.parseOptionalKeyword("own")))
      return parser.emitError(itemLoc)
             << "expected raster, own, stagger, longest_first or alternate";
    if (parser.parseEqual() || parser.parseKeyword(&place))
      return failure();
    std::optional<OwnPlace> symbol = symbolizeOwnPlace(place);
    if (!symbol || *symbol == OwnPlace::Any)
      return parser.emitError(itemLoc)
             << "own = '" << place << "', expected first, last or spread(n)";
    own = *symbol;
    if (own == OwnPlace::Spread)
      return failure(parser.parseLParen() || parser.parseInteger(spread) || parser.parseRParen());
    return success();
  };
  if (parser.parseCommaSeparatedList(parseItem))
    return failure();
  order = parser.getChecked<OrderAttr>(loc, parser.getContext(), raster, own, spread, stagger,
                                       longest, alternate, rasterParam, alternateParam);
  return success(bool(order));
}

void mk::printBody(AsmPrinter &printer, OrderAttr order) {
  StringRef separator = "";
  auto item = [&]() -> AsmPrinter & {
    printer << separator;
    separator = ", ";
    return printer;
  };
  if (order.hasRaster()) {
    item() << "raster = ";
    printValueOrParam(printer, order.getRaster(), order.getRasterParam());
  }
  if (order.getOwn() != OwnPlace::Any) {
    item() << "own = " << stringifyOwnPlace(order.getOwn());
    if (order.getOwn() == OwnPlace::Spread)
      printer << '(' << order.getSpread() << ')';
  }
  if (order.getStagger())
    item() << "stagger";
  if (order.getLongestFirst()) {
    item() << "longest_first";
    if (order.getLongestFirst() != 1)
      printer << " = " << order.getLongestFirst();
  }
  if (order.hasAlternate()) {
    item() << "alternate = ";
    printValueOrParam(printer, order.getAlternate(), order.getAlternateParam());
  }
}

Attribute OrderAttr::parse(AsmParser &parser, Type) { return parseAttr<OrderAttr>(parser); }
void OrderAttr::print(AsmPrinter &printer) const { printAttr(printer, *this); }

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Attribute ExtentsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeywordOrString(&name)))
      return parser.emitError(loc) << "#mk.extents names parameters: give one for each '?' of the "
                                      "shape, in order, and none for what is a number";
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(parseOne) || parser.parseGreater())
    return {};
  return get(parser.getContext(), names);
}

void ExtentsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getNames(), printer.getStream(),
                        [&](StringAttr name) { printer.printKeywordOrString(name.getValue()); });
  printer << '>';
}

LogicalResult
ExtentsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                            llvm::function_ref<InFlightDiagnostic()> emitError) const {
  size_t open = llvm::count(shape, ShapedType::kDynamic);
  if (open == getNames().size())
    return success();
  return emitError() << "#mk.extents names " << getNames().size() << " parameters for a shape with "
                     << open << " '?': give one for each, in order";
}
