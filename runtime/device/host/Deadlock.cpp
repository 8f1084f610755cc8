//===- Deadlock.cpp - When no CTA of any rank can go on -------------------===//

#include "device/host/Deadlock.h"

#include "device/Launches.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <sstream>

using namespace mk::rt;
using namespace mk::rt::host;

// Lines about waiting CTAs that one rank publishes, and that a report has.
static constexpr size_t kLinesOfRank = 8, kLinesOfReport = 24;

static std::string keyOf(const Context &context, uint32_t rank) {
  return str(context.options().scope, "mk.deadlock.", rank);
}

DeadlockMonitor::DeadlockMonitor(Context &context, std::string kernel,
                                 uint32_t ctas)
    : context_(context), kernel_(std::move(kernel)), ctas_(ctas) {}

Status DeadlockMonitor::open() {
  // Others count on it; what comes later is dropped where the store is slow.
  return context_.store() && context_.world() > 1 ? publish({}, context_.options().timeout)
                                                  : Status::success();
}

void DeadlockMonitor::beginLaunch(uint64_t kernel, uint64_t epoch,
                                  uint64_t number) {
  for (CtaState &cta : ctas_)
    cta.state.store(kRuns);
  wakes_.fetch_add(1);
  own_ = {};
  own_.kernel = kernel; // 0: no launch yet
  own_.epoch = epoch;
  own_.number = number;
  own_.name = kernel_;
  wasPassive_ = false;
  stage_ = 0;
  next_ = std::chrono::steady_clock::now() + kPeriod;
}

void DeadlockMonitor::note(uint32_t cta, uint64_t sweep, std::string text) {
  CtaState &state = ctas_[cta];
  {
    std::lock_guard lock(state.mutex);
    state.text = std::move(text);
  }
  state.state.store(sweep);
}

void DeadlockMonitor::woke(uint32_t cta) {
  if (ctas_[cta].state.load(std::memory_order_relaxed) == kRuns)
    return;
  wakes_.fetch_add(1);
  ctas_[cta].state.store(kRuns);
}

bool DeadlockMonitor::look(bool idle, Entry &entry) {
  uint64_t wakes = wakes_.load(), sweep = sweep_.load();
  bool anyBlocked = idle;
  for (const CtaState &cta : ctas_) {
    uint64_t state = cta.state.load();
    if (state == kRuns || state < sweep)
      return false;
    anyBlocked |= state != kEnded;
  }
  if (!anyBlocked)
    return false; // the launch thread is about to go on
  Proxy *proxy = context_.proxy();
  if (proxy && proxy->inflightTotal() > 0)
    return false;
  if (proxy) {
    Proxy::Stats stats = proxy->stats();
    entry.sent = stats.signals;
    entry.arrived = stats.arrivals;
  }
  entry.text = describeCtas(idle);
  // No CTA that was seen blocked has gone on meanwhile.
  if (wakes_.load() != wakes)
    return false;
  entry.count = wasPassive_ && wakes == own_.wakes ? own_.count + 1 : 1;
  entry.wakes = wakes;
  return true;
}

std::string DeadlockMonitor::describeCtas(bool idle) {
  if (idle)
    return "all CTAs have ended; waits for its peers to end the launch\n";
  std::string text;
  size_t lines = 0, more = 0;
  for (CtaState &cta : ctas_) {
    if (cta.state.load() == kEnded)
      continue;
    if (lines++ >= kLinesOfRank) {
      ++more;
      continue;
    }
    std::lock_guard lock(cta.mutex);
    text += cta.text + "\n";
  }
  if (more)
    text += str("and ", more, " more CTAs\n");
  return text;
}

Status DeadlockMonitor::publish(const Entry &e, std::chrono::nanoseconds limit) {
  return context_.store()->set(
      keyOf(context_, context_.rank()),
      str(e.kernel, " ", e.epoch, " ", e.wakes, " ", e.count, " ", e.sent, " ",
          e.arrived, " ", e.number, "\n", e.name, "\n", e.text),
      Deadline::after(limit));
}

bool DeadlockMonitor::collect(std::vector<Entry> &entries, std::string &report) {
  for (uint32_t rank = 0; rank < context_.world(); ++rank) {
    if (rank == context_.rank()) {
      entries.push_back(own_);
      if (stage_ > 0 && !own_.sameRun(seen_[rank]))
        return false;
      continue;
    }
    // Every rank has made its entry before the first launch.
    auto text = context_.store()->get(
        keyOf(context_, rank), Deadline::after(std::chrono::seconds(1)));
    if (!text)
      return false;
    std::istringstream in(*text);
    Entry &entry = entries.emplace_back();
    in >> entry.kernel >> entry.epoch >> entry.wakes >> entry.count >>
        entry.sent >> entry.arrived >> entry.number;
    in.ignore(1);
    std::getline(in, entry.name);
    if (entry.number == own_.number && entry.kernel != own_.kernel) {
      const Launches &launches = context_.launches();
      report = orderText(own_.number, context_.rank(),
                         launches.kernelText(own_.kernel, kernel_, entry.kernel, entry.name), rank,
                         launches.kernelText(entry.kernel, entry.name, own_.kernel, kernel_));
      return false;
    }
    entry.text.assign(std::istreambuf_iterator<char>(in), {});
    // No more questions than needed: many ranks may share the store.
    if (entry.kernel != own_.kernel || entry.epoch != own_.epoch ||
        (stage_ > 0 && !entry.sameRun(seen_[rank])))
      return false;
  }
  return true;
}

bool DeadlockMonitor::decide(std::string &report) {
  std::vector<Entry> now;
  if (!collect(now, report)) {
    stage_ = 0;
    return !report.empty();
  }
  if (stage_ == 0) {
    uint64_t sent = 0, arrived = 0;
    for (const Entry &entry : now)
      sent += entry.sent, arrived += entry.arrived;
    if (sent != arrived)
      return false;
  }
  if (stage_ < 2) {
    ++stage_;
    seen_ = std::move(now);
    return false;
  }
  for (size_t r = 0; r < now.size(); ++r)
    if (now[r].count < seen_[r].count + 2)
      return false;

  report = str("kernel '", kernel_, "', launch ", own_.epoch,
               now.size() > 1 ? str(": every CTA of all ", now.size(),
                                    " ranks is blocked")
                              : std::string(": every CTA is blocked"),
               " and nothing is under way that could release one:");
  size_t perRank = std::max<size_t>(1, kLinesOfReport / now.size());
  for (size_t r = 0; r < now.size(); ++r) {
    std::istringstream lines(now[r].text);
    std::string line;
    size_t shown = 0, left = 0;
    while (std::getline(lines, line))
      if (shown < perRank)
        ++shown, report += str("\n  rank ", r, ", ", line);
      else
        ++left;
    if (left)
      report += str("\n  rank ", r, ": ", left, " more lines");
  }
  return true;
}

bool DeadlockMonitor::step(bool idle, std::string &report) {
  auto now = std::chrono::steady_clock::now();
  if (now < next_)
    return false;
  next_ = now + kPeriod;
  Entry entry = own_;
  bool passive = look(idle, entry);
  if (!passive) {
    wasPassive_ = false;
    stage_ = 0;
    return false;
  }
  bool again = wasPassive_ && entry.count > 1;
  wasPassive_ = true;
  own_ = std::move(entry);
  bool alone = context_.world() == 1;
  // A rank that waits for a moment only need not tell anybody.
  if (again && !alone)
    if (Status status = publish(own_, std::chrono::seconds(1)); !status.isOk()) {
      log::debug("deadlock detection: ", status.message());
      return false;
    }
  bool deadlock = own_.count > 2 && context_.rank() == 0 && decide(report);
  // Whatever is published next has been tried after this.
  sweep_.fetch_add(1);
  return deadlock;
}
