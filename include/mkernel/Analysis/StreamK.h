//===- StreamK.h - How items are divided among CTAs ------------*- C++ -*-===//
#ifndef MKERNEL_ANALYSIS_STREAMK_H
#define MKERNEL_ANALYSIS_STREAMK_H

#include <cstdint>

namespace mlir::mk {

/// Parts of an item at most where CTAs are many times the items: its owner has to wait for each.
constexpr int64_t kMostParts = 8;

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_STREAMK_H
