//===- KeepWords.cpp - Where words of buffers stay in registers -----------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kKeepWords = "mk-sm-keep-words";

/// Whether each step of a loop of products loads from memory, or one that fills slots copies by
/// threads: to read anew what addresses are computed from would hold up all of these.
static bool loadsInTurn(scf::ForOp loop) {
  bool copies =
      llvm::any_of(loop.getOps<CopyOp>(), [](CopyOp copy) { return copy.isByElements(); });
  return copies || (!loop.getOps<MmaOp>().empty() &&
                    (!loop.getOps<mk::LoadOp>().empty() || !loop.getOps<memref::LoadOp>().empty() ||
                     !loop.getOps<LoadAgreedOp>().empty()));
}

void mk_sm::keepWords(PartitionOp partition) {
  partition.walk([](scf::ForOp loop) {
    if (!loadsInTurn(loop) || !loop.getOps<KeepWordsOp>().empty())
      return;
    auto b = OpBuilder::atBlockBegin(loop.getBody());
    KeepWordsOp::create(b, loop.getLoc());
    passed(loop, kKeepWords) << "keeps in registers what addresses of buffers are computed from";
  });
}
