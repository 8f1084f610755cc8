//===- Seeds.cpp - The kernels that are changed ---------------------------===//
#include "Seeds.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Compiler/Registration.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mk::fuzz;

static DialectRegistry everything() {
  DialectRegistry registry;
  mk::registerEverything(registry);
  return registry;
}

// No threads: this process forks.
Seeds::Seeds() : context(everything(), MLIRContext::Threading::DISABLED) {}

std::optional<unsigned> Seeds::add(StringRef file, std::string &problem) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer) {
    problem = buffer.getError().message();
    return std::nullopt;
  }
  // Pieces that are wrong are tests of messages.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  StringRef text = (*buffer)->getBuffer();
  auto addModule = [&](StringRef piece, const Twine &name) {
    auto module = parseSourceString<ModuleOp>(piece, &context);
    if (!module || module->getOps<mk::KernelOp>().empty())
      return false;
    seeds.push_back({name.str(), std::move(module)});
    return true;
  };
  if (addModule(text, file))
    return 1;
  SmallVector<StringRef> pieces;
  text.split(pieces, "\n// -----\n");
  unsigned added = 0, line = 1;
  for (StringRef piece : pieces) {
    added += addModule(piece, Twine(file) + ":" + Twine(line));
    line += piece.count('\n') + 2;
  }
  return added;
}
