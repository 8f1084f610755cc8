//===- TileTileOps.cpp - Syntax and effects of tile ops -------------------===//
#include "TileDirectives.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileTileOps.cpp.inc"

void MkDialect::registerTileOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileTileOps.cpp.inc"
      >();
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
}

void StoreOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable());
  if (getReduction())
    effects.emplace_back(MemoryEffects::Read::get(), &getDestMutable());
  // A signal publishes every earlier access of the CTA: nothing may move
  // across it, whatever buffer it touches.
  if (getSignal()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto back = getSource().getDefiningOp<TransposeOp>();
  return back && back.getSource().getType() == getType() ? back.getSource() : Value();
}

//===----------------------------------------------------------------------===//
// MaskOp
//===----------------------------------------------------------------------===//

ParseResult MaskOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand source, otherwise;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols;
  IntegerSetAttr set;
  Type type;
  if (parser.parseOperand(source) || parser.parseKeyword("where") ||
      parser.parseAttribute(set) ||
      parser.parseOperandList(symbols, AsmParser::Delimiter::OptionalSquare) ||
      parser.parseKeyword("else") || parser.parseOperand(otherwise) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return parser.emitError(parser.getNameLoc())
           << "mk.mask works on a tile (a tensor of static shape), got " << type;
  result.getOrAddProperties<Properties>().set = set;
  result.addTypes(type);
  return failure(
      parser.resolveOperand(source, type, result.operands) ||
      parser.resolveOperands(symbols, parser.getBuilder().getIndexType(),
                             result.operands) ||
      parser.resolveOperand(otherwise, tile.getElementType(), result.operands));
}

void MaskOp::print(OpAsmPrinter &p) {
  p << ' ' << getSource() << " where " << getSetAttr();
  if (!getSymbols().empty())
    p << '[' << getSymbols() << ']';
  p << " else " << getOtherwise();
  p.printOptionalAttrDict((*this)->getAttrs(), {"set"});
  p << " : " << getSource().getType();
}
