//===- GridClose.cpp - Opening and closing a launch with the peers --------===//
//
// Launch e of a rank may write into a peer only when the peer has said that it
// is in launch e, too ("ready"), and its results are complete only when every
// peer has said that all it had to send has arrived ("done"). Both are signal
// slots that each peer raises by one in each launch.
//
//===----------------------------------------------------------------------===//

#include "device/Launches.h"
#include "device/host/Cta.h"
#include "device/host/Grid.h"
#include "mkernel/ABI/Gpu.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::host;

Status Grid::tellPeers(uint32_t slotBase) {
  Backoff backoff(maxSleep);
  auto begin = Deadline::Clock::now();
  auto ringWait = [&]() -> Status {
    MK_TRY(context.abort().status());
    if (Deadline::Clock::now() - begin >= deadline)
      return error(StatusCode::DeadlineExceeded,
                   "the proxy took no command before the deadline");
    backoff.pause();
    return Status::success();
  };
  for (uint32_t step = 1; step < world(); ++step) {
    // Staggered, so that not everybody writes to rank 0 first.
    uint32_t peer = (rank() + step) % world();
    uint32_t slot = slotBase + rank();
    if (auto *word = heap().peerSignal(peer, slot)) {
      word->fetch_add(1, std::memory_order_release);
      continue;
    }
    Command command;
    command.op = MK_CMD_SIGNAL;
    command.flags = MK_CMD_HAS_SIGNAL;
    command.peer = static_cast<uint16_t>(peer);
    command.channel = context.launchChannel();
    command.amount = 1;
    command.slot = slot;
    MK_TRY(context.proxy()->submit(command, ringWait));
  }
  return Status::success();
}

Status Grid::arrivePrepared() {
  if (preparedCount_.fetch_add(1, std::memory_order_acq_rel) + 1 !=
      metadata.grid)
    return Status::success();
  Status status = tellPeers(readySlots_.begin());
  preparedAll_.store(true, std::memory_order_release);
  return status;
}

Status Grid::waitForPeers() {
  Backoff backoff(maxSleep);
  auto begin = Deadline::Clock::now();
  // A peer's own report says more than that it is late: let it come first.
  auto limit = addTime(deadline, std::chrono::milliseconds(250));
  for (uint32_t peer = 0; peer < world(); ++peer) {
    if (peer == rank())
      continue;
    auto &word = heap().signal(doneSlots_.begin() + peer);
    auto done = [&] {
      uint64_t seen = word.load(std::memory_order_acquire) - doneBase_[peer];
      return static_cast<int64_t>(seen - epoch_) >= 0;
    };
    int64_t began = timing && !done() ? steadyNow() : 0;
    while (!done()) {
      MK_TRY(context.abort().status());
      if (Deadline::Clock::now() - begin >= limit)
        return error(StatusCode::DeadlineExceeded, "kernel '", metadata.kernel,
                     "': all CTAs of this rank have finished, but rank ", peer,
                     " has not closed launch ", epoch_, " within ",
                     Deadline::after(limit).duration(),
                     context.launches().explain());
      checkDeadlock(/*idle=*/true);
      backoff.pause();
    }
    if (began) {
      Timeline::Record &record = closing_.records.emplace_back();
      record.kind = MK_TIMELINE_WAIT + int(MK_WAIT_DONE);
      record.begin = began;
      record.end = steadyNow();
      record.value = peer;
    }
    monitor.launchWoke();
    backoff.reset();
  }
  return context.abort().status();
}

Status Grid::advanceBases() {
  for (size_t i = 0; i < signals.size(); ++i) {
    SignalArray &s = signals[i];
    for (int64_t e = 0; e < s.elements; ++e) {
      uint64_t value = signalWord(s, e).load(std::memory_order_acquire);
      if (s.arrivals < 0) {
        s.base[e] = value;
        continue;
      }
      auto counted = static_cast<int64_t>(value - s.base[e]);
      s.base[e] += s.arrivals;
      // What gets nothing in any launch may be there for other sizes: who waits for it hangs.
      if (counted == s.arrivals || value == s.start[e])
        continue;
      if (counted < 0)
        return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                     "': ", signalName(i, e), " counted arrivals in launch ", epoch_,
                     " and none in earlier ones, it declares ", s.arrivals,
                     " for each: raise it in every launch or declare it dynamic");
      return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel, "': ",
                   signalName(i, e), " counted ", counted,
                   counted == 1 ? " arrival" : " arrivals", " in launch ", epoch_,
                   ", it declares ", s.arrivals,
                   ": correct its arrivals or declare it dynamic");
    }
  }
  return Status::success();
}

Timeline Grid::timeline() const {
  Timeline timeline;
  for (const auto &cta : ctas_)
    timeline.tracks.push_back(cta->track);
  if (closing_.records.empty())
    return timeline;
  // Behind the CTAs.
  Timeline::Track &last = timeline.tracks.emplace_back(closing_);
  last.cta = metadata.grid;
  last.begin = last.records.front().begin;
  last.end = last.records.back().end;
  return timeline;
}

void Grid::collect() {
  stats_.peers.assign(world(), {});
  stats_.roles.assign(metadata.roles.size(), {});
  auto ms = [](std::chrono::nanoseconds t) { return t.count() * 1e-6; };
  for (const auto &cta : ctas_) {
    for (size_t p = 0; p < cta->peers.size(); ++p) {
      stats_.peers[p].bytes += cta->peers[p].bytes;
      stats_.peers[p].puts += cta->peers[p].puts;
    }
    for (size_t r = 0; r < cta->roleTimes.size(); ++r) {
      const Cta::RoleTime &time = cta->roleTimes[r];
      stats_.roles[r].ms = std::max(stats_.roles[r].ms, ms(time.time));
      stats_.roles[r].blockedMs += ms(time.blocked);
      stats_.roles[r].waits += time.waits;
    }
  }
}
