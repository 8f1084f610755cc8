//===- Trial.cpp - Code of a package is tried elsewhere first -------------===//
//
// A digest says that a package is as somebody wrote it, not that its code is any good.
// The launcher computes plans by that code, and must not die of it without a word.
//
//===----------------------------------------------------------------------===//
#include "Trial.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mk;
using namespace mk::rt;

Status mk::run::tryLoading(const std::string &file, const std::function<void()> &load) {
  constexpr unsigned kSeconds = 20;
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0)
    return errnoError(StatusCode::ResourceExhausted, "starting a process", errno);
  if (child == 0) {
    // Nobody needs a core file, nor what the dynamic linker says.
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (int null = open("/dev/null", O_WRONLY); null >= 0)
      dup2(null, 2);
    alarm(kSeconds);
    load();
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return Status::success();
  std::string how = "the dynamic linker ends the process";
  if (WIFSIGNALED(status))
    how = WTERMSIG(status) == SIGALRM
              ? str("it is not done after ", kSeconds, " s")
              : str("it dies by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                    ")");
  return error(StatusCode::FailedPrecondition, "the code of package '", file,
               "' cannot be loaded, or computes no plan: ", how,
               ": it is damaged; compile the kernel again");
}
