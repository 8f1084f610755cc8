//===- TileLoopOps.cpp - Syntax of iteration ------------------------------===//
#include "TileDirectives.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileLoopOps.cpp.inc"

void MkDialect::registerLoopOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileLoopOps.cpp.inc"
      >();
}

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// Parses `(%i, %j)` as block arguments of index type.
static ParseResult parseIndices(OpAsmParser &parser,
                                SmallVectorImpl<OpAsmParser::Argument> &indices) {
  if (parser.parseArgumentList(indices, AsmParser::Delimiter::Paren))
    return failure();
  for (OpAsmParser::Argument &index : indices)
    index.type = parser.getBuilder().getIndexType();
  return success();
}

ParseResult mk::parseRegionOf(OpAsmParser &parser, OperationState &result,
                              ArrayRef<OpAsmParser::Argument> args) {
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

static void printIndices(OpAsmPrinter &p, ValueRange indices) {
  p << '(';
  p.printOperands(indices);
  p << ')';
}

static void printRegionOf(OpAsmPrinter &p, Region &body, bool terminator = false) {
  p << ' ';
  p.printRegion(body, /*printEntryBlockArgs=*/false, terminator);
}

//===----------------------------------------------------------------------===//
// ForeachOp
//===----------------------------------------------------------------------===//

ScheduleKind ForeachOp::getScheduleKind() {
  return getSchedule() ? getSchedule()->getKind() : ScheduleKind::Static;
}

bool mk::isDistributedLoop(Operation *op) {
  if (!isa<ForeachOp, ForeachItemOp>(op))
    return false;
  for (Operation *up = op->getParentOp(); up; up = up->getParentOp()) {
    if (isa<ForeachOp, ForeachItemOp>(up))
      return false;
  }
  return true;
}

ParseResult ForeachOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> indices;
  Operands bounds, likely, own;
  if (parseIndices(parser, indices) || parser.parseKeyword("in") ||
      parser.parseOperandList(bounds, AsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("likely")) &&
      parser.parseOperandList(likely, /*requiredOperandCount=*/1, AsmParser::Delimiter::Paren))
    return failure();
  Properties &props = result.getOrAddProperties<Properties>();
  if ((succeeded(parser.parseOptionalKeyword("schedule")) &&
       (parser.parseLParen() || parseBody(parser, props.schedule) || parser.parseRParen())) ||
      (succeeded(parser.parseOptionalKeyword("order")) &&
       (parser.parseLParen() || parseBody(parser, props.order) || parser.parseRParen())))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("own")) &&
      parser.parseOperandList(own, AsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Type index = parser.getBuilder().getIndexType();
  if (parser.resolveOperands(bounds, index, result.operands) ||
      parser.resolveOperands(likely, index, result.operands) ||
      parser.resolveOperands(own, index, result.operands))
    return failure();
  props.operandSegmentSizes = {static_cast<int32_t>(bounds.size()),
                               static_cast<int32_t>(likely.size()),
                               static_cast<int32_t>(own.size())};
  return parseRegionOf(parser, result, indices);
}

void ForeachOp::print(OpAsmPrinter &p) {
  p << ' ';
  printIndices(p, getBody().getArguments());
  p << " in ";
  printIndices(p, getBounds());
  if (getLikely())
    p << " likely(" << getLikely() << ')';
  if (getSchedule()) {
    p << " schedule(";
    printBody(p, *getSchedule());
    p << ')';
  }
  if (getOrder()) {
    p << " order(";
    printBody(p, *getOrder());
    p << ')';
  }
  if (!getOwn().empty()) {
    p << " own";
    printIndices(p, getOwn());
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {"operandSegmentSizes", "schedule", "order"});
  printRegionOf(p, getBody());
}

//===----------------------------------------------------------------------===//
// ForeachItemOp
//===----------------------------------------------------------------------===//

ParseResult ForeachItemOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> indices, inner;
  OpAsmParser::UnresolvedOperand queue, count;
  Operands bounds;
  Type queueType;
  if (parseIndices(parser, indices) || parser.parseKeyword("of") || parser.parseOperand(queue) ||
      parser.parseKeyword("count") || parser.parseLParen() || parser.parseOperand(count) ||
      parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalComma()) &&
      (parseIndices(parser, inner) || parser.parseKeyword("in") ||
       parser.parseOperandList(bounds, AsmParser::Delimiter::Paren)))
    return failure();
  if (parser.parseColonType(queueType) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  indices.append(inner);
  Type index = parser.getBuilder().getIndexType();
  if (parser.resolveOperand(queue, queueType, result.operands) ||
      parser.resolveOperand(count, index, result.operands) ||
      parser.resolveOperands(bounds, index, result.operands))
    return failure();
  return parseRegionOf(parser, result, indices);
}

void ForeachItemOp::print(OpAsmPrinter &p) {
  ValueRange args = getBody().getArguments();
  unsigned width = args.size() - getBounds().size();
  p << ' ';
  printIndices(p, args.take_front(width));
  p << " of " << getQueue() << " count(" << getCount() << ')';
  if (!getBounds().empty()) {
    p << ", ";
    printIndices(p, args.drop_front(width));
    p << " in ";
    printIndices(p, getBounds());
  }
  p << " : " << getQueue().getType();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printRegionOf(p, getBody());
}

//===----------------------------------------------------------------------===//
// ForeachPeerOp
//===----------------------------------------------------------------------===//

bool ForeachPeerOp::isAlong(MeshOp mesh, LinkKind kind) {
  if (getIncludingSelf() && kind == LinkKind::Net)
    return false;
  return llvm::all_of(getAxes().getAsRange<StringAttr>(), [&](StringAttr name) {
    int place = mesh.findAxis(name.getValue());
    if (place < 0)
      return true; // the loop's own verifier says so
    AxisAttr axis = mesh.getAxis(place);
    return axis.getLink() == kind || axis.getSize() == 1;
  });
}

ParseResult ForeachPeerOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> indices;
  SmallVector<Attribute> axes;
  if (parseIndices(parser, indices) || parser.parseKeyword("along") || parseAxisNames(parser, axes))
    return failure();
  Properties &props = result.getOrAddProperties<Properties>();
  props.setAxes(parser.getBuilder().getArrayAttr(axes));
  if (succeeded(parser.parseOptionalKeyword("including"))) {
    if (parser.parseKeyword("self"))
      return failure();
    props.setIncludingSelf(parser.getBuilder().getUnitAttr());
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parseRegionOf(parser, result, indices);
}

void ForeachPeerOp::print(OpAsmPrinter &p) {
  p << ' ';
  printIndices(p, getBody().getArguments());
  p << " along ";
  printAxisNames(p, getAxes());
  if (getIncludingSelf())
    p << " including self";
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"axes", "including_self"});
  printRegionOf(p, getBody());
}

//===----------------------------------------------------------------------===//
// FoldOp
//===----------------------------------------------------------------------===//

ParseResult FoldOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  OpAsmParser::UnresolvedOperand count;
  Operands inits;
  if (parseIndices(parser, args) || parser.parseKeyword("in") || parser.parseLParen() ||
      parser.parseOperand(count) || parser.parseRParen() || parser.parseKeyword("iter"))
    return failure();
  SmallVector<OpAsmParser::Argument> carried;
  if (parser.parseAssignmentList(carried, inits))
    return failure();
  Properties &props = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen())
      return failure();
    FlatSymbolRefAttr function;
    StringRef kind;
    OptionalParseResult symbol = parser.parseOptionalAttribute(function);
    if (symbol.has_value()) {
      if (failed(*symbol))
        return failure();
      props.combine = function;
    } else {
      if (parser.parseKeyword(&kind))
        return failure();
      std::optional<Reduction> reduction = symbolizeReduction(kind);
      if (!reduction)
        return parser.emitError(loc)
               << "unknown reduction '" << kind << "', expected add, mul, max, min or @function";
      props.combine = ReductionAttr::get(parser.getContext(), *reduction);
    }
    if (parser.parseRParen())
      return failure();
  }
  SMLoc typesLoc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseColonTypeList(types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  if (types.size() != inits.size())
    return parser.emitError(typesLoc) << "mk.fold carries " << inits.size() << " values but lists "
                                      << types.size() << " types";
  for (auto [arg, type] : llvm::zip(carried, types))
    arg.type = type;
  args.append(carried);
  if (parser.resolveOperand(count, parser.getBuilder().getIndexType(), result.operands) ||
      parser.resolveOperands(inits, types, typesLoc, result.operands))
    return failure();
  result.addTypes(types);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void FoldOp::print(OpAsmPrinter &p) {
  ValueRange args = getBody().getArguments();
  p << ' ';
  printIndices(p, args.take_front(1));
  p << " in (" << getCount() << ") iter(";
  llvm::interleaveComma(llvm::zip(args.drop_front(), getInits()), p,
                        [&](auto pair) { p << std::get<0>(pair) << " = " << std::get<1>(pair); });
  p << ')';
  if (Attribute combine = getCombineAttr()) {
    p << " combine(";
    if (auto reduction = dyn_cast<ReductionAttr>(combine))
      p << stringifyReduction(reduction.getValue());
    else
      p.printAttribute(combine);
    p << ')';
  }
  p << " : ";
  llvm::interleaveComma(getResultTypes(), p);
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"combine"});
  printRegionOf(p, getBody(), /*terminator=*/true);
}
