//===- TileKernelOp.cpp - Syntax of kernels -------------------------------===//
#include "TileSyntax.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Support/Checked.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;

namespace checked = mkernel::checked;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

DimKind KernelOp::getDimKind(unsigned i) {
  return *symbolizeDimKind(cast<StringAttr>(getDimKinds()[i]).getValue());
}

std::optional<int64_t> KernelOp::getDimSize(unsigned i) {
  std::optional<ArrayRef<int64_t>> sizes = getDimSizes();
  if (!sizes || ShapedType::isDynamic((*sizes)[i]))
    return std::nullopt;
  return (*sizes)[i];
}

void KernelOp::setDimSize(unsigned i, int64_t size) {
  SmallVector<int64_t> sizes(getNumDims(), ShapedType::kDynamic);
  if (std::optional<ArrayRef<int64_t>> known = getDimSizes())
    sizes.assign(known->begin(), known->end());
  sizes[i] = size;
  setDimSizes(sizes);
}

ArgKind KernelOp::getArgKind(unsigned i) {
  return *symbolizeArgKind(cast<StringAttr>(getArgKinds()[i]).getValue());
}

AffineMap KernelOp::getArgShape(unsigned i) {
  return cast<AffineMapAttr>(getArgShapes()[i]).getValue();
}

/// None where a size is not known, or where what is computed does not fit in 64 bits.
static checked::Number evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes) {
  auto known = [](int64_t size) {
    return ShapedType::isDynamic(size) ? checked::Number() : checked::Number(size);
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return known(dims[dim.getPosition()]);
  if (auto size = dyn_cast<AffineSymbolExpr>(expr))
    return known(sizes[size.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  checked::Number a = evaluate(binary.getLHS(), dims, sizes);
  checked::Number b = evaluate(binary.getRHS(), dims, sizes);
  if (!a || !b)
    return {};
  if (expr.getKind() == AffineExprKind::Add)
    return checked::add(*a, *b);
  if (expr.getKind() == AffineExprKind::Mul)
    return checked::mul(*a, *b);
  if (*b < 1)
    return {};
  if (expr.getKind() == AffineExprKind::Mod)
    return llvm::mod(*a, *b);
  return expr.getKind() == AffineExprKind::FloorDiv ? llvm::divideFloorSigned(*a, *b)
                                                    : llvm::divideCeilSigned(*a, *b);
}

std::optional<SplitExtent> mk::getSplitExtent(KernelOp kernel, unsigned i, unsigned dim) {
  MeshOp mesh = kernel.getMeshOp();
  auto axisSize = [&](Attribute name) {
    return mesh.getAxis(mesh.findAxis(cast<StringAttr>(name).getValue())).getSize();
  };
  SmallVector<int64_t> dims, sizes;
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    dims.push_back(kernel.getDimSize(d).value_or(ShapedType::kDynamic));
  for (Attribute name : kernel.getSizeAxes())
    sizes.push_back(axisSize(name));
  checked::Number whole = evaluate(kernel.getArgShape(i).getResult(dim), dims, sizes);
  if (!whole)
    return std::nullopt;
  int64_t ranks = 1;
  if (ArrayAttr split = kernel.getArgSplit(i); !split.empty())
    for (Attribute name : cast<ArrayAttr>(split[dim])) {
      int64_t size = axisSize(name);
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      ranks *= size;
    }
  return SplitExtent{*whole, ranks};
}

std::optional<int64_t> KernelOp::getArgExtent(unsigned i, unsigned dim) {
  std::optional<SplitExtent> extent = getSplitExtent(*this, i, dim);
  if (!extent || extent->whole % extent->shards)
    return std::nullopt;
  return extent->whole / extent->shards;
}

ArrayAttr KernelOp::getArgSplit(unsigned i) { return cast<ArrayAttr>(getArgSplits()[i]); }

MeshOp KernelOp::getMeshOp() {
  return SymbolTable::lookupNearestSymbolFrom<MeshOp>((*this)->getParentOp(), getMeshAttr());
}

bool KernelOp::hasEngines() {
  return llvm::any_of(getBody().getOps<RoleOp>(), [](RoleOp role) { return role.isOfEngines(); });
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  auto names = llvm::concat<const Attribute>(getDimNames().getValue(), getArgNames().getValue());
  for (auto [value, name] : llvm::zip(region.getArguments(), names))
    setName(value, cast<StringAttr>(name).getValue());
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Prints an affine expression with the author's names for its dimensions and
/// symbols, fully parenthesised where nesting needs it.
static void printNamedExpr(raw_ostream &os, AffineExpr expr, KernelOp kernel, bool nested = false) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    os << cast<AffineConstantExpr>(expr).getValue();
    return;
  case AffineExprKind::DimId:
    os << cast<StringAttr>(kernel.getDimNames()[cast<AffineDimExpr>(expr).getPosition()])
              .getValue();
    return;
  case AffineExprKind::SymbolId:
    os << cast<StringAttr>(kernel.getSizeAxes()[cast<AffineSymbolExpr>(expr).getPosition()])
              .getValue();
    return;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  StringRef op = expr.getKind() == AffineExprKind::Add        ? " + "
                 : expr.getKind() == AffineExprKind::Mul      ? " * "
                 : expr.getKind() == AffineExprKind::Mod      ? " mod "
                 : expr.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                                                              : " ceildiv ";
  if (nested)
    os << '(';
  printNamedExpr(os, binary.getLHS(), kernel, true);
  os << op;
  printNamedExpr(os, binary.getRHS(), kernel, true);
  if (nested)
    os << ')';
}

std::string mk::describeExtent(KernelOp kernel, AffineExpr extent) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printNamedExpr(os, extent, kernel);
  return text;
}

bool mk::dependsOnRankDim(KernelOp kernel, AffineExpr extent) {
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
    if (kernel.getDimKind(d) == DimKind::Rank && extent.isFunctionOfDim(d))
      return true;
  return false;
}

/// Parses `[expr, expr]` over the names of dimensions and axes.
static ParseResult parseShape(OpAsmParser &parser,
                              ArrayRef<std::pair<StringRef, AffineExpr>> symbols, unsigned numDims,
                              unsigned numSymbols, AffineMap &map) {
  SmallVector<AffineExpr> exprs;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        std::string why; // in upstream's words
        {
          ScopedDiagnosticHandler handler(parser.getContext(), [&](Diagnostic &diag) {
            why = diag.str();
            return success();
          });
          if (succeeded(parser.parseAffineExpr(symbols, exprs.emplace_back())))
            return success();
        }
        return parser.emitError(loc)
               << why << "; extents are integers, what dims(...) and sizes(...) name ("
               << (symbols.empty() ? "here nothing" : quoted(llvm::make_first_range(symbols)).str())
               << "), their sums, and their products with integers and what sizes(...) names: a "
                  "product of two dimensions is a dimension of its own";
      }))
    return failure();
  map = AffineMap::get(numDims, numSymbols, exprs, parser.getContext());
  return success();
}

/// Parses `[(axis, axis), ()]`.
static ParseResult parseSplit(OpAsmParser &parser, ArrayAttr &split) {
  SmallVector<Attribute> dims;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SmallVector<Attribute> names;
        if (parser.parseLParen())
          return failure();
        if (failed(parser.parseOptionalRParen()) &&
            (parseAxisNames(parser, names) || parser.parseRParen()))
          return failure();
        dims.push_back(parser.getBuilder().getArrayAttr(names));
        return success();
      }))
    return failure();
  split = parser.getBuilder().getArrayAttr(dims);
  return success();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  FlatSymbolRefAttr mesh;
  SmallVector<Attribute> axes, dimNames, dimKinds;
  SmallVector<int64_t> dimSizes;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) || parser.parseKeyword("on") ||
      parser.parseAttribute(mesh, "mesh", result.attributes))
    return failure();
  // The axes whose sizes shapes may use; the mesh need not be parsed yet.
  if (succeeded(parser.parseOptionalKeyword("sizes")) &&
      (parser.parseLParen() || parseAxisNames(parser, axes) || parser.parseRParen()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("dims"))) {
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
          StringRef kind;
          std::string dim;
          SMLoc loc = parser.getCurrentLocation();
          if (parser.parseKeyword(&kind))
            return failure();
          if (!symbolizeDimKind(kind))
            return parser.emitError(loc)
                   << "unknown kind of dimension '" << kind << "', expected uniform or rank";
          if (parser.parseKeywordOrString(&dim))
            return failure();
          dimKinds.push_back(builder.getStringAttr(kind));
          dimNames.push_back(builder.getStringAttr(dim));
          dimSizes.push_back(ShapedType::kDynamic);
          if (succeeded(parser.parseOptionalEqual()))
            return parser.parseInteger(dimSizes.back());
          return success();
        }))
      return failure();
  }
  SmallVector<std::pair<StringRef, AffineExpr>> symbols;
  SmallVector<OpAsmParser::Argument> blockArgs;
  for (auto [i, dim] : llvm::enumerate(dimNames)) {
    StringRef text = cast<StringAttr>(dim).getValue();
    symbols.emplace_back(text, builder.getAffineDimExpr(i));
    OpAsmParser::Argument arg;
    arg.ssaName.location = parser.getCurrentLocation();
    // The parser wants the sigil; the attribute's string outlives the parse.
    arg.ssaName.name = builder.getStringAttr("%" + text).getValue();
    arg.ssaName.number = 0;
    arg.type = builder.getIndexType();
    blockArgs.push_back(arg);
  }
  for (auto [i, axis] : llvm::enumerate(axes))
    symbols.emplace_back(cast<StringAttr>(axis).getValue(), builder.getAffineSymbolExpr(i));

  SmallVector<Attribute> argNames, argKinds, argShapes, argSplits, argTypes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        StringRef kind;
        SMLoc loc = parser.getCurrentLocation();
        OpAsmParser::Argument arg;
        AffineMap shape;
        ArrayAttr split = builder.getArrayAttr({});
        if (parser.parseKeyword(&kind))
          return failure();
        if (!symbolizeArgKind(kind))
          return parser.emitError(loc)
                 << "unknown kind of argument '" << kind << "', expected in, out, inout or scratch";
        if (parser.parseArgument(arg, /*allowType=*/true) ||
            parseShape(parser, symbols, dimNames.size(), axes.size(), shape))
          return failure();
        if (succeeded(parser.parseOptionalKeyword("split")) && parseSplit(parser, split))
          return failure();
        argNames.push_back(builder.getStringAttr(arg.ssaName.name.drop_front()));
        argKinds.push_back(builder.getStringAttr(kind));
        argShapes.push_back(AffineMapAttr::get(shape));
        argSplits.push_back(split);
        argTypes.push_back(TypeAttr::get(arg.type));
        blockArgs.push_back(arg);
        return success();
      }))
    return failure();

  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Properties &props = result.getOrAddProperties<Properties>();
  props.setSizeAxes(builder.getArrayAttr(axes));
  props.setDimNames(builder.getArrayAttr(dimNames));
  props.setDimKinds(builder.getArrayAttr(dimKinds));
  if (!llvm::all_of(dimSizes, ShapedType::isDynamic))
    props.setDimSizes(builder.getDenseI64ArrayAttr(dimSizes));
  props.setArgNames(builder.getArrayAttr(argNames));
  props.setArgKinds(builder.getArrayAttr(argKinds));
  props.setArgShapes(builder.getArrayAttr(argShapes));
  props.setArgSplits(builder.getArrayAttr(argSplits));
  props.setArgTypes(builder.getArrayAttr(argTypes));
  return parseRegionOf(parser, result, blockArgs);
}

void KernelOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  p << " on ";
  p.printAttributeWithoutType(getMeshAttr());
  if (!getSizeAxes().empty()) {
    p << " sizes(";
    printAxisNames(p, getSizeAxes());
    p << ')';
  }
  if (!getDimNames().empty()) {
    p << " dims(";
    llvm::interleaveComma(llvm::enumerate(getDimNames().getAsValueRange<StringAttr>()), p,
                          [&](auto dim) {
                            p << stringifyDimKind(getDimKind(dim.index())) << ' ';
                            p.printKeywordOrString(dim.value());
                            if (std::optional<int64_t> size = getDimSize(dim.index()))
                              p << " = " << *size;
                          });
    p << ')';
  }
  p << " (";
  for (unsigned i = 0, e = getNumKernelArgs(); i != e; ++i) {
    p.printNewline();
    p << "    " << stringifyArgKind(getArgKind(i)) << ' ';
    p.printOperand(getKernelArg(i));
    p << " : " << getKernelArg(i).getType() << " [";
    llvm::interleaveComma(getArgShape(i).getResults(), p,
                          [&](AffineExpr e) { printNamedExpr(p.getStream(), e, *this); });
    p << ']';
    if (ArrayAttr split = getArgSplit(i); !split.empty()) {
      p << " split [";
      llvm::interleaveComma(split, p, [&](Attribute axes) {
        p << '(';
        printAxisNames(p, cast<ArrayAttr>(axes));
        p << ')';
      });
      p << ']';
    }
    if (i + 1 != e)
      p << ',';
  }
  p << ')';
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"sym_name", "mesh", "size_axes", "dim_names", "dim_kinds", "dim_sizes",
                            "arg_names", "arg_kinds", "arg_shapes", "arg_splits", "arg_types"});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                /*printBlockTerminators=*/false);
}
