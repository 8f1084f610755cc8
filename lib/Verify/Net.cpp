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

StringRef mlir::mk::findNetAxis(MeshOp mesh, int64_t from, int64_t to) {
  for (unsigned axis = mesh.getNumAxes(); axis-- > 0;) {
    int64_t size = mesh.getAxis(axis).getSize();
    if (mesh.getAxis(axis).getLink() == LinkKind::Net &&
        from % size != to % size)
      return mesh.getAxis(axis).getName();
    from /= size;
    to /= size;
  }
  return {};
}

/// Whether a region is certainly in pieces: behind its first dimension of more
/// than one element it has all of every dimension if it is in one.
bool KernelProgram::isInPieces(const CtaState &state, uint32_t rank,
                               Value buffer, ValueRange offsets,
                               ValueRange sizes, unsigned first) {
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

bool KernelProgram::mayReach(const CtaState &state, Operation *op,
                             int64_t peer) {
  StringRef axis = findNetAxis(mesh, state.rank, peer);
  if (axis.empty())
    return true;
  auto refuse = [&](const Twine &text) {
    giveUp(op,
           "crosses net axis '" + axis + "' (from rank " + Twine(state.rank) +
               " to rank " + Twine(peer) + "), " + text,
           /*wrong=*/true);
    return false;
  };
  auto put = dyn_cast<PutOp>(op);
  if (!put)
    return refuse("where only the transport reaches: store to symmetric memory "
                  "here and mk.put it");
  if (put.getReduction())
    return refuse("where the transport cannot add: put to a place of its own "
                  "for each source and add there");
  bool nothing = llvm::any_of(put.getSizes(), [&](Value size) {
    Scalar count = get(state, size);
    return !count.known || count.value <= 0;
  });
  auto source = bufferOf(state, put.getSource());
  if (!nothing && source &&
      !isSymmetric(KernelOp(kernel).getKernelArg(*source).getType()))
    return refuse("but its source, argument '" + bufferName(*source) +
                  "', is not symmetric, so that the transport cannot read it: "
                  "give it the space #mk.symmetric");
  unsigned first = put.getRows() ? 1 : 0;
  constexpr StringLiteral remedy =
      " is not contiguous: put whole rows, or one row at a time with size 1";
  if (isInPieces(state, state.rank, put.getSource(), put.getSrcOffsets(),
                 put.getSizes(), first))
    return refuse("but its source" + remedy);
  if (isInPieces(state, peer, put.getDest(), put.getDstOffsets(),
                 put.getSizes(), first))
    return refuse("but its destination" + remedy);
  return true;
}
