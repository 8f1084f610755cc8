//===- PeersTime.h - Time of items that meet peers --------------*- C++ -*-===//
#ifndef MKERNEL_LIB_ANALYSIS_PEERSTIME_H
#define MKERNEL_LIB_ANALYSIS_PEERSTIME_H

#include "mkernel/Analysis/Work.h"

#include <utility>

namespace mlir::mk {

/// Of more items those that wait for peers, or send them something, are not looked at one by one.
constexpr double kMostPeersItems = 1 << 16;

/// An item: the ns that it takes, of this in loops around products, how often it waits for what
/// roles without products send and for what items store, and the bytes that it sends, of these with
/// a signal.
struct PeersItem {
  double whole, inner, waits, gathers, sent, announced;
};

/// The ns until all items of a loop are done, and what they send is there, and whether links decide
/// that. Each item is done by the CTA that is free first; `samples` are spread evenly over them.
/// The loop begins `begin` ns behind the launch, with which roles begin to send.
std::pair<double, bool> getPeersTime(const LoopWork &loop, ArrayRef<PeersItem> samples,
                                     LinksAttr links, double begin);

} // namespace mlir::mk

#endif // MKERNEL_LIB_ANALYSIS_PEERSTIME_H
