//===- Capacity.h - How many ranks a machine takes -------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_CAPACITY_H
#define MKERNEL_TOOLS_MKRUN_CAPACITY_H

#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <string>

namespace mk::run {

/// What a machine has left for the ranks of a job; 0: no limit is known.
struct Capacity {
  uint64_t tasks = 0; // processes and threads
  std::string tasksBy; // what limits them, for messages
  uint64_t files = 0; // descriptors of one process
  uint64_t memory = 0; // bytes
  std::string memoryBy;

  static Capacity ofThisMachine();
};

/// What a rank takes besides its arguments.
struct RankNeeds {
  uint64_t tasks = 0;
  uint64_t memory = 0;

  /// A rank whose CTAs are `threads` threads.
  static RankNeeds of(uint64_t threads);
};

/// An error that says how many ranks are possible, if `ranks` are too many. The
/// launcher keeps a connection for each; `bytes` of arguments are theirs together.
rt::Status checkCapacity(const Capacity &capacity, const RankNeeds &needs, uint64_t ranks,
                         double bytes);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_CAPACITY_H
