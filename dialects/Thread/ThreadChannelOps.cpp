//===- ThreadChannelOps.cpp - Rings and mailboxes -------------------------===//
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

LogicalResult ChannelAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t full,
                                  int64_t empty, int64_t slots, int64_t depth, int64_t bytes) {
  if (depth < 1 || bytes < 8 || bytes % 8)
    return emitError() << "has " << depth << " slots of " << bytes
                       << " bytes; a channel has at least one, in multiples of 8 bytes";
  if (full < 0 || full % 8 || empty < 0 || empty % 8 || slots < 0 || slots % 8)
    return emitError() << "has slots at " << slots << " and barriers at " << full << " and "
                       << empty << "; use offsets of at least 0, in multiples of 8";
  return success();
}

/// It is in shared memory.
static LogicalResult verifyChannel(Operation *op, ChannelAttr channel) {
  if (failed(verifyInShared(op, channel.getFull(), 8, 8 * channel.getDepth())) ||
      failed(verifyInShared(op, channel.getEmpty(), 8, 8 * channel.getDepth())))
    return failure();
  return verifyInShared(op, channel.getSlots(), 8, channel.getDepth() * channel.getBytes());
}
static LogicalResult verifyWords(Operation *op, ChannelAttr channel, size_t words) {
  if (int64_t(8 * words) > channel.getBytes())
    return op->emitOpError() << "has " << words << " words of 8 bytes for slots of "
                             << channel.getBytes();
  return verifyChannel(op, channel);
}

LogicalResult InitSlotsOp::verify() { return verifyChannel(*this, getChannel()); }
LogicalResult TakeSlotOp::verify() { return verifyChannel(*this, getChannel()); }
LogicalResult ReleaseSlotOp::verify() {
  if (failed(verifyMask(*this, getWriters())))
    return failure();
  return verifyChannel(*this, getChannel());
}
LogicalResult SendWordsOp::verify() { return verifyWords(*this, getChannel(), getWords().size()); }
LogicalResult ReceiveWordsOp::verify() {
  return verifyWords(*this, getChannel(), getWords().size());
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

static LogicalResult verifyTurn(Operation *op, ArrayRef<int64_t> words, size_t places) {
  if (places != 2 * words.size())
    return op->emitOpError() << "has " << places << " stages and parities for " << words.size()
                             << " words; a word is one of each";
  for (int64_t word : words)
    if (failed(verifyInShared(op, word, 4)))
      return failure();
  return success();
}
LogicalResult TakeTurnOp::verify() { return verifyTurn(*this, getWords(), getPlaces().size()); }
LogicalResult PassTurnOp::verify() { return verifyTurn(*this, getWords(), getPlaces().size()); }
