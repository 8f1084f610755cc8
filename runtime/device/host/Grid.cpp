//===- Grid.cpp - One rank's launches of one kernel -----------------------===//

#include "device/host/Grid.h"

#include "device/Device.h"
#include "device/Launches.h"
#include "device/host/Cta.h"
#include "package/Launch.h"

#include <algorithm>
#include <new>
#include <thread>

using namespace mk::rt;
using namespace mk::rt::host;

static constexpr std::chrono::nanoseconds kForever =
    std::chrono::nanoseconds::max() / 10;

Grid::Grid(Context &context, const Metadata &metadata, const Payload &payload,
           const JobPlan &plan)
    : context(context), metadata(metadata), payload(payload), plan(plan),
      queues(metadata.queues.size()), tickets(metadata.loops.size()),
      monitor(context, metadata.kernel, metadata.grid) {}

Grid::~Grid() { context.launches().unbind(kernel_); }

Status Grid::prepare() try {
  kernel_ = context.launches().bind(dimsText(metadata, plan.dims(rank())));
  const Plan &own = plan.plan(rank());
  uint32_t peers = world();
  MK_ASSIGN(readySlots_, context.allocateSlots(peers, "the launch protocol's"));
  MK_ASSIGN(doneSlots_, context.allocateSlots(peers, "the launch protocol's"));
  for (uint32_t r = 0; r < peers; ++r) {
    readyBase_.push_back(heap().signal(readySlots_.begin() + r).load());
    doneBase_.push_back(heap().signal(doneSlots_.begin() + r).load());
  }
  for (size_t i = 0; i < metadata.signals.size(); ++i) {
    SignalArray &s = signals.emplace_back();
    s.sys = metadata.signals[i].sys;
    s.elements = own.signals[i].elements;
    s.arrivals = own.signals[i].arrivals;
    if (s.sys) {
      MK_ASSIGN(s.slots, context.allocateSlots(s.elements, str("the elements of signal '",
                                                               metadata.signals[i].name, "'")));
    } else {
      s.local = std::make_unique<std::atomic<uint64_t>[]>(s.elements);
    }
    for (int64_t e = 0; e < s.elements; ++e)
      s.base.push_back(signalWord(s, e).load(std::memory_order_relaxed));
    s.start = s.base;
  }
  for (size_t i = 0; i < queues.size(); ++i) {
    queues[i].width = metadata.queues[i].width;
    queues[i].capacity = own.queues[i];
    queues[i].records.resize(queues[i].capacity * queues[i].width);
    queues[i].published =
        std::make_unique<std::atomic<uint64_t>[]>(queues[i].capacity);
  }
  for (const Plan::Counter &counter : own.counters)
    counters.push_back(
        {counter.elements,
         std::make_unique<std::atomic<int64_t>[]>(counter.elements)});

  coords_ = context.mesh().coords(rank());
  launchData = makeLaunch(context.mesh(), rank(), coords_, plan.dims(rank()));
  launchData.runtime = this;

  // With more threads than cores, waiters that wake often starve the others.
  int64_t threads = int64_t(metadata.grid) * world();
  int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  maxSleep = std::chrono::microseconds(
      std::clamp<int64_t>(threads / cores * 20, 200, 5000));
  for (uint32_t i = 0; i < metadata.grid; ++i)
    ctas_.push_back(std::make_unique<Cta>(*this, i));
  return monitor.open();
} catch (const std::bad_alloc &) {
  return error(StatusCode::ResourceExhausted, "kernel '", metadata.kernel,
               "': there is no memory for its signals, counters and queues on rank ",
               rank(), ": give smaller sizes");
}

std::vector<uint32_t> Grid::slots() const {
  std::vector<uint32_t> first = {readySlots_.begin(), doneSlots_.begin()};
  for (const SignalArray &s : signals)
    if (s.sys)
      first.push_back(s.slots.begin());
  return first;
}

Status Grid::launch(const LaunchOptions &options,
                    const std::vector<std::byte *> &data) {
  MK_TRY(context.checkOpen());
  MK_TRY(context.abort().status());
  auto begin = Deadline::Clock::now();
  deadline = options.deadline;
  computeDeadline = options.computeDeadline;
  if (computeDeadline.count() == 0)
    computeDeadline = deadline < kForever ? deadline * 10 : kForever;
  seed = options.seed;
  recording = options.record != nullptr;
  timing = metadata.timeline.has_value();
  closing_ = {};
  for (size_t i = 0; recording && i < metadata.args.size(); ++i)
    if (size_t rank = plan.shard(i, this->rank()).sizes.size();
        rank > size_t(check::Box::kMaxRank))
      return error(StatusCode::InvalidArgument,
                   "argument '", metadata.args[i].name, "' has ", rank,
                   " dimensions, and accesses of at most ", check::Box::kMaxRank,
                   " can be recorded: run without --check=races");
  ++epoch_;
  number_ = context.launches().begin(kernel_, metadata.kernel);

  // Descriptors: {allocated, aligned, offset, sizes, strides}.
  descriptorWords_.clear();
  std::vector<size_t> starts;
  for (size_t i = 0; i < data.size(); ++i) {
    const Shard &shard = plan.shard(i, rank());
    starts.push_back(descriptorWords_.size());
    descriptorWords_.insert(descriptorWords_.end(),
                            {reinterpret_cast<intptr_t>(data[i]),
                             reinterpret_cast<intptr_t>(data[i]), 0});
    std::vector<int64_t> strides = tightStrides(shard.sizes);
    descriptorWords_.insert(descriptorWords_.end(), shard.sizes.begin(),
                            shard.sizes.end());
    descriptorWords_.insert(descriptorWords_.end(), strides.begin(),
                            strides.end());
  }
  arguments_ = data;
  descriptors_.clear();
  for (size_t start : starts)
    descriptors_.push_back(descriptorWords_.data() + start);
  launchData.args = descriptors_.data();

  for (QueueState &queue : queues)
    queue.reserved.store(0, std::memory_order_relaxed);
  for (CounterArray &counter : counters)
    for (int64_t e = 0; e < counter.elements; ++e)
      counter.values[e].store(0, std::memory_order_relaxed);
  for (auto &ticket : tickets)
    ticket.store(0, std::memory_order_relaxed);
  preparedCount_.store(0, std::memory_order_relaxed);
  preparedAll_.store(false, std::memory_order_relaxed);

  monitor.beginLaunch(kernel_, epoch_, number_);

  Status status = payload.prepare ? Status::success() : tellPeers(readySlots_.begin());
  if (status.isOk())
    status = runCtas();
  if (status.isOk())
    status = tellPeers(doneSlots_.begin());
  if (status.isOk())
    status = waitForPeers();
  if (status.isOk())
    status = advanceBases();
  if (!status.isOk() && !context.abort().raised())
    context.abort().raise(AbortRecord::now(static_cast<int32_t>(rank()),
                                           "launch", status.message()));
  collect();
  if (recording) {
    check::RankLog log;
    for (auto &cta : ctas_)
      log.ctas.push_back(std::move(cta->log));
    check::encode(log, *options.record);
  }
  stats_.wallMs =
      std::chrono::duration<double, std::milli>(Deadline::Clock::now() - begin)
          .count();
  // The first failure of all ranks tells more than what followed from it here.
  return context.abort().status();
}

Status Grid::runCtas() {
  std::vector<uint32_t> order(metadata.grid);
  for (uint32_t i = 0; i < metadata.grid; ++i)
    order[i] = i;
  if (seed) {
    std::mt19937_64 random(seed * 31 + epoch_ * 7 + rank());
    std::shuffle(order.begin(), order.end(), random);
  }
  for (auto &cta : ctas_)
    cta->reset();
  ended_ = 0;
  grace_.reset();
  uint32_t started = 0;
  Status status;
  for (uint32_t i : order) {
    status = ctas_[i]->start();
    if (!status.isOk()) {
      // Those that run wait for this one: let them go.
      context.abort().raise(AbortRecord::now(static_cast<int32_t>(rank()),
                                             "launch", status.message()));
      break;
    }
    ++started;
  }
  awaitCtas(started);
  for (auto &cta : ctas_)
    cta->join();
  interrupter_.reset();
  return context.abort().status();
}

uint32_t Grid::firstRole(uint32_t linear, uint32_t &index) const {
  uint32_t role = 0;
  index = linear;
  while (index >= metadata.roles[role].ctas)
    index -= metadata.roles[role++].ctas;
  return role;
}

uint32_t Grid::helperIndex(uint32_t role, uint32_t linear) const {
  // Behind the role's own CTAs, in grid order of all others that may come: the
  // index must be unique, whoever comes first.
  uint32_t index = metadata.roles[role].ctas;
  for (uint32_t other = 0; other < linear; ++other) {
    uint32_t unused;
    if (firstRole(other, unused) != role)
      ++index;
  }
  return index;
}

bool Grid::isShared(uint32_t role) const {
  uint32_t ctas = 0;
  for (uint32_t linear = 0; linear < metadata.grid && ctas < 2; ++linear) {
    uint32_t unused;
    auto at = static_cast<int32_t>(firstRole(linear, unused));
    // A role that it has been in ends its way.
    std::vector<bool> visited(metadata.roles.size());
    for (; at >= 0 && !visited[at]; at = metadata.roles[at].then) {
      visited[at] = true;
      ctas += at == static_cast<int32_t>(role);
    }
  }
  return ctas > 1;
}

std::string Grid::signalName(uint32_t signal, int64_t index) const {
  return elementName("signal", metadata.signals[signal].name,
                     plan.plan(rank()).signals[signal].extents, index);
}

void Grid::ctaEnded(uint32_t linear) {
  monitor.ended(linear);
  // The grid waits for all threads before it goes.
  std::lock_guard lock(endedMutex_);
  ++ended_;
  endedChanged_.notify_one();
}

void Grid::awaitCtas(uint32_t started) {
  std::unique_lock lock(endedMutex_);
  while (!endedChanged_.wait_for(lock, DeadlockMonitor::kPeriod,
                                 [&] { return ended_ >= started; })) {
    lock.unlock();
    checkDeadlock(/*idle=*/false);
    checkEndless();
    lock.lock();
  }
}

void Grid::checkEndless() {
  if (!context.abort().raised()) {
    for (auto &cta : ctas_)
      cta->checkEndless(computeDeadline);
    return;
  }
  // Every call of the runtime ends a CTA now. Before mk-run kills the rank.
  if (!grace_)
    grace_ = Deadline::after(std::chrono::milliseconds(200));
  if (!grace_->passed())
    return;
  if (!interrupter_)
    interrupter_.emplace();
  CodeRange code = CodeRange::of(reinterpret_cast<void *>(payload.plan));
  for (auto &cta : ctas_)
    cta->interrupt(*interrupter_, code);
}

void Grid::checkDeadlock(bool idle) {
  std::string report;
  if (!context.abort().raised() && monitor.step(idle, report))
    context.abort().raise(AbortRecord::now(static_cast<int32_t>(rank()),
                                           "deadlock", report));
}
