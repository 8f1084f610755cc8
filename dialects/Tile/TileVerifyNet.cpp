//===- TileVerifyNet.cpp - What may cross a net axis ----------------------===//
//
// Over a `net` axis only the transport reaches a peer: it copies contiguous ranges between
// symmetric buffers and does nothing else. Here programs are rejected that break this for certain;
// what cannot be decided before the launch is checked again by the runtime.
//
//===----------------------------------------------------------------------===//
#include "TileVerify.h"

using namespace mlir;
using namespace mlir::mk;

/// The name of a net axis along which `peer` may differ from the own rank, as
/// far as it can be told from where it comes from.
static std::optional<StringRef> findNetAxis(Value peer, MeshOp mesh) {
  auto isNet = [&](StringRef name) {
    int64_t i = mesh.findAxis(name);
    return i >= 0 && mesh.getAxis(i).getLink() == LinkKind::Net && mesh.getAxis(i).getSize() != 1;
  };
  if (auto arg = dyn_cast<BlockArgument>(peer)) {
    if (auto loop = dyn_cast<ForeachPeerOp>(arg.getOwner()->getParentOp()))
      for (auto axis : loop.getAxes().getAsRange<StringAttr>())
        if (isNet(axis.getValue()))
          return axis.getValue();
    return std::nullopt;
  }
  auto rank = peer.getDefiningOp<RankOp>();
  if (!rank || !rank.getAxes())
    return std::nullopt;
  for (auto [axis, coord] : llvm::zip(rank.getAxes()->getAsRange<StringAttr>(), rank.getCoords())) {
    auto own = coord.getDefiningOp<CoordOp>();
    bool same = own && !own.getRank() && own.getAxis() == axis.getValue();
    if (!same && isNet(axis.getValue()))
      return axis.getValue();
  }
  return std::nullopt;
}

/// Whether `size` elements from `offset` are less than all of dimension `d`.
static bool isCertainlyPartial(Value buffer, unsigned d, Value offset, Value size) {
  if (std::optional<int64_t> first = getConstant(offset); first && *first != 0)
    return true;
  auto type = cast<MemRefType>(buffer.getType());
  if (type.isDynamicDim(d)) {
    // A number may be right for the sizes that the launch binds; a value other
    // than the extent's own is left to the runtime as well.
    auto arg = dyn_cast<BlockArgument>(buffer);
    auto kernel = arg ? dyn_cast<KernelOp>(arg.getOwner()->getParentOp()) : KernelOp();
    std::optional<int64_t> count = getConstant(size);
    if (!kernel || !count)
      return false;
    unsigned i = arg.getArgNumber() - kernel.getNumDims();
    ArrayAttr split = kernel.getArgSplit(i);
    auto extent = dyn_cast<AffineConstantExpr>(kernel.getArgShape(i).getResult(d));
    bool whole = split.empty() || cast<ArrayAttr>(split[d]).empty();
    return extent && whole && *count != extent.getValue();
  }
  std::optional<int64_t> count = getConstant(size);
  return count && *count != type.getDimSize(d);
}

/// A region is contiguous when behind its first dimension of more than one
/// element it has all of every dimension. Listed rows are one region each.
static LogicalResult verifyContiguous(PutOp put, StringRef end, Value buffer, ValueRange offsets,
                                      StringRef axis) {
  bool more = false; // an earlier dimension has more than one element
  for (unsigned d = put.getRows() ? 1 : 0, e = offsets.size(); d != e; ++d) {
    Value size = put.getSizes()[d];
    if (more && isCertainlyPartial(buffer, d, offsets[d], size))
      return put.emitOpError() << "crosses net axis '" << axis << "', but its " << end
                               << " is not contiguous: dimension " << d
                               << " is not whole although an earlier one has more than one "
                                  "element; put whole rows, or one row at a time with size 1";
    more |= getConstant(size) != 1;
  }
  return success();
}

static LogicalResult verifyNetPut(PutOp put, StringRef axis) {
  if (!isSymmetric(put.getSource().getType()))
    return put.emitOpError() << "crosses net axis '" << axis << "', but its source "
                             << put.getSource().getType()
                             << " is not symmetric, so that the transport cannot read it: give the "
                                "buffer the space #mk.symmetric";
  if (put.getReduction())
    return put.emitOpError() << "crosses net axis '" << axis
                             << "', where the transport cannot add: put to a place of its own for "
                                "each source and add there";
  if (failed(verifyContiguous(put, "source", put.getSource(), put.getSrcOffsets(), axis)))
    return failure();
  return verifyContiguous(put, "destination", put.getDest(), put.getDstOffsets(), axis);
}

/// Whether `peer` is certainly reached so, as far as it can be told from where it comes from.
static bool isReachedVia(LinkKind kind, Value peer, MeshOp mesh) {
  if (auto arg = dyn_cast<BlockArgument>(peer)) {
    auto loop = dyn_cast<ForeachPeerOp>(arg.getOwner()->getParentOp());
    return loop && loop.isAlong(mesh, kind);
  }
  // The own rank, or one that has all coordinates along net axes in common with it.
  return kind == LinkKind::Link && peer.getDefiningOp<RankOp>() && !findNetAxis(peer, mesh);
}

/// What a put says of its way has to be true.
static LogicalResult verifyVia(PutOp put, MeshOp mesh) {
  if (!put.getVia() || isReachedVia(*put.getVia(), put.getPeer(), mesh))
    return success();
  LinkKind via = *put.getVia();
  LinkKind other = via == LinkKind::Net ? LinkKind::Link : LinkKind::Net;
  if (isReachedVia(other, put.getPeer(), mesh))
    return put.emitOpError() << "goes via " << stringifyLinkKind(via)
                             << " to peers that are reached via " << stringifyLinkKind(other)
                             << ": leave 'via' out";
  if (llvm::any_of(mesh.getAxes().getAsRange<AxisAttr>(),
                   [&](AxisAttr axis) { return axis.getLink() == via; }))
    return success();
  return put.emitOpError() << "goes via " << stringifyLinkKind(via) << ", but no axis of @"
                           << mesh.getSymName() << " is: leave 'via' out";
}

LogicalResult mk::verifyNetAccesses(KernelOp kernel, MeshOp mesh) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto put = dyn_cast<PutOp>(op)) {
      if (failed(verifyVia(put, mesh)))
        return WalkResult::interrupt();
      if (auto axis = findNetAxis(put.getPeer(), mesh))
        return WalkResult(verifyNetPut(put, *axis));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (store.getPeer())
        if (auto axis = findNetAxis(store.getPeer(), mesh))
          return WalkResult(store.emitOpError() << "writes across net axis '" << *axis
                                                << "', where only the transport reaches: store to "
                                                   "symmetric memory here and mk.put it");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
