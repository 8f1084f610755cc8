//===- Description.h - An H100 or H200 as data ------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_SM90_DESCRIPTION_H
#define MKERNEL_LIB_TARGET_SM90_DESCRIPTION_H

#include "mkernel/Dialect/Tile/Tile.h"

namespace mlir::mk::sm90 {

inline constexpr llvm::StringLiteral kName = "sm_90a";

/// An H100 SXM or H200.
TargetAttr describe(MLIRContext *context);

/// Whether code for this architecture can run on a machine that is described so; says at `loc` why
/// not.
LogicalResult verify(TargetAttr target, Location loc);

} // namespace mlir::mk::sm90

#endif // MKERNEL_LIB_TARGET_SM90_DESCRIPTION_H
