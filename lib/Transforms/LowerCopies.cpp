//===- LowerCopies.cpp - memref.copy becomes linalg -----------------------===//
#include "Functions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::mk;

void mk::lowerCopies(memref::CopyOp copy) {
  OpBuilder b(copy);
  if (copy.getSource() != copy.getTarget())
    linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(), copy.getTarget());
  copy.erase();
}
