//===- MutantPool.cpp - Children, some at a time --------------------------===//
#include "MutantPool.h"
#include "llvm/Support/FormatVariadic.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::mk::fuzz;

MutantPool::MutantPool(unsigned jobs, size_t bytes, Clock::duration limit)
    : jobs(jobs), bytes(bytes), limit(limit) {
  for (unsigned i = 0; i < jobs; ++i) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      ok = false;
    else
      free.push_back(memory);
  }
}

MutantPool::~MutantPool() {
  for (const Child &child : running) {
    kill(-child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
}

void MutantPool::start(uint64_t number, const std::function<void(void *)> &task) {
  void *shared = free.back();
  std::memset(shared, 0, bytes);
  pid_t pid = fork();
  if (pid < 0) {
    ok = false;
    return;
  }
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rlimit core{0, 0};
    setrlimit(RLIMIT_CORE, &core);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
      _exit(1);
    task(shared);
    _exit(0);
  }
  setpgid(pid, pid);
  free.pop_back();
  running.push_back({pid, number, shared, Clock::now() + limit});
}

MutantPool::Ended MutantPool::wait() {
  while (true) {
    for (size_t i = 0; i < running.size(); ++i) {
      Child child = running[i];
      int status = 0;
      bool late = Clock::now() > child.late;
      if (late)
        kill(-child.pid, SIGKILL);
      if (waitpid(child.pid, &status, late ? 0 : WNOHANG) == 0)
        continue;
      running.erase(running.begin() + i);
      free.push_back(child.shared);
      return {child.number, child.shared, status, late};
    }
    usleep(2000);
  }
}

std::string MutantPool::describe(const Ended &ended) {
  if (ended.late)
    return "did not end in time";
  if (WIFSIGNALED(ended.status))
    return llvm::formatv("ended by signal {0} ({1})", WTERMSIG(ended.status),
                         strsignal(WTERMSIG(ended.status)));
  return llvm::formatv("ended with status {0}", WEXITSTATUS(ended.status));
}
