//===- Remarks.h - Remarks of passes as diagnostics -------------*- C++ -*-===//
#ifndef MKERNEL_COMPILER_REMARKS_H
#define MKERNEL_COMPILER_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::mk {

/// Has passes that run in `context` say what they did and what not: diagnostics of severity
/// remark, "PASS: KIND: text (in role ROLE)", each once. KIND is passed, missed or analysis. Only
/// those are shown whose "PASS: KIND" matches the regular expression `filter`; an empty one matches
/// all. Returns what is wrong with it; empty if nothing.
std::string enableRemarks(MLIRContext &context, llvm::StringRef filter);

} // namespace mlir::mk

#endif // MKERNEL_COMPILER_REMARKS_H
