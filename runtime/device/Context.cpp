//===- Context.cpp - A rank of a job --------------------------------------===//

#include "mkernel/Runtime/Context.h"

#include "device/Agreement.h"
#include "device/Device.h"
#include "device/Launches.h"

#include "memory/FirstFit.h"
#include "mkernel/Runtime/CpuBinding.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <set>

using namespace mk::rt;

ContextOptions ContextOptions::of(Job &job, Mesh mesh) {
  ContextOptions options;
  options.mesh = std::move(mesh);
  options.rank = job.rank();
  options.store = job.store();
  options.scope = job.nextScope();
  options.number = job.contexts();
  options.localRank = job.localRank();
  return options;
}

// Of a GPU's launches, which are enqueued without waiting.
static constexpr uint64_t kListBytes = 128 << 10;

Context::Context() : launches_(std::make_unique<Launches>()) {}

/// What the store says of an abort, which may be on its way.
static std::optional<AbortRecord> awaitAbort(const StoreClient &store,
                                             std::chrono::milliseconds limit) {
  Deadline deadline = Deadline::after(limit);
  Backoff backoff(std::chrono::milliseconds(2));
  while (!store.aborted() && !deadline.passed() && store.silent().empty())
    backoff.pause();
  return store.aborted();
}

/// A peer that went away is seen in several places at once; the store knows why
/// it went, a moment later.
static Status firstCause(StoreClient *store, Status status) {
  if (!store || status.code() != StatusCode::Unavailable)
    return status;
  auto record = awaitAbort(*store, std::chrono::milliseconds(300));
  return record ? record->toStatus() : status;
}

Result<std::unique_ptr<Context>> Context::create(ContextOptions options) {
  env::warnOnce();
  std::unique_ptr<Context> context(new Context());
  context->options_ = std::move(options);
  if (Status status = context->build(); !status.isOk())
    return firstCause(context->store_.get(), status);
  context->built_ = true;
  return context;
}

// Aborts of a connection end one context, and names in the store are counted.
static std::mutex claims;
static std::set<const StoreClient *> claimed;

Status Context::claim() {
  std::lock_guard lock(claims);
  if (!claimed.insert(store_.get()).second)
    return error(StatusCode::FailedPrecondition, "rank ", rank(),
                 " of the job has a context already: load all kernels in that one, or close it "
                 "first (Context::close)");
  claimed_ = true;
  return Status::success();
}

void Context::release() {
  std::lock_guard lock(claims);
  if (std::exchange(claimed_, false))
    claimed.erase(store_.get());
}

Status Context::build() {
  Context &c = *this;
  const Mesh &mesh = c.options_.mesh;
  uint32_t rank = c.options_.rank, world = mesh.size();
  if (rank >= world)
    return error(StatusCode::InvalidArgument, "rank ", rank, " of a mesh of ",
                 world, " ranks");
  MK_TRY(checkTime("ContextOptions::timeout", c.options_.timeout));
  if (c.options_.maxGrid == 0 || c.options_.maxGrid >= 65535)
    return error(StatusCode::InvalidArgument, "a grid of ", c.options_.maxGrid,
                 " CTAs; 1 to 65534 are possible");
  if (c.options_.ranksPerGpu == 0)
    return error(StatusCode::InvalidArgument,
                 "ContextOptions::ranksPerGpu is 0: give the number of ranks that may use a GPU, "
                 "at least 1");
  if (c.options_.ranksPerGpu > 1 && c.options_.device != DeviceKind::Gpu)
    return error(StatusCode::InvalidArgument, "ContextOptions::ranksPerGpu (ranks_per_gpu in C) is ",
                 c.options_.ranksPerGpu, ", and this context is the host target's, whose ranks "
                 "share the CPUs as they are: leave it out, or use code for GPUs");
  // Also where nothing goes over it: what is mistyped is so on every mesh.
  MK_TRY(checkTransport(c.options_.transport, c.options_.transportOptions));
  if (c.options_.endpoint.empty() && !c.options_.store && world > 1)
    return error(StatusCode::InvalidArgument, "a mesh of ", world,
                 " ranks needs the endpoint of the job's store");

  if (c.options_.store) {
    c.store_ = c.options_.store;
    MK_TRY(c.claim());
    if (c.store_->publishPending())
      awaitAbort(*c.store_, std::chrono::seconds(2));
    // The one before has failed: nobody begins before everybody has left it, and no name
    // of it counts any more.
    if (auto record = c.store_->aborted(); record && c.store_->hasServed()) {
      auto ended = c.store_->recover(world, c.deadline());
      if (!ended)
        return error(StatusCode::Aborted, "no new context: ", ended.status().message(),
                     "; the one before failed: ", record->toString());
      c.options_.scope += str("after", *ended, ".");
      c.options_.number += *ended;
    }
    connectAbort(c.abort_, *c.store_);
    c.connected_ = true;
  } else if (!c.options_.endpoint.empty()) {
    StoreClientOptions store;
    store.endpoint = c.options_.endpoint;
    store.job = c.options_.job;
    store.token = c.options_.token;
    store.rank = static_cast<int32_t>(rank);
    MK_ASSIGN(c.store_, StoreClient::connect(store, c.deadline()));
    connectAbort(c.abort_, *c.store_);
    c.connected_ = true;
  }
  if (c.options_.device == DeviceKind::Gpu) {
    if (c.options_.gpu < 0 && c.options_.localRank) {
      MK_ASSIGN(GpuSystem system, queryGpus());
      c.options_.gpu = int(*c.options_.localRank % system.gpus.size());
    }
    MK_ASSIGN(c.device_, cuda::open(c.options_.gpu));
  } else {
    c.device_ = host::open();
  }
  HeapOptions heap;
  heap.bytes = c.options_.heapBytes;
  std::vector<uint32_t> net = mesh.netPeers(rank);
  heap.slots = c.options_.device == DeviceKind::Gpu && net.empty() ? 0 : c.options_.slots;
  heap.rank = rank;
  heap.world = world;
  heap.scope = c.options_.scope;
  heap.timeout = c.options_.timeout;
  heap.sharesGpu = c.options_.ranksPerGpu > 1;
  MK_ASSIGN(c.heap_, c.device_->createHeap(heap));
  if (c.store_) {
    MK_TRY(c.heap_->exchange(*c.store_, mesh.linkPeers(rank), c.deadline()));
    MK_TRY(c.shareLaunches(heap));
  }

  if (net.empty())
    return Status::success();
  c.heap_->agreeBy([&c](const Status &own) { return agreeOnSuccess(c, "symmetric memory", own); });
  TransportConfig transport;
  transport.heap = c.heap_.get();
  transport.gpu = c.device_->pciAddress();
  transport.options = c.options_.transportOptions;
  transport.scope = c.options_.scope;
  transport.generation = c.generation();
  MK_ASSIGN(c.transport_, createTransport(c.options_.transport, transport));
  MK_TRY(c.findPath(transport));
  MK_TRY(c.transport_->connect(*c.store_, net, c.deadline()));
  if (std::string path = c.transport_->path(); !path.empty())
    log::info("network: ", c.transport_->name(), ", ", path);
  MK_ASSIGN(c.network_, c.device_->openNetwork(*c.heap_, c.options_.maxGrid));
  ProxyOptions proxy;
  proxy.mesh = &mesh;
  proxy.heap = c.heap_.get();
  if (c.network_) {
    proxy.sink = &c.network_->sink();
    proxy.ring = &c.network_->ring();
  }
  MK_ASSIGN(proxy.ringCapacity, CommandRing::capacityAsked(proxy.ringCapacity));
  proxy.transport = c.transport_.get();
  proxy.generation = c.generation();
  proxy.abort = &c.abort_;
  proxy.channels = c.options_.maxGrid + 1;
  proxy.paused = c.options_.proxyPaused;
  MK_ASSIGN(proxy.cpus, c.proxyCpus());
  MK_ASSIGN(c.proxy_, Proxy::start(proxy));
  return Status::success();
}

/// Near the NIC that the proxy drives. Of a network without NICs, which copies memory of the
/// host, any.
Result<std::vector<uint32_t>> Context::proxyCpus() const {
  std::vector<std::string> nics = transport_->nics();
  std::string gpu = device_->pciAddress();
  Machine machine;
  if (!nics.empty() || !gpu.empty()) {
    // What is not known of it has said so elsewhere, and is no reason to fail.
    if (auto found = Machine::discover())
      machine = std::move(*found);
  }
  std::vector<uint32_t> allowed = allowedCpus();
  MK_ASSIGN(CpuBinding binding, chooseCpus(machine, nics, gpu, allowed));
  log::info("proxy: on CPUs ", cpusText(binding.cpus.empty() ? allowed : binding.cpus), " (",
            binding.why, ")");
  return binding.cpus;
}

/// Where the transport of one rank does not reach the memory of its GPU, all ranks go through
/// memory of the host.
Status Context::findPath(TransportConfig config) {
  MK_ASSIGN(std::string staged, stagedInstead(config.options));
  if (heap_->asHost() || !transport_->registersMemory() || staged.empty())
    return Status::success();
  MK_ASSIGN(HeapMemory some, HeapMemory::allocate(*heap_, 1, "what the network is tried with"));
  Status reached = transport_->reaches(*store_, deadline());
  MK_ASSIGN(std::vector<std::string> all,
            allGather("how the network is reached", reached.isOk() ? "" : reached.message()));
  auto first = std::ranges::find_if(all, [](const std::string &s) { return !s.empty(); });
  if (first == all.end())
    return Status::success();
  log::info("network: through memory of the host, since rank ", first - all.begin(),
            " does not reach its GPU's memory: ", *first);
  config.options = staged;
  MK_ASSIGN(transport_, createTransport(options_.transport, config));
  return Status::success();
}

Status Context::shareLaunches(HeapOptions options) {
  if (HostHeap *host = heap_->asHost()) {
    launches_->open(*host, HostHeap::kSignalOffset);
    return Status::success();
  }
  options.bytes = kListBytes;
  options.slots = 0;
  options.scope += ".launches";
  MK_ASSIGN(lists_, HostHeap::create(options));
  MK_TRY(lists_->exchange(*store_, options_.mesh.linkPeers(rank()), deadline()));
  launches_->open(*lists_, kListBytes);
  return Status::success();
}

Status Context::checkOpen() const {
  return closed_ ? error(StatusCode::FailedPrecondition,
                         "the context is closed: bind and launch before, or create another one")
                 : Status::success();
}

Status Context::close() {
  if (closed_)
    return Status::success();
  closed_ = true;
  // After an abort, too, kernels come to their ends: nobody begins anew before.
  device_->synchronize().ignore();
  Status result = abort_.check();
  if (store_ && result.isOk())
    result = store_->barrier(options_.scope + "mk.context.close", world(), deadline());
  if (proxy_ && result.isOk())
    result = proxy_->drain(deadline());
  proxy_.reset();
  if (transport_ && result.isOk())
    result = transport_->shutdown(deadline());
  transport_.reset();
  if (store_) {
    // The next context of this process has to see it, and begin anew with the others; seen
    // later, it would end that one.
    if (options_.store && abort_.raised())
      awaitAbort(*store_, std::chrono::seconds(2));
    if (connected_)
      disconnectAbort(abort_, *store_);
    release();
    if (!options_.store)
      store_->goodbye(Deadline::after(std::chrono::seconds(2))).ignore();
  }
  return result;
}

Context::~Context() {
  proxy_.reset();
  if (store_ && connected_ && !closed_) {
    disconnectAbort(abort_, *store_);
    // The connection is the job's, and stays.
    if (options_.store && built_ && world() > 1 && !abort_.raised())
      store_->publishAbortSoon(AbortRecord::now(
          static_cast<int32_t>(rank()), "context",
          str("rank ", rank(),
              " was lost: its context was destroyed without being closed; see "
              "that rank's own output for the cause, and let it call Context::close "
              "(mkernel_context_close), or Job::fail (mkernel_job_fail) if it cannot go on")));
  }
  release();
}

Result<std::vector<std::string>> Context::allGather(std::string_view what,
                                                    std::string_view value) {
  if (!store_)
    return std::vector<std::string>{std::string(value)};
  // Names are used once; the count is the same on every rank because calls
  // are collective.
  auto result = store_->allGather(str(options_.scope, "mk.", what, ".", gathers_++), rank(),
                                  value, world(), deadline());
  if (result)
    return result;
  Status status = result.status().withContext(str("exchange of ", what));
  if (status.code() != StatusCode::DeadlineExceeded)
    return status;
  return error(
      status.code(), status.message(),
      ": what is collective (bind, attach, allocate, free ...) all ranks have to do, in the "
      "same order; if a rank is only late, give more time (ContextOptions::timeout)");
}

Result<SlotRange> Context::allocateSlots(uint64_t n, std::string_view what) {
  if (n == 0)
    return SlotRange();
  auto [begin, largest] =
      findGap(slots_, 0, heap_->slots(), n, [](uint32_t count) { return count; });
  uint32_t free = heap_->slots() - slotsUsed_;
  if (n > largest)
    return error(StatusCode::ResourceExhausted, what, " need ", n, " signal slots; ", free, " of ",
                 heap_->slots(), " are free",
                 largest < free ? str(", at most ", largest, " in a row") : std::string(),
                 ": create the context with more (ContextOptions::slots)");
  auto first = static_cast<uint32_t>(begin), count = static_cast<uint32_t>(n);
  slots_.emplace(first, count);
  slotsUsed_ += count;
  return SlotRange(*this, first);
}

void Context::freeSlots(uint32_t begin) {
  auto it = slots_.find(begin);
  slotsUsed_ -= it->second;
  slots_.erase(it);
}

SlotRange::~SlotRange() {
  if (context_)
    context_->freeSlots(begin_);
}
