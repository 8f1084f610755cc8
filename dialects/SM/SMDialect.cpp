//===- SMDialect.cpp - Registration of the SM dialect ---------------------===//
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

#include "mkernel/Dialect/SM/SMDialect.cpp.inc"
#include "mkernel/Dialect/SM/SMEnums.cpp.inc"

void MkSMDialect::initialize() {
  registerAttrs();
  registerTypes();
  registerOps();
}
