//===- Staged.cpp - A network through memory of the host ------------------===//

#include "transport/staged/Staged.h"

#include <algorithm>

namespace mk::rt {
namespace {
// Bound of the queue; a poster beyond it is told to poll first.
constexpr uint64_t kMaxPuts = 4096;
} // namespace

Staged::Staged(TransportConfig config, StagedOptions options, MakeInner makeInner)
    : Transport(std::move(config)), options_(options), makeInner_(std::move(makeInner)) {}

Staged::~Staged() { stopMover(); }

std::string Staged::path() const {
  return str("through ", options_.chunks, " chunks of ", options_.chunkBytes,
             " bytes of host memory for each peer",
             inner_ ? str(", over ", inner_->name()) : std::string());
}

Status Staged::doPost(const PutRequest &request) {
  auto put = std::make_shared<Put>();
  put->request = request;
  // Of nothing there would be chunks of nothing, each of which would be all of it.
  std::erase_if(put->request.fragments, [](const Fragment &f) { return f.bytes == 0; });
  for (const Fragment &f : request.fragments)
    put->bytes += f.bytes;
  {
    std::lock_guard lock(mutex_);
    if (posted_ >= kMaxPuts)
      return rt::error(StatusCode::Again, "the queue of the staging transport is full");
    ++posted_;
    ++uncut_;
    byRank_[request.peer]->queue.push_back(std::move(put));
  }
  inner_->wake();
  return {};
}

void Staged::doPoll(Completions &completions) {
  std::lock_guard lock(mutex_);
  completions.local.insert(completions.local.end(), completed_.begin(), completed_.end());
  completions.arrivals.insert(completions.arrivals.end(), arrivals_.begin(),
                              arrivals_.end());
  completed_.clear();
  arrivals_.clear();
}

void Staged::wait(std::chrono::microseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] {
    return woken_ || !completed_.empty() || !arrivals_.empty() || failed();
  });
  woken_ = false;
}

void Staged::wake() {
  std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

bool Staged::handedOver() const {
  std::lock_guard lock(mutex_);
  return uncut_ == 0;
}

void Staged::doShutdown(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    while (posted_ > 0 && !failed() && !deadline.passed())
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(
                                  deadline.left(), std::chrono::milliseconds(100)));
    if (posted_ > 0 && !failed())
      latch(rt::error(StatusCode::DeadlineExceeded, "staged: ", posted_,
                      " requests were still in flight ", deadline.duration(),
                      " after shutdown began"))
          .ignore();
  }
  stopMover();
  // Without a goodbye the peers see that something went wrong. What was given back to them
  // is with the inner transport, which delivers it.
  if (failed())
    inner_.reset();
  else if (Status closed = inner_->shutdown(deadline); !closed)
    latch(closed).ignore();
}

void Staged::stopMover() {
  stop_ = true;
  if (!mover_.joinable())
    return;
  inner_->wake();
  mover_.join();
}

} // namespace mk::rt
