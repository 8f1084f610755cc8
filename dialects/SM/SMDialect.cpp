//===- SMDialect.cpp - Registration of the SM dialect ---------------------===//
#include "SMVerify.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::mk_sm;

#include "mkernel/Dialect/SM/SMDialect.cpp.inc"
#include "mkernel/Dialect/SM/SMEnums.cpp.inc"
#include "mkernel/Dialect/SM/SMInterfaces.cpp.inc"

void MkSMDialect::initialize() {
  registerAttrs();
  registerTypes();
  registerOps();
}

// Passes would drop them, or copy them to ops that they do not suit.
LogicalResult MkSMDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  InFlightDiagnostic diag = op->emitOpError() << "has attribute " << attribute.getName() << ", ";
  // What was one once.
  StringRef now =
      llvm::StringSwitch<StringRef>(attribute.getName())
          .Case("mk_sm.shared", "'offsets(piece = N, ...)' of the op that owns the piece")
          .Case("mk_sm.deferred", "mk_sm.defer of its result")
          .Case("mk_sm.materialize", "mk_sm.materialize of the tile that is stored")
          .Case("mk_sm.rescaling", "mk_sm.rescale in its place")
          .Case("mk_sm.agreed", "mk_sm.load_agreed in its place, or mk_sm.until_failed "
                                "of a loop's condition")
          .Default("");
  if (now.empty())
    return diag << "but mk_sm has none for ops of its own or others: leave it out, or write what "
                   "the op's syntax has for it";
  return diag << "which is no longer read: write " << now;
}
