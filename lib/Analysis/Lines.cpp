//===- Lines.cpp - Where in its file an op stands -------------------------===//
#include "mkernel/Analysis/Lines.h"

using namespace mlir;

int64_t mk::getLine(Location where) {
  int64_t line = 0;
  where->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    line = file.getLine();
    return WalkResult::interrupt();
  });
  return line;
}
