//===- SMOps.cpp - Verifiers of the SM dialect's ops ----------------------===//
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

#define GET_OP_CLASSES
#include "mkernel/Dialect/SM/SMOps.cpp.inc"

void MkSMDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/SM/SMOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult PartitionOp::verify() {
  int64_t warps = getWarps(), registers = getRegisters();
  if (getKind() == PartitionKind::Producer && warps != 1)
    return emitOpError() << "is a producer of " << warps
                         << " warps: a producer is one warp";
  if (getKind() == PartitionKind::Consumer && (warps < 4 || warps > 28 || warps % 4))
    return emitOpError() << "is a consumer of " << warps
                         << " warps: it is made of 1 to 7 warpgroups of 4";
  int64_t teams = getTeams();
  if (teams != 1 && (teams != 2 || getKind() != PartitionKind::Consumer || warps != 8))
    return emitOpError() << "has " << teams << " teams of " << warps
                         << " warps: a consumer of 8 warps may have two teams of one "
                            "warpgroup";
  // setmaxnreg (PTX ISA): 24 to 256, in steps of 8.
  if (registers < 24 || registers > 256 || registers % 8)
    return emitOpError() << "has a budget of " << registers
                         << " registers a thread: it is a multiple of 8 from "
                            "24 to 256";
  // One that is verified later may have no kind yet.
  for (Operation &op : *(*this)->getBlock())
    if (auto other = dyn_cast<PartitionOp>(op))
      if (other != *this && other.getKindAttr() == getKindAttr())
        return emitOpError() << "is the second "
                             << stringifyPartitionKind(getKind())
                             << " of its role";
  return success();
}

/// Checks that `op` stands in a partition of the kind, if it is in one.
static LogicalResult verifyIn(Operation *op, PartitionKind kind) {
  auto partition = op->getParentOfType<PartitionOp>();
  if (partition && partition.getKind() != kind)
    return op->emitOpError() << "belongs into a "
                             << stringifyPartitionKind(kind) << " partition";
  return success();
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

static LogicalResult verifySlot(Operation *op, RingType ring, SlotType slot) {
  if (ring.getTiles() != slot.getTiles())
    return op->emitOpError() << "gives " << slot << " of " << ring
                             << ": their tiles differ";
  return success();
}

LogicalResult AcquireOp::verify() {
  return failure(failed(verifyIn(*this, PartitionKind::Producer)) ||
                 failed(verifySlot(*this, getRing().getType(),
                                   getSlot().getType())));
}

LogicalResult WaitOp::verify() {
  return failure(failed(verifyIn(*this, PartitionKind::Consumer)) ||
                 failed(verifySlot(*this, getRing().getType(),
                                   getSlot().getType())));
}

static LogicalResult verifyIndex(Operation *op, SlotType slot, int64_t index) {
  int64_t tiles = slot.getTiles().size();
  if (index < 0 || index >= tiles)
    return op->emitOpError() << "names tile " << index << " of a slot of "
                             << tiles;
  return success();
}

RankedTensorType CopyOp::getTileType() {
  return cast<RankedTensorType>(getSlot().getType().getTiles()[getIndex()]);
}

LogicalResult CopyOp::verify() {
  if (failed(verifyIndex(*this, getSlot().getType(), getIndex())))
    return failure();
  RankedTensorType tile = getTileType();
  auto source = cast<MemRefType>(getSource().getType());
  if (source.getElementType() != tile.getElementType() ||
      source.getRank() < tile.getRank() ||
      static_cast<int64_t>(getOffsets().size()) != source.getRank())
    return emitOpError() << "of " << tile << " from " << source << " with "
                         << getOffsets().size()
                         << " offsets: the element types must be equal, the "
                            "tile of no higher rank, one offset a dimension";
  if (!getValid().empty() &&
      static_cast<int64_t>(getValid().size()) != tile.getRank())
    return emitOpError() << "has " << getValid().size()
                         << " valid extents for a tile of rank "
                         << tile.getRank();
  // Clusters of up to 8 CTAs are portable; the swizzle's period is 8 rows (PTX ISA).
  int64_t shared = getShared(), rows = tile.getShape().end()[-2];
  if (!llvm::is_contained({1, 2, 4, 8}, shared))
    return emitOpError() << "is shared by " << shared
                         << " CTAs: a cluster has 1, 2, 4 or 8";
  if (shared > 1 && rows % (8 * shared))
    return emitOpError() << "is shared by " << shared << " CTAs, but the " << rows
                         << " rows of " << tile << " are no multiple of "
                         << 8 * shared << ": share it with fewer";
  return success();
}

LogicalResult TileOp::verify() {
  if (failed(verifyIndex(*this, getSlot().getType(), getIndex())))
    return failure();
  Type tile = getSlot().getType().getTiles()[getIndex()];
  if (getTile().getType().getTile() != tile)
    return emitOpError() << "gives " << getTile().getType() << ", but tile "
                         << getIndex() << " of the slot is " << tile;
  return success();
}

LogicalResult SendOp::verify() {
  int64_t words = getMailbox().getType().getWords();
  if (static_cast<int64_t>(getValues().size()) != words)
    return emitOpError() << "puts " << getValues().size()
                         << " values into a mailbox of " << words << " words";
  return verifyIn(*this, PartitionKind::Producer);
}

LogicalResult ReceiveOp::verify() {
  return verifyIn(*this, PartitionKind::Consumer);
}

LogicalResult ReceiveOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &types) {
  if (auto mailbox = dyn_cast<MailboxType>(operands.front().getType()))
    types.assign(mailbox.getWords(), IndexType::get(context));
  return success();
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
  return failure(
      failed(parseNumber("teams", [&](IntegerAttr n) { properties.setTeams(n); })) ||
      failed(parseNumber("every", [&](IntegerAttr n) { properties.setEvery(n); })) ||
      failed(parser.parseOptionalAttrDictWithKeyword(state.attributes)) ||
      failed(parser.parseRegion(*state.addRegion(), {item, round})));
}

void ItemsOp::print(OpAsmPrinter &p) {
  p << " (" << getItem() << ") round(" << getRound() << ") of " << getTotal();
  if (getTeams() != 1)
    p << " teams(" << getTeams() << ')';
  if (getEvery() != 1)
    p << " every(" << getEvery() << ')';
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"teams", "every"});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ItemsOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 ||
      !llvm::all_of(body.getArgumentTypes(), [](Type type) { return type.isIndex(); }))
    return emitOpError() << "has a body whose arguments are not the number of the item and "
                            "that of the round, two values of type index";
  if (!(*this)->getParentOfType<mk::RoleOp>() && !(*this)->getParentOfType<mk::PrepareOp>())
    return emitOpError() << "stands outside of a role and of mk.prepare, where a CTA has no "
                            "items: move it into the role that does them";
  for (auto [name, value] : {std::pair<StringRef, int64_t>("teams", getTeams()),
                             std::pair<StringRef, int64_t>("every", getEvery())})
    if (value != 1 && value != 2)
      return emitOpError() << "has " << name << "(" << value
                           << "): items are taken by one team or by two in turn";
  return success();
}

SmallVector<Region *> ItemsOp::getLoopRegions() { return {&getBody()}; }

LogicalResult PopOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location>,
                                      ValueRange operands, DictionaryAttr,
                                      OpaqueProperties, RegionRange,
                                      SmallVectorImpl<Type> &types) {
  if (auto queue = dyn_cast<mk::QueueType>(operands.front().getType()))
    types.assign(queue.getWidth(), IndexType::get(context));
  return success();
}

LogicalResult PopOp::verify() {
  if (!isa<mk::QueueType>(getQueue().getType()))
    return emitOpError() << "reads a queue, not " << getQueue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static LogicalResult verifyFragment(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!tensor.getEncoding())
    return op->emitOpError() << "works on fragments, but " << type
                             << " has no layout";
  std::string problem =
      explainLayout(tensor.getShape(), tensor.getEncoding());
  if (!problem.empty())
    return op->emitOpError() << "has " << type << ": " << problem;
  return success();
}

/// The types of fragments pass through.
static LogicalResult sameTypes(ValueRange operands,
                               SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult MmaFenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  return sameTypes(operands, types);
}

LogicalResult MmaWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  return sameTypes(operands, types);
}

LogicalResult MmaFenceOp::verify() {
  for (Type type : getFragments().getTypes())
    if (failed(verifyFragment(*this, type)))
      return failure();
  return success();
}

LogicalResult MmaWaitOp::verify() {
  for (Type type : getFragments().getTypes())
    if (failed(verifyFragment(*this, type)))
      return failure();
  // wgmma.wait_group (PTX ISA).
  if (getPending() > 7)
    return emitOpError() << "leaves 0 to 7 ops in flight, not " << getPending();
  return success();
}

static RankedTensorType getOperandTile(Type type) {
  if (auto staged = dyn_cast<StagedType>(type))
    return staged.getTile();
  return cast<RankedTensorType>(type);
}

LogicalResult MmaOp::verify() {
  auto acc = getAcc().getType();
  if (failed(verifyFragment(*this, acc)))
    return failure();
  if (!isa<MmaAttr>(acc.getEncoding()) || !acc.getElementType().isF32())
    return emitOpError() << "accumulates in f32 with layout #mk_sm.mma, not in "
                         << acc;
  if (!isa<StagedType>(getRhs().getType()))
    return emitOpError() << "takes its right operand from shared memory; "
                         << getRhs().getType()
                         << " is in registers (there is no such wgmma)";
  if (auto lhs = dyn_cast<RankedTensorType>(getLhs().getType())) {
    if (lhs.getEncoding() != acc.getEncoding())
      return emitOpError() << "takes a left operand in registers with the "
                              "layout of its accumulator, got "
                           << lhs;
    if (getTransposeA())
      return emitOpError() << "cannot transpose a left operand in registers";
  }
  auto shape = [](Type type) {
    return getOperandTile(type).getShape().take_back(2);
  };
  ArrayRef<int64_t> a = shape(getLhs().getType()), b = shape(getRhs().getType());
  bool ta = getTransposeA(), tb = getTransposeB();
  if (a[!ta] != b[tb] || a[ta] != acc.getDimSize(0) ||
      b[!tb] != acc.getDimSize(1))
    return emitOpError() << "multiplies " << getLhs().getType() << " by "
                         << getRhs().getType() << " into " << acc
                         << ": the shapes do not fit";
  return success();
}

LogicalResult PartialSumOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto from = cast<RankedTensorType>(operands.front().getType());
  if (!isa_and_nonnull<MmaAttr>(from.getEncoding()) || from.getRank() != 2)
    return emitOptionalError(loc, "'mk_sm.partial_sum' op adds up the rows of a tile with "
                                  "layout #mk_sm.mma, not of ", from);
  types.push_back(RankedTensorType::get({from.getDimSize(0), kPartialColumns},
                                        from.getElementType(), from.getEncoding()));
  return success();
}

LogicalResult PartialSumOp::verify() {
  return verifyFragment(*this, getSource().getType());
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = getSource().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError() << "changes only the layout, not " << from << " to "
                         << to;
  return failure(failed(verifyFragment(*this, from)) ||
                 failed(verifyFragment(*this, to)));
}
