//===- LlvmOutput.h - What a tool of LLVM prints must arrive ----*- C++ -*-===//
#ifndef MKERNEL_TOOLS_SUPPORT_LLVMOUTPUT_H
#define MKERNEL_TOOLS_SUPPORT_LLVMOUTPUT_H

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace mkernel {

/// From here on: output that could not be written (the disk is full) is an error with a
/// line when the process exits, where LLVM's stream would abort it.
inline void reportLostOutput() {
  llvm::outs(); // its end comes behind this function then
  std::atexit([] {
    llvm::outs().flush();
    std::error_code problem = llvm::outs().error();
    if (!problem)
      return;
    llvm::outs().clear_error();
    llvm::errs() << "error: standard output could not be written: " << problem.message()
                 << '\n';
    std::_Exit(1);
  });
}

} // namespace mkernel

#endif // MKERNEL_TOOLS_SUPPORT_LLVMOUTPUT_H
