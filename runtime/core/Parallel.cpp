//===- Parallel.cpp - Loops on all processors -----------------------------===//

#include "core/Parallel.h"

#include "core/Thread.h"

#include <algorithm>
#include <atomic>
#include <vector>

void mk::rt::parallelFor(uint64_t n, uint64_t grain,
                         const std::function<void(uint64_t, uint64_t)> &run) {
  std::atomic<uint64_t> next = 0;
  auto work = [&] {
    for (uint64_t at; (at = next.fetch_add(grain)) < n;)
      run(at, std::min(at + grain, n));
  };
  uint64_t parts = (n + grain - 1) / grain;
  uint64_t wanted =
      std::min<uint64_t>(std::max(std::thread::hardware_concurrency(), 1u), parts);
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  while (threads.size() + 1 < wanted) {
    std::thread thread;
    if (!startThread(thread, "a loop", work).isOk())
      break;
    threads.push_back(std::move(thread));
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
}
