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

//===----------------------------------------------------------------------===//
// Axis
//===----------------------------------------------------------------------===//

FailureOr<AxisAttr> mk::parseAxisBody(AsmParser &parser) {
  std::string name;
  int64_t size = ShapedType::kDynamic;
  StringRef link;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name)) &&
      failed(parser.parseKeywordOrString(&name)))
    return failure();
  if (parser.parseEqual())
    return failure();
  if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(size))
    return failure();
  if (parser.parseKeyword("via") || parser.parseKeyword(&link))
    return failure();
  std::optional<LinkKind> kind = symbolizeLinkKind(link);
  if (!kind)
    return parser.emitError(loc)
           << "axis '" << name << "': unknown link kind '" << link
           << "', expected 'link' (peers load and store) or 'net' (only the "
              "transport reaches them)";
  auto axis = AxisAttr::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(), name, size, *kind);
  if (!axis)
    return failure();
  return axis;
}

void mk::printAxisBody(AsmPrinter &printer, AxisAttr axis, bool quoted) {
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

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisAttr> axis = parseAxisBody(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxisBody(printer, *this, /*quoted=*/true);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Ctas
//===----------------------------------------------------------------------===//

FailureOr<CtasAttr> mk::parseCtasBody(AsmParser &parser) {
  int64_t fixed = 0, min = 1;
  double share = 0;
  bool rest = false;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult number = parser.parseOptionalInteger(fixed);
  if (number.has_value()) {
    if (failed(*number))
      return failure();
    min = fixed;
  } else {
    if (succeeded(parser.parseOptionalKeyword("rest")))
      rest = true;
    else if (parser.parseKeyword("share", ", 'rest' or a number of CTAs") ||
             parser.parseEqual() || parser.parseFloat(share))
      return failure();
    if (succeeded(parser.parseOptionalComma()) &&
        (parser.parseKeyword("min") || parseValue(parser, min)))
      return failure();
  }
  auto ctas = CtasAttr::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(), fixed, APFloat(share), rest,
                                   min);
  if (!ctas)
    return failure();
  return ctas;
}

void mk::printCtasBody(AsmPrinter &printer, CtasAttr ctas) {
  if (ctas.getFixed()) {
    printer << ctas.getFixed();
    return;
  }
  if (ctas.getRest()) {
    printer << "rest";
  } else {
    printer << "share = ";
    printer.printFloat(ctas.getShare());
  }
  if (ctas.getMin() != 1)
    printer << ", min = " << ctas.getMin();
}

Attribute CtasAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<CtasAttr> ctas = parseCtasBody(parser);
  if (failed(ctas) || parser.parseGreater())
    return {};
  return *ctas;
}

void CtasAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printCtasBody(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

FailureOr<ScheduleAttr> mk::parseScheduleBody(AsmParser &parser) {
  StringRef name;
  int64_t tail = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<ScheduleKind> kind = symbolizeScheduleKind(name);
  if (!kind)
    return parser.emitError(loc) << "unknown schedule '" << name
                                 << "', expected static, ticket or stream_k";
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("tail") || parseValue(parser, tail)))
    return failure();
  auto schedule =
      ScheduleAttr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), *kind, tail);
  if (!schedule)
    return failure();
  return schedule;
}

void mk::printScheduleBody(AsmPrinter &printer, ScheduleAttr schedule) {
  printer << stringifyScheduleKind(schedule.getKind());
  if (schedule.getTail())
    printer << ", tail = " << schedule.getTail();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ScheduleAttr> schedule = parseScheduleBody(parser);
  if (failed(schedule) || parser.parseGreater())
    return {};
  return *schedule;
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printScheduleBody(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

FailureOr<OrderAttr> mk::parseOrderBody(AsmParser &parser) {
  int64_t raster = 0, spread = 0, longest = 0;
  OwnPlace own = OwnPlace::Any;
  bool stagger = false;
  SMLoc loc = parser.getCurrentLocation();
  auto parseItem = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("stagger"))) {
      stagger = true;
      return success();
    }
    if (succeeded(parser.parseOptionalKeyword("raster")))
      return parseValue(parser, raster);
    if (succeeded(parser.parseOptionalKeyword("longest_first"))) {
      longest = 1;
      if (succeeded(parser.parseOptionalEqual()))
        return parser.parseInteger(longest);
      return success();
    }
    StringRef place;
    SMLoc itemLoc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword("own")))
      return parser.emitError(itemLoc) << "expected raster, own, stagger or "
                                          "longest_first";
    if (parser.parseEqual() || parser.parseKeyword(&place))
      return failure();
    std::optional<OwnPlace> symbol = symbolizeOwnPlace(place);
    if (!symbol || *symbol == OwnPlace::Any)
      return parser.emitError(itemLoc)
             << "own = '" << place << "', expected first, last or spread(n)";
    own = *symbol;
    if (own == OwnPlace::Spread)
      return failure(parser.parseLParen() || parser.parseInteger(spread) ||
                     parser.parseRParen());
    return success();
  };
  if (parser.parseCommaSeparatedList(parseItem))
    return failure();
  auto order =
      OrderAttr::getChecked([&] { return parser.emitError(loc); },
                            parser.getContext(), raster, own, spread, stagger,
                            longest);
  if (!order)
    return failure();
  return order;
}

void mk::printOrderBody(AsmPrinter &printer, OrderAttr order) {
  StringRef separator = "";
  auto item = [&]() -> AsmPrinter & {
    printer << separator;
    separator = ", ";
    return printer;
  };
  if (order.getRaster())
    item() << "raster = " << order.getRaster();
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
}

Attribute OrderAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<OrderAttr> order = parseOrderBody(parser);
  if (failed(order) || parser.parseGreater())
    return {};
  return *order;
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printOrderBody(printer, *this);
  printer << '>';
}
