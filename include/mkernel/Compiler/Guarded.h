//===- Guarded.h - The compiler does not end its process -------*- C++ -*-===//
//
// LLVM and MLIR are built without exceptions: what they cannot go on with (no memory, a
// case that a backend does not know) ends the process, in a program that only wanted to
// compile a kernel too. And their parsers, verifiers and printers recurse.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_COMPILER_GUARDED_H
#define MKERNEL_COMPILER_GUARDED_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::mk {

/// Runs `body` on a thread with a large stack. Where LLVM would end the process it is
/// left instead: returns false, with the reason in `problem`. What it had allocated is
/// lost, since no destructor runs. A signal, as of a stack that overflows all the same,
/// still ends the process.
bool runGuarded(llvm::function_ref<void()> body, std::string &problem);

/// For the compiler's own process: without memory it ends with an error and status 1,
/// on whatever thread that happens.
void exitIfNoMemory();

/// Brackets of a text nest deeper than this only if somebody tries what happens.
constexpr unsigned kMaxNesting = 1000;

/// "NAME:LINE: error: ..." if brackets of `source` nest deeper, or if it is a package; else empty.
std::string checkSource(llvm::StringRef source, llvm::StringRef name);

} // namespace mlir::mk

#endif // MKERNEL_COMPILER_GUARDED_H
