//===- Sender.h - Tiles that a warp of its own sends -------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_SENDER_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_SENDER_H

#include "PartitionBuilder.h"

namespace mlir::mk::sm {

/// Waits until the sender has sent what the partition has posted.
void awaitSent(PartitionBuilder &p);
/// Has the sender send without pauses: the consumer waits for others.
void flushSender(PartitionBuilder &p);
/// Hands the tile in the staging area over. `sends`: by the copy engine; else threads have stored
/// it.
void postTile(PartitionBuilder &p, mk_sm::StoreOp op, ArrayRef<Value> peers, Value sends);
void dismissSender(PartitionBuilder &p);
void emitSender(PartitionBuilder &p);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_SENDER_H
