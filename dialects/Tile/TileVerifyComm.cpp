//===- TileVerifyComm.cpp - Verifiers of communication --------------------===//
#include "TileSyntax.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult PutOp::verify() { return success(); }
LogicalResult SignalOp::verify() { return success(); }
LogicalResult WaitOp::verify() { return success(); }
LogicalResult FenceOp::verify() { return success(); }
LogicalResult SettleOp::verify() { return success(); }
LogicalResult CountOp::verify() { return success(); }
LogicalResult PushOp::verify() { return success(); }
