//===- SMOps.cpp - Syntax and result types of the SM dialect's ops --------===//
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static ParseResult parseOffsets(OpAsmParser &parser, DictionaryAttr &offsets) {
  NamedAttrList pieces;
  auto parsePiece = [&]() -> ParseResult {
    std::string name;
    int64_t offset = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(offset))
      return failure();
    if (pieces.set(name, parser.getBuilder().getI64IntegerAttr(offset)))
      return parser.emitError(loc) << "'" << name << "' has an offset already";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePiece))
    return failure();
  offsets = pieces.getDictionary(parser.getContext());
  return success();
}

static void printOffsets(OpAsmPrinter &p, Operation *, DictionaryAttr offsets) {
  p << '(';
  llvm::interleaveComma(offsets, p, [&](NamedAttribute piece) {
    p.printKeywordOrString(piece.getName());
    p << " = " << cast<IntegerAttr>(piece.getValue()).getInt();
  });
  p << ')';
}

#define GET_OP_CLASSES
#include "mkernel/Dialect/SM/SMOps.cpp.inc"

void MkSMDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/SM/SMOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

void ItemsOp::build(OpBuilder &b, OperationState &state, Value total, int64_t teams,
                    int64_t every) {
  state.addOperands(total);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.setTeams(b.getI64IntegerAttr(teams));
  properties.setEvery(b.getI64IntegerAttr(every));
  properties.setParts(b.getI64IntegerAttr(1));
  auto *body = new Block;
  body->addArguments({b.getIndexType(), b.getIndexType()}, {state.location, state.location});
  state.addRegion()->push_back(body);
}

ParseResult ItemsOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::Argument item, round;
  OpAsmParser::UnresolvedOperand total;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseLParen() || parser.parseArgument(item) || parser.parseRParen() ||
      parser.parseKeyword("round") || parser.parseLParen() || parser.parseArgument(round) ||
      parser.parseRParen() || parser.parseKeyword("of") || parser.parseOperand(total) ||
      parser.resolveOperand(total, index, state.operands))
    return failure();
  Properties &properties = state.getOrAddProperties<Properties>();
  auto parseNumber = [&](StringRef keyword, auto set) -> ParseResult {
    int64_t value = 1;
    if (succeeded(parser.parseOptionalKeyword(keyword)) &&
        (parser.parseLParen() || parser.parseInteger(value) || parser.parseRParen()))
      return failure();
    set(parser.getBuilder().getI64IntegerAttr(value));
    return success();
  };
  item.type = round.type = index;
  SmallVector<OpAsmParser::Argument> arguments = {item, round};
  if (succeeded(parser.parseOptionalKeyword("iter_args")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        OpAsmParser::Argument &carried = arguments.emplace_back();
        OpAsmParser::UnresolvedOperand init;
        return failure(parser.parseArgument(carried) || parser.parseEqual() ||
                       parser.parseOperand(init) || parser.parseColonType(carried.type) ||
                       parser.resolveOperand(init, carried.type, state.operands));
      }))
    return failure();
  return failure(failed(parseNumber("teams", [&](IntegerAttr n) { properties.setTeams(n); })) ||
                 failed(parseNumber("every", [&](IntegerAttr n) { properties.setEvery(n); })) ||
                 failed(parseNumber("parts", [&](IntegerAttr n) { properties.setParts(n); })) ||
                 failed(parser.parseOptionalAttrDictWithKeyword(state.attributes)) ||
                 failed(parser.parseRegion(*state.addRegion(), arguments)));
}

void ItemsOp::print(OpAsmPrinter &p) {
  p << " (" << getItem() << ") round(" << getRound() << ") of " << getTotal();
  if (!getInits().empty()) {
    p << " iter_args(";
    llvm::interleaveComma(llvm::zip_equal(getRegionIterArgs(), getInits()), p, [&](auto pair) {
      auto [carried, init] = pair;
      p << carried << " = " << init << " : " << init.getType();
    });
    p << ')';
  }
  if (getTeams() != 1)
    p << " teams(" << getTeams() << ')';
  if (getEvery() != 1)
    p << " every(" << getEvery() << ')';
  if (getParts() != 1)
    p << " parts(" << getParts() << ')';
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"teams", "every", "parts"});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

SmallVector<Region *> ItemsOp::getLoopRegions() { return {&getBody()}; }

Block::BlockArgListType ItemsOp::getRegionIterArgs() {
  return getBody().getArguments().drop_front(2);
}

LogicalResult PopOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                      SmallVectorImpl<Type> &types) {
  if (auto queue = dyn_cast<mk::QueueType>(op.getQueue().getType()))
    types.assign(queue.getWidth(), IndexType::get(context));
  return success();
}

LogicalResult ForwardOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, op.getScalars().getTypes());
  return success();
}

LogicalResult ReceiveOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  if (auto mailbox = dyn_cast<MailboxType>(op.getMailbox().getType()))
    types.assign(mailbox.getWords(), IndexType::get(context));
  return success();
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

LogicalResult MmaFenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, op.getFragments().getTypes());
  return success();
}

LogicalResult MmaWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, op.getFragments().getTypes());
  return success();
}

LogicalResult PartialSumOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor op,
                                             SmallVectorImpl<Type> &types) {
  Type type = op.getSource().getType();
  auto from = dyn_cast<RankedTensorType>(type);
  // A parser asks before defaults are set.
  IntegerAttr given = op.getProperties().axis;
  int64_t axis = given ? given.getInt() : 1;
  RankedTensorType to = from ? getPartialType(from, axis) : RankedTensorType();
  if (!to)
    return emitOptionalError(loc,
                             "'mk_sm.partial_sum' op adds up rows of a tile with layout "
                             "#mk_sm.mma, rows or columns of one that is dealt out without "
                             "idle threads, of which a thread has several elements; not axis ",
                             axis, " of ", type);
  types.push_back(to);
  return success();
}

DeferOp mk_sm::getDeferral(Operation *op) {
  return op->getNumResults() == 1 && op->hasOneUse() ? dyn_cast<DeferOp>(*op->user_begin())
                                                     : DeferOp();
}
