//===- Peers.h - Other ranks of a launch, and signals ------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_PEERS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_PEERS_H

#include "Buffers.h"

namespace mlir::mk::sm {

/// This rank; in a mover read where it stands, or LLVM would keep each peer, and what lies there,
/// in registers.
Value readRank(PartitionBuilder &p);
/// All threads that come here wait until the peer has begun this launch, before the own rank's
/// payload goes into the ring of commands (`sends`) until it has told others that it has.
void awaitReady(PartitionBuilder &p, Value peer, bool sends = false);
/// Raises an element of the launch's own signals, this rank's, at all peers.
void notifyPeers(PartitionBuilder &p, int64_t param, bool unlessAborted = false);
/// The buffer as it lies at a peer across links.
Buffer atPeer(PartitionBuilder &p, const Buffer &buffer, Value peer);
Value rowsAt(PartitionBuilder &p, const Buffer &buffer, Value peer);
/// The tensor map of a peer's part of the buffer, and whether it may be used.
std::pair<Value, Value> peerMap(PartitionBuilder &p, const Buffer &buffer, ArrayRef<int64_t> box,
                                Value peer);
/// What flags of commands say of their writer; null: nothing.
Value commandTeam(PartitionBuilder &p);
/// All threads wait until the puts of this CTA are complete at other nodes.
void awaitPuts(PartitionBuilder &p);

//===--- Signals (Signals.cpp) ----------------------------------------------===//

/// An array of signals among the parameters.
struct SignalArray {
  int64_t param = 0;
  MemScope scope = MemScope::Sys;
};
/// Row-major element of an array declared in the kernel, as an i64.
Value linearElement(PartitionBuilder &p, ArrayRef<int64_t> shape, ValueRange extents,
                    ArrayRef<Value> index);
SignalArray signalArray(PartitionBuilder &p, Value signal);
/// `op` names it.
Value signalElement(PartitionBuilder &p, Operation *op, Value signal, ValueRange index);
/// One thread raises an element here, or at the peer.
void raiseSignal(PartitionBuilder &p, SignalArray array, Value element, int64_t amount,
                 Value peer = {}, bool strong = false, std::optional<LinkKind> via = {},
                 bool relaxed = false);
/// `apart`: threads of the partition wait for different things, and meet behind that.
void emitWait(PartitionBuilder &p, mk::WaitOp op, bool apart);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_PEERS_H
