//===- Net.cpp - What reaches a peer across a net axis --------------------===//
//
// The verifier of mk.kernel refuses what certainly breaks the rules of a net
// axis. Here ranks and sizes are known, and with them the rest.
//
//===----------------------------------------------------------------------===//
#include "ProgramState.h"
#include "Verify.h"

using namespace mlir;
using namespace mlir::mk;

/// Whether a region is certainly in pieces: behind its first dimension of more
/// than one element it has all of every dimension if it is in one.
bool KernelProgram::isInPieces(const CtaState &state, uint32_t rank, Value buffer,
                               ValueRange offsets, ValueRange sizes, unsigned first) {
  auto arg = bufferOf(state, buffer);
  if (!arg)
    return false;
  bool more = false, pieces = false;
  for (unsigned d = 0; d < sizes.size(); ++d) {
    Scalar offset = get(state, offsets[d]), size = get(state, sizes[d]);
    Scalar whole = extent(rank, *arg, d);
    if (!offset.known || !size.known || !whole.known || size.value <= 0)
      return false;
    if (d < first)
      continue;
    pieces |= more && (offset.value != 0 || size.value != whole.value);
    more |= size.value != 1;
  }
  return pieces;
}

bool KernelProgram::mayReach(const CtaState &state, Operation *op, int64_t peer) {
  auto put = dyn_cast<PutOp>(op);
  StringRef axis = mesh.findNetAxis(state.rank, peer);
  LinkKind kind = axis.empty() ? LinkKind::Link : LinkKind::Net;
  if (put && put.getVia().value_or(kind) != kind) {
    giveUp(op,
           "goes via " + stringifyLinkKind(*put.getVia()) + " from rank " + Twine(state.rank) +
               " to rank " + Twine(peer) + ", which is reached via " + stringifyLinkKind(kind) +
               ": leave 'via' out",
           /*wrong=*/true);
    return false;
  }
  if (axis.empty())
    return true;
  auto refuse = [&](const Twine &text) {
    giveUp(op,
           "crosses net axis '" + axis + "' (from rank " + Twine(state.rank) + " to rank " +
               Twine(peer) + "), " + text,
           /*wrong=*/true);
    return false;
  };
  if (!put)
    return refuse("where only the transport reaches: store to symmetric memory here and mk.put it");
  if (put.getReduction())
    return refuse(
        "where the transport cannot add: put to a place of its own for each source and add there");
  bool nothing = llvm::any_of(put.getSizes(), [&](Value size) {
    Scalar count = get(state, size);
    return !count.known || count.value <= 0;
  });
  auto source = bufferOf(state, put.getSource());
  if (!nothing && source && !isSymmetric(KernelOp(kernel).getKernelArg(*source).getType()))
    return refuse("but its source, argument '" + bufferName(*source) +
                  "', is not symmetric, so that the transport cannot read it: give it the space "
                  "#mk.symmetric");
  unsigned first = put.getRows() ? 1 : 0;
  constexpr StringLiteral remedy =
      " is not contiguous: put whole rows, or one row at a time with size 1";
  if (isInPieces(state, state.rank, put.getSource(), put.getSrcOffsets(), put.getSizes(), first))
    return refuse("but its source" + remedy);
  if (isInPieces(state, peer, put.getDest(), put.getDstOffsets(), put.getSizes(), first))
    return refuse("but its destination" + remedy);
  return true;
}
