//===- Proxy.cpp - The thread that drives the network ---------------------===//

#include "proxy/ProxyImpl.h"
#include "core/Thread.h"
#include "mkernel/Runtime/CpuBinding.h"
#include "mkernel/Runtime/Log.h"

namespace mk::rt {
namespace {
constexpr uint32_t kYields = 64; // empty rounds before the thread sleeps
} // namespace

Proxy::Impl::Impl(const ProxyOptions &o)
    : options(o), world(o.mesh->size()), rank(o.heap->rank()),
      slots(o.heap->slots()), channels(o.channels), transport(o.transport),
      hostHeap(o.sink ? nullptr : o.heap->asHost()), sink(o.sink), paused(o.paused),
      begun(new Count[o.channels]()), ended(new Count[o.channels]()),
      windowBegin(o.heap->dataOffset()), isNet(world + 1),
      outstanding(new uint32_t[uint64_t(o.channels) * world]()),
      held(new List[uint64_t(o.channels) * world]),
      open(uint64_t(o.channels) * MK_CMD_TEAMS, kNone) {
  timed = o.requestTimeout.count() != 0;
  for (uint32_t r = 0; r < world; ++r)
    isNet[r] = !options.mesh->reachable(rank, r);
}

Proxy::Impl::~Impl() { options.abort->removeNote(this); }

Proxy::Proxy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Proxy>> Proxy::start(const ProxyOptions &options) {
  if (!options.mesh || !options.heap || !options.transport || !options.abort)
    return rt::error(
        StatusCode::InvalidArgument,
        "a proxy needs a mesh, a heap, a transport and an abort word");
  if (options.channels < 1 || options.channels > 65536)
    return rt::error(StatusCode::InvalidArgument, "a proxy for ",
                     options.channels, " channels: use 1 to 65536");
  if (options.mesh->size() != options.heap->world())
    return rt::error(StatusCode::InvalidArgument, "the mesh has ",
                     options.mesh->size(), " ranks, the heap is for ",
                     options.heap->world());
  if (!options.sink && !options.heap->asHost())
    return rt::error(StatusCode::InvalidArgument,
                     "the proxy of a GPU's memory needs to know where its kernels look "
                     "(ProxyOptions::sink)");
  auto impl = std::make_unique<Impl>(options);
  impl->ring = options.ring;
  if (!impl->ring) {
    MK_ASSIGN(impl->ownRing, CommandRing::create(options.ringCapacity));
    impl->ring = impl->ownRing.get();
  }
  impl->foreign = impl->ring->isForeign();
  Impl *raw = impl.get();
  options.abort->addNote(raw, [raw] {
    std::string stuck = raw->options.transport->stuck();
    return stuck.empty() ? stuck : str("rank ", raw->rank, "'s network: ", stuck);
  });
  MK_TRY(startThread(impl->thread, "the network proxy", [raw] { raw->run(); }));
  return std::unique_ptr<Proxy>(new Proxy(std::move(impl)));
}

Proxy::~Proxy() {
  impl_->stop = true;
  impl_->transport->wake();
  impl_->thread.join();
}

Status Proxy::submit(const Command &command, const RingWait &wait) {
  Impl &p = *impl_;
  if (p.foreign)
    return rt::error(StatusCode::FailedPrecondition,
                     "only the GPU writes into its command ring");
  // What the counts are indexed by; the rest is for the proxy to check.
  if (command.channel >= p.channels || command.peer >= p.world)
    return rt::error(StatusCode::OutOfRange, "a command of CTA ",
                     command.channel, " to rank ", command.peer,
                     ": the proxy has ", p.channels, " channels and ",
                     p.world, " ranks");
  auto &channel = p.begun[command.channel];
  // Before the proxy can complete it.
  channel.fetch_add(1, std::memory_order_relaxed);
  uint64_t signal = command.flags & MK_CMD_HAS_SIGNAL ? 1 : 0;
  p.signals.fetch_add(signal, std::memory_order_relaxed);
  if (Status pushed = p.ring->push(command, wait); !pushed) {
    channel.fetch_sub(1, std::memory_order_relaxed);
    p.signals.fetch_sub(signal, std::memory_order_relaxed);
    return pushed;
  }
  // A read-modify-write, so that either this sees the proxy asleep or the proxy
  // sees the command before it sleeps.
  if (p.sleeping.exchange(0, std::memory_order_acq_rel))
    p.transport->wake();
  return {};
}

uint64_t Proxy::inflightAll(uint32_t channel) const {
  assert(channel < impl_->channels);
  return Impl::openOf(impl_->begun[channel], impl_->ended[channel]);
}

uint64_t Proxy::inflightTotal() const {
  uint64_t sum = 0;
  for (uint32_t channel = 0; channel < impl_->channels; ++channel)
    sum += inflightAll(channel);
  return sum;
}

CommandRing &Proxy::ring() { return *impl_->ring; }

void Proxy::pause(bool paused) {
  impl_->paused = paused;
  impl_->transport->wake();
  while (paused && !impl_->resting)
    std::this_thread::yield();
}

Status Proxy::error() const {
  std::lock_guard lock(impl_->errorMutex);
  return impl_->firstError;
}

Proxy::Stats Proxy::stats() const {
  return {impl_->commands, impl_->requests, impl_->arrivals.load(),
          impl_->signals,  impl_->stale,    impl_->discarded};
}

Status Proxy::drain(Deadline deadline) {
  Backoff backoff;
  while (inflightTotal() > 0) {
    MK_TRY(impl_->settledError());
    MK_TRY(impl_->options.abort->status());
    if (deadline.passed()) {
      uint32_t open = impl_->openPuts;
      return rt::error(
          StatusCode::DeadlineExceeded, inflightTotal(),
          " commands were still in flight after ", deadline.duration(),
          open ? str("; ", open,
                     " puts lack their last command (one without MK_CMD_MORE)")
               : std::string());
    }
    backoff.pause();
  }
  return impl_->settledError();
}

/// A failure is reported once it is known whose it is.
Status Proxy::Impl::settledError() const {
  Backoff backoff(std::chrono::milliseconds(2));
  while (true) {
    bool over = !failed;
    {
      std::lock_guard lock(errorMutex);
      if (over || !firstError)
        return firstError;
    }
    backoff.pause();
  }
}

void Proxy::Impl::run() {
  // It works all the same, only slower.
  if (Status bound = bindThread(options.cpus); !bound)
    log::warn("proxy: ", bound.message());
  uint32_t idleRounds = 0;
  while (!stop) {
    resting = paused.load();
    if (resting) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    if (round())
      idleRounds = 0;
    else
      idle(idleRounds++);
  }
}

/// Yields at first; then sleeps until the transport has news, a command is
/// submitted, or a little time has passed. Hundreds of these threads may share
/// two cores. A GPU wakes nobody: its ring is looked at all the time, less often when
/// nothing has come for a second.
void Proxy::Impl::idle(uint32_t rounds) {
  using namespace std::chrono_literals;
  if (rounds < kYields) {
    std::this_thread::yield();
    return;
  }
  if (failed) {
    // The transport may have an event that it cannot consume any more.
    std::this_thread::sleep_for(1ms);
    return;
  }
  if (foreign) {
    constexpr uint32_t kBusy = 2'000'000, kQuiet = 2'100'000; // rounds: about one and ten seconds
    if (rounds < kBusy)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(rounds < kQuiet ? 20us : 500us);
    return;
  }
  sleeping.exchange(1, std::memory_order_acq_rel);
  if (!ring->hasCommands() && !stop)
    transport->wait(10ms);
  sleeping.store(0, std::memory_order_relaxed);
}

} // namespace mk::rt
