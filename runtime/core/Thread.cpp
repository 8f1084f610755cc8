//===- Thread.cpp - Threads that may be refused ---------------------------===//

#include "core/Thread.h"

#include <system_error>

mk::rt::Status mk::rt::startThread(std::thread &thread, const char *what,
                                   std::function<void()> run) {
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error &e) {
    return error(StatusCode::ResourceExhausted, "starting the thread of ", what, ": ",
                 e.code().message(),
                 ": start fewer ranks here, or raise the limits of processes and memory "
                 "(ulimit -u, ulimit -v, pids.max of the cgroup)");
  }
  return Status::success();
}
