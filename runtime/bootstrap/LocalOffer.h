//===- LocalOffer.h - How ranks of a host find their store ------*- C++ -*-===//
//
// Rank 0 offers the address of the store and the job's secret under a name of
// the abstract socket namespace. Only processes of the same user get an answer,
// and nothing has to be agreed on but the name.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_LOCALOFFER_H
#define MKERNEL_RUNTIME_BOOTSTRAP_LOCALOFFER_H

#include "core/Socket.h"

#include <atomic>
#include <memory>
#include <thread>

namespace mk::rt {

class LocalOffer {
public:
  /// Gives `bytes` (at most 4096) to whoever connects, until it is destroyed.
  /// Unavailable: the name is taken.
  static Result<std::unique_ptr<LocalOffer>> start(std::string_view name,
                                                   std::string bytes);
  ~LocalOffer();

private:
  LocalOffer() = default;
  void run();

  Fd listener_, waker_;
  std::string bytes_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// What is offered under `name`; retries until the deadline.
Result<std::string> takeLocalOffer(std::string_view name,
                                   const Deadline &deadline);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_BOOTSTRAP_LOCALOFFER_H
