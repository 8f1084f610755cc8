//===- Lines.h - Where in its file an op stands -----------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_LINES_H
#define MKERNEL_ANALYSIS_LINES_H

#include "mlir/IR/Location.h"

namespace mlir::mk {

/// The line, of inlined code that in the helper function; 0 if it is not known.
int64_t getLine(Location where);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_LINES_H
