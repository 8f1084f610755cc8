//===- Paths.h - How bytes get from memory to memory ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_PATHS_H
#define MKERNEL_RUNTIME_TRANSPORT_PATHS_H

#include "mkernel/Runtime/Status.h"
#include "transport/staged/Staged.h"

#include <string>

namespace mk::rt {

/// Options that all transports have: whether they get at the heap's memory themselves, or
/// chunks of host memory stand between.
struct PathOptions {
  enum class Path {
    Auto,       // itself, where it gets there
    Direct,     // itself, or an error
    CopyEngine, // the same, in the words of loopback between GPUs
    Staged,     // through memory of the host (runtime/transport/staged)
  };
  Path path = Path::Auto;
  StagedOptions staged; // chunk=BYTES, chunks=COUNT

  /// Takes path=, chunk= and chunks= out of "key=value,..."; the rest is the transport's. Messages
  /// list the paths of `loopback`, else those of NICs.
  static Result<PathOptions> take(std::string &options, bool loopback);
  /// For messages: "path=auto|direct|staged, chunk=BYTES, chunks=COUNT".
  static std::string valid(bool loopback);
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_PATHS_H
