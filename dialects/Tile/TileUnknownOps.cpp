//===- TileUnknownOps.cpp - Names that no op of a dialect has -------------===//
#include "mkernel/Dialect/Tile/UnknownOps.h"

using namespace mlir;

/// The op of the dialect whose name differs least; empty if a third of its letters do.
static StringRef findSimilar(const Dialect &dialect, StringRef name) {
  StringRef similar;
  unsigned least = std::max<unsigned>(name.size() / 3, 1) + 1;
  for (RegisteredOperationName op : dialect.getContext()->getRegisteredOperations()) {
    if (&op.getDialect() != &dialect)
      continue;
    StringRef known = op.stripDialect();
    if (unsigned distance = name.edit_distance(known, /*AllowReplacements=*/true, least);
        distance < least)
      similar = op.getStringRef(), least = distance;
  }
  return similar;
}

ParseResult mk::refuseUnknownOp(OpAsmParser &parser, OperationState &op) {
  const Dialect &dialect = *op.name.getDialect();
  StringRef name = op.name.getStringRef();
  StringRef similar = findSimilar(dialect, name.drop_front(dialect.getNamespace().size() + 1));
  std::string hint = similar.empty() ? "" : ("; did you mean '" + similar + "'?").str();
  return parser.emitError(parser.getNameLoc()) << "is unknown" << hint;
}
