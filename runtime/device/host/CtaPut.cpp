//===- CtaPut.cpp - Puts and stores ---------------------------------------===//

#include "device/host/Cta.h"
#include "mkernel/ABI/Gpu.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace mk::rt;
using namespace mk::rt::host;

// Of one command: its length has 32 bits.
static constexpr int64_t kLargestCommand = int64_t(1) << 31;
// Deferred puts of a CTA; more are executed at once.
static constexpr size_t kMaxPending = 64;

bool Cta::checkArgument(const Region &region, uint32_t peer) {
  Region::Span span = region.dstSpan();
  for (size_t i = 0; i < grid_.metadata.args.size(); ++i) {
    const auto &arg = grid_.metadata.args[i];
    if (peer != grid_.rank() && !arg.symmetric)
      continue;
    auto bytesOf = [&](uint32_t rank) {
      return grid_.plan.shard(i, rank).elements() *
             static_cast<int64_t>(byteSize(arg.type));
    };
    int64_t own = arg.symmetric
                      ? static_cast<int64_t>(grid_.plan.symmetricBytes(i))
                      : bytesOf(grid_.rank());
    const std::byte *begin = grid_.argument(i);
    if (region.dst < begin || region.dst >= begin + own)
      continue;
    int64_t end = (region.dst - begin) + span.end;
    if (span.begin == span.end || end <= bytesOf(peer))
      return true;
    return fail("put", str("the destination reaches to byte ", end,
                           " of argument '", arg.name, "', which has ",
                           bytesOf(peer), " bytes on rank ", peer,
                           ": put no more than fits there"));
  }
  return true; // not the start of an argument: the heap's bounds are checked
}

bool Cta::checkRegion(const Region &region, uint32_t peer) {
  if (!checkArgument(region, peer))
    return false;
  if (peer == grid_.rank())
    return true;
  const Heap &heap = grid_.context.heap();
  Region::Span span = region.dstSpan();
  if (span.begin == span.end)
    return true;
  auto offset = heap.offsetOf(region.dst);
  if (!offset)
    return fail("put", "the destination of a put to another rank is not in "
                       "symmetric memory: make the argument symmetric");
  int64_t begin = int64_t(*offset) + span.begin;
  int64_t end = int64_t(*offset) + span.end;
  if (begin < int64_t(heap.dataOffset()) || end > int64_t(heap.bytes()))
    return fail("put", str("the destination, bytes ", begin, " to ", end,
                           " of the heap, leaves the heap of ", heap.bytes(),
                           " bytes"));
  return true;
}

bool Cta::awaitReady(uint32_t peer) {
  if (readySeen_[peer])
    return true;
  if (!grid_.peerReady(peer) &&
      !waitFor({MK_WAIT_READY, peer}, [&] { return grid_.peerReady(peer); },
               [&] {
                 return str("rank ", peer, " to begin launch ", grid_.epoch(),
                            " (its memory may be written only then)");
               }))
    return false;
  readySeen_[peer] = true;
  return true;
}

bool Cta::transfer(Region region, int64_t peer, int32_t signal, int64_t index,
                   int32_t flags, bool isStore) {
  if (!checkTarget(peer, signal, index))
    return false;
  Pending pending;
  pending.region = std::move(region);
  pending.peer = static_cast<uint32_t>(peer);
  pending.signal = signal;
  pending.index = index;
  pending.flags = flags;
  pending.isStore = isStore;
  if (!checkRegion(pending.region, pending.peer))
    return false;
  if (isStore && pending.peer != grid_.rank() &&
      !grid_.context.heap().reachable(pending.peer))
    return fail("store",
                str("rank ", peer,
                    " is across a net axis, where only "
                    "puts reach: store the tile locally, then put it"));
  noteTransfer(pending);
  bool isTimed = grid_.timing && (!isStore || pending.peer != grid_.rank());
  int64_t begin = isTimed ? steadyNow() : 0;
  if (!deferOrExecute(std::move(pending)))
    return false;
  if (isTimed)
    span(isStore ? MK_TIMELINE_STORE : MK_TIMELINE_PUT, begin, peer);
  return true;
}

bool Cta::deferOrExecute(Pending pending) {
  Region &region = pending.region;
  if ((pending.flags & MK_PUT_ADD) && !hasAtomicAdd(region.type))
    return fail("put", str("there is no remote addition for elements of type ",
                           name(region.type)));
  if (region.elements() == 0)
    region.sizes[0] = 0;
  else
    region.simplify();
  const Heap &heap = grid_.context.heap();
  bool strong = pending.flags & MK_PUT_STRONG;
  if (strong && !flush())
    return false;
  if (pending.peer != grid_.rank() && !heap.reachable(pending.peer))
    return executeNet(pending);
  // A local store is this CTA's own access and is ordered with its others.
  if (!grid_.seed || strong || isOwnStore(pending))
    return execute(pending);

  if (pending.isStore) {
    // The caller's tile is private and may change now: keep a dense copy.
    Region &r = pending.region;
    pending.tile.resize(r.elements() * byteSize(r.type));
    Region dense = r;
    int64_t stride = 1;
    for (int d = r.ndims - 1; d >= 0; --d) {
      dense.dstStrides[d] = stride;
      stride *= r.sizes[d];
    }
    if (!pending.tile.empty())
      copyRegion(dense, pending.tile.data(), false);
    r.srcStrides = dense.dstStrides;
  }
  pending_.push_back(std::move(pending));
  while (!pending_.empty() && (pending_.size() > kMaxPending || chance(4))) {
    std::swap(pending_[random_() % pending_.size()], pending_.back());
    Pending chosen = std::move(pending_.back());
    pending_.pop_back();
    if (!execute(chosen))
      return false;
  }
  if (chance(16))
    std::this_thread::yield();
  return true;
}

bool Cta::flush(bool storesOnly) {
  if (pending_.empty())
    return true;
  std::shuffle(pending_.begin(), pending_.end(), random_);
  std::vector<Pending> kept;
  bool ok = true;
  for (Pending &pending : pending_) {
    if (storesOnly && !pending.isStore)
      kept.push_back(std::move(pending));
    else if (ok)
      ok = execute(pending);
  }
  pending_ = std::move(kept);
  return ok;
}

bool Cta::execute(Pending &pending) {
  if (pending.peer != grid_.rank() && !awaitReady(pending.peer))
    return false;
  Region &region = pending.region;
  if (!pending.tile.empty())
    region.src = pending.tile.data();
  std::byte *dst = region.dst;
  if (pending.peer != grid_.rank() && region.elements() > 0)
    dst = grid_.context.heap().peerPointer(pending.peer, region.dst);
  if (region.elements() > 0)
    copyRegion(region, dst, pending.flags & MK_PUT_ADD);
  if (!pending.isStore || pending.peer != grid_.rank()) {
    peers[pending.peer].bytes += region.copied() * byteSize(region.type);
    ++peers[pending.peer].puts;
  }
  if (pending.signal == MK_NO_SIGNAL)
    return true;
  return raise(pending.peer, pending.signal, pending.index, 1, false);
}

bool Cta::submit(const Command &command) {
  auto begin = Deadline::Clock::now();
  Backoff backoff(grid_.maxSleep);
  Status status = grid_.context.proxy()->submit(command, [&]() -> Status {
    if (grid_.context.abort().raised())
      return error(StatusCode::Aborted, "aborted");
    if (Deadline::Clock::now() - begin >= grid_.deadline)
      return error(StatusCode::DeadlineExceeded,
                   "the proxy took no command "
                   "for ",
                   Deadline::after(grid_.deadline).duration(),
                   "; its ring is full");
    backoff.pause();
    return Status::success();
  });
  return status.isOk() || fail("put", status.message());
}

bool Cta::executeNet(Pending &pending) {
  Region &region = pending.region;
  if (pending.flags & MK_PUT_ADD)
    return fail("put", str("rank ", pending.peer,
                           " is across a net axis, which has no remote "
                           "addition: put into a slot and add there"));
  if (!awaitReady(pending.peer))
    return false;
  LaunchStats::Peer &stats = peers[pending.peer];
  ++stats.puts;
  bool strong = pending.flags & MK_PUT_STRONG;
  int64_t bytes = region.copied() * int64_t(byteSize(region.type));
  if (bytes == 0)
    return pending.signal == MK_NO_SIGNAL ||
           raise(pending.peer, pending.signal, pending.index, 1, strong);

  bool dense = region.listed
                   ? region.dstStrides[1] == 1 && region.srcStrides[1] == 1
                   : region.ndims == 1 && region.dstStrides[0] == 1 &&
                         region.srcStrides[0] == 1;
  if (!dense)
    return fail(
        "put", str("a put to rank ", pending.peer,
                   " crosses a net axis and is not contiguous (",
                   shapeText(std::span(region.sizes.data(), region.ndims)),
                   " elements with strides ",
                   shapeText(std::span(region.srcStrides.data(), region.ndims)),
                   " here and ",
                   shapeText(std::span(region.dstStrides.data(), region.ndims)),
                   " there): put whole rows, or block the layout so that a "
                   "tile is contiguous"));
  const Heap &heap = grid_.context.heap();
  Region::Span span = region.srcSpan();
  if (!heap.contains(region.src + span.begin, span.end - span.begin))
    return fail("put", str("the source of a put to rank ", pending.peer,
                           ", which is across a net axis, is not in symmetric "
                           "memory: make the argument symmetric"));
  uint64_t src = *heap.offsetOf(region.src), dst = *heap.offsetOf(region.dst);
  stats.bytes += bytes;

  Command command;
  command.op = MK_CMD_PUT;
  command.peer = static_cast<uint16_t>(pending.peer);
  command.channel = static_cast<uint16_t>(linear_);
  bool ok = true;
  forEachRun(region, [&](Run run) {
    while (ok && run.bytes > 0) {
      int64_t part = std::min(run.bytes, kLargestCommand);
      command.src = src + run.src;
      command.dst = dst + run.dst;
      command.bytes = static_cast<uint32_t>(part);
      run.src += part, run.dst += part, run.bytes -= part;
      bytes -= part;
      command.flags = 0;
      if (bytes > 0) {
        command.flags = MK_CMD_MORE;
      } else if (pending.signal != MK_NO_SIGNAL) {
        command.flags = MK_CMD_HAS_SIGNAL | (strong ? MK_CMD_STRONG : 0);
        command.amount = 1;
        command.slot =
            grid_.signals[pending.signal].slots.begin() + static_cast<uint32_t>(pending.index);
      }
      ok = submit(command);
    }
  });
  return ok;
}
