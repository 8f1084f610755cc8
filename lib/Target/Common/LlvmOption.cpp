//===- LlvmOption.cpp - Options that only a command line has --------------===//
#include "mkernel/Target/Common.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

void mk::setLlvmOption(StringRef name, StringRef value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find(name);
  if (it != options.end() && !it->second->getNumOccurrences())
    it->second->addOccurrence(0, name, value);
}
