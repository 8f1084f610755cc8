//===- Processes.h - The rank processes of a job ----------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_PROCESSES_H
#define MKERNEL_TOOLS_MKRUN_PROCESSES_H

#include "mkernel/Runtime/Store.h"

#include <functional>
#include <sys/types.h>

namespace mk::run {

/// Starts this program once for each rank and waits for all of them. Ranks die
/// with the launcher, whatever ends it.
/// What the launcher tells the others when one rank has failed without telling them why.
inline constexpr const char *kRankFailed = "a rank has failed";

class Processes {
public:
  ~Processes();

  /// `argv` is the launcher's own. The two descriptors stay open in the ranks.
  rt::Status start(uint32_t world, char **argv, int packageFd, int jobFd);

  /// Waits until every rank has ended. A rank that is lost aborts the job
  /// through `store`; ranks that do not end within `grace` of an abort are
  /// killed. Returns the first loss, if any: "rank 2 was killed by signal 9".
  /// `tick` is called now and then.
  rt::Status wait(rt::StoreServer &store, std::chrono::milliseconds grace,
                  const std::function<void()> &tick);
  /// Exit status of a rank that ended by itself; -1 for a killed one.
  int exitStatus(uint32_t rank) const;
  /// ", rank 2 did not react and was killed" for each such rank.
  const std::string &stuck() const { return stuck_; }

private:
  struct Child {
    pid_t pid = -1;
    bool running = false;
    int status = 0;
  };
  void killAll();
  std::vector<Child> children_;
  std::string stuck_;
};

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_PROCESSES_H
