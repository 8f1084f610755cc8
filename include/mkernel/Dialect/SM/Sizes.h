//===- Sizes.h - What the thread level keeps in shared memory ----*- C++ -*-===//
//
// The SM level makes room for it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_DIALECT_SM_SIZES_H
#define MKERNEL_DIALECT_SM_SIZES_H

#include <cstdint>

namespace mlir::mk_sm {

/// Requests of copies by threads that there may be at a time, and bytes of one.
constexpr int64_t kRequests = 4, kRequestBytes = 128;
/// Of a tile that the sender has; ranks that it sends one to at most.
constexpr int64_t kPostBytes = 80, kMostPeers = 8;

} // namespace mlir::mk_sm

#endif // MKERNEL_DIALECT_SM_SIZES_H
