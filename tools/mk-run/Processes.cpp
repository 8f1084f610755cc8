//===- Processes.cpp - The rank processes of a job ------------------------===//

#include "Processes.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

Status Processes::start(uint32_t world, char **argv, int packageFd, int jobFd) {
  pid_t launcher = getpid();
  std::vector<char *> args;
  for (uint32_t r = 0; r < world; ++r) {
    std::string option = str("--internal-rank=", r, ":", packageFd, ":", jobFd);
    args.clear();
    for (char **a = argv; *a; ++a)
      args.push_back(*a);
    args.push_back(option.data());
    args.push_back(nullptr);
    pid_t pid = fork();
    if (pid < 0) {
      int err = errno;
      killAll();
      return errnoError(StatusCode::ResourceExhausted,
                        str("starting rank ", r, " of ", world), err);
    }
    if (pid == 0) {
      // The store's thread does not exist here: nothing that takes a lock.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != launcher)
        _exit(1); // it died before this process could ask to die with it
      fcntl(packageFd, F_SETFD, 0);
      fcntl(jobFd, F_SETFD, 0);
      execv("/proc/self/exe", args.data());
      _exit(127);
    }
    children_.push_back({pid, true, 0});
  }
  return Status::success();
}

Status Processes::wait(StoreServer &store, std::chrono::milliseconds grace,
                       const std::function<void()> &tick) {
  Status lost;
  std::optional<Deadline> end, silent;
  Backoff backoff(std::chrono::milliseconds(2));
  while (true) {
    bool running = false, kills = end && end->passed();
    for (size_t r = 0; r < children_.size(); ++r) {
      Child &child = children_[r];
      if (!child.running)
        continue;
      if (kills)
        kill(child.pid, SIGKILL);
      pid_t done = waitpid(child.pid, &child.status, kills ? 0 : WNOHANG);
      if (done == 0 || (done < 0 && errno == EINTR)) {
        running = true;
        continue;
      }
      child.running = false;
      if (WIFSIGNALED(child.status) && kills) {
        stuck_ += str(", rank ", r, " did not react and was killed");
      } else if (WIFSIGNALED(child.status)) {
        int signal = WTERMSIG(child.status);
        std::string how = str("rank ", r, " was killed by signal ", signal,
                              " (", strsignal(signal), ")");
        if (lost.isOk())
          lost = error(StatusCode::Unavailable, how);
        store.abort(AbortRecord::now(-1, "launcher", how));
      } else if (WEXITSTATUS(child.status) != 0 && !silent) {
        // Its own report may still be on the way to the store.
        silent = Deadline::after(std::chrono::milliseconds(200));
      }
    }
    if (!running)
      return lost;
    if (silent && silent->passed() && !store.aborted())
      store.abort(AbortRecord::now(-1, "launcher", kRankFailed));
    if (!end && store.aborted())
      end = Deadline::after(grace);
    tick();
    backoff.pause();
  }
}

int Processes::exitStatus(uint32_t rank) const {
  int status = children_[rank].status;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Processes::killAll() {
  for (Child &child : children_) {
    if (!child.running)
      continue;
    kill(child.pid, SIGKILL);
    waitpid(child.pid, &child.status, 0);
    child.running = false;
  }
}

Processes::~Processes() { killAll(); }
