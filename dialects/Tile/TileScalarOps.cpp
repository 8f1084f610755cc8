//===- TileScalarOps.cpp - Rank arithmetic, parameters, axis names --------===//
#include "TileDirectives.h"
#include "TileVerify.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk;

#define GET_OP_CLASSES
#include "mkernel/Dialect/Tile/TileScalarOps.cpp.inc"

void MkDialect::registerScalarOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Tile/TileScalarOps.cpp.inc"
      >();
}

std::string ParamOp::explainTooSmall(int64_t number) {
  return llvm::formatv("'{0}' is {1}, it must be at least {2}", getName(), number, getLeast());
}

/// A value that is known needs no guess.
OpFoldResult LikelyOp::fold(FoldAdaptor adaptor) {
  return adaptor.getValue() ? getValue() : OpFoldResult();
}

LogicalResult ParamOp::verify() {
  if (getNumber().has_value() == static_cast<bool>(getDefaultValue()))
    return emitOpError() << '\'' << getName()
                         << "' needs one default, a number as in 'mk.param \"TM\" = 128', or a "
                            "value: default(%v)";
  if (int64_t(getLeast()) < 0)
    return emitOpError() << '\'' << getName() << "' is at least " << int64_t(getLeast())
                         << ", but no parameter is negative: leave 'least' out, or say more";
  if (getNumber() && int64_t(*getNumber()) < int64_t(getLeast()))
    return emitOpError() << explainTooSmall(*getNumber());
  if (KernelOp kernel = getKernel(*this); kernel && getDefaultValue())
    if (std::optional<VaryingValue> cause = findVaryingValue(getDefaultValue(), kernel)) {
      InFlightDiagnostic diag = emitOpError()
                                << '\'' << getName()
                                << "' needs a default that is the same on every rank before the "
                                   "launch: use uniform dimensions, mk.size and other parameters";
      cause->explain(diag);
      return diag;
    }
  std::optional<ArrayRef<int64_t>> choices = getChoices();
  if (!choices)
    return success();
  if (choices->empty())
    return emitOpError() << '\'' << getName()
                         << "' has no value to choose from: list some, or leave 'in' out";
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t choice : *choices) {
    if (choice < int64_t(getLeast()))
      return emitOpError() << '\'' << getName() << "' may be " << choice
                           << ", but must be at least " << int64_t(getLeast()) << ": leave it out";
    if (!seen.insert(choice).second)
      return emitOpError() << '\'' << getName() << "' lists " << choice << " twice";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Axis names
//===----------------------------------------------------------------------===//

ParseResult mk::parseAxisNames(AsmParser &parser, SmallVectorImpl<Attribute> &names) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    StringAttr name;
    if (parseName(parser, name))
      return failure();
    names.push_back(name);
    return success();
  });
}

void mk::printAxisNames(AsmPrinter &printer, ArrayAttr names) {
  llvm::interleaveComma(names, printer.getStream(), [&](Attribute name) {
    printer.printKeywordOrString(cast<StringAttr>(name).getValue());
  });
}

LogicalResult mk::verifyAxis(Operation *op, StringRef name, SymbolTableCollection &symbols) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = getKernel(op);
  if (!kernel)
    return success();
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(kernel->getParentOp(), kernel.getMeshAttr());
  // An unknown mesh is the kernel's own error.
  if (!mesh || mesh.findAxis(name) >= 0)
    return success();
  return op->emitOpError() << "names axis '" << name << "', but mesh @" << mesh.getSymName()
                           << " has " << mesh.describeAxes();
}
