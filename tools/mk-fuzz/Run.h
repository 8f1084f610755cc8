//===- Run.h - An input in a process of its own -----------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKFUZZ_RUN_H
#define MKERNEL_TOOLS_MKFUZZ_RUN_H

#include "Input.h"
#include "Mutate.h"
#include "Seeds.h"

#include <atomic>
#include <chrono>

namespace mlir::mk::fuzz {

/// How far an input came.
enum Stage : uint32_t { Made, Parsed, Reached, Compiled, kStages };

/// What a child leaves behind, also when it crashes.
struct Shared {
  static constexpr size_t kMaxText = 8u << 20, kMaxCommand = 4096;

  std::atomic<uint32_t> stage;
  Mutation kinds[kMaxMutations];
  std::atomic<uint32_t> size;
  char command[kMaxCommand]; // ends with 0
  char text[kMaxText];

  StringRef getText() const { return {text, size}; }
};

struct Outcome {
  enum Kind {
    Ended,  // with success or diagnostics
    Failed, // by a signal, or with another status
    Late,   // after `limit`
    Cut     // by the end of the time for all inputs
  } kind = Ended;
  int status = 0; // of waitpid

  bool failed() const { return kind == Failed || kind == Late; }
  std::string describe() const;
};

using Clock = std::chrono::steady_clock;

/// Memory that children share with this process; null if there is none.
Shared *makeShared();

/// What a child does in addition, to test this tool.
enum class Fault { None, Crash, Hang };

/// Changes a seed and compiles it, for at most `limit` and not past `end`.
Outcome runInput(const Input &input, const Seeds &seeds, Shared &shared,
                 Clock::duration limit, Clock::time_point end, Fault fault);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_RUN_H
