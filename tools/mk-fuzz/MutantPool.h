//===- MutantPool.h - Children, some at a time ------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTPOOL_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTPOOL_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mlir::mk::fuzz {

/// Runs tasks in children of this process, `jobs` at a time. Each has a piece of
/// memory that it shares with this process, and a process group of its own.
class MutantPool {
public:
  using Clock = std::chrono::steady_clock;
  struct Ended {
    uint64_t number;
    void *shared;
    int status;   // of waitpid
    bool late;    // killed after the limit
  };

  MutantPool(unsigned jobs, size_t bytes, Clock::duration limit);
  ~MutantPool();
  /// False if there is no memory, or no process can be made.
  bool good() const { return ok; }
  bool full() const { return running.size() == jobs; }
  bool empty() const { return running.empty(); }
  void start(uint64_t number, const std::function<void(void *shared)> &task);
  /// Waits for one.
  Ended wait();
  /// "ended by signal 11 (Segmentation fault)".
  static std::string describe(const Ended &ended);

private:
  struct Child {
    pid_t pid;
    uint64_t number;
    void *shared;
    Clock::time_point late;
  };
  unsigned jobs;
  size_t bytes;
  Clock::duration limit;
  bool ok = true;
  std::vector<Child> running;
  std::vector<void *> free;
};

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTPOOL_H
