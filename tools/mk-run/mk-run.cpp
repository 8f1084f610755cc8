//===- mk-run.cpp - Runs a kernel as the ranks of a job -------------------===//

#include "Launcher.h"
#include "Member.h"
#include "Options.h"
#include "Rank.h"
#include "../Support/Output.h"

#include "mkernel/Runtime/Env.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sys/resource.h>

using namespace mk::run;

static int run(int argc, char **argv) {
  auto options = parseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "mk-run: %s\nmk-run --help shows all options\n",
                 options.status().message().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(helpText().c_str(), stdout);
    return 0;
  }
  if (options->rank) {
    mk::rt::env::dontWarn(); // the launcher has
    return runRank(*options);
  }
  mk::rt::env::warnOnce();
  auto place = mk::rt::findPlace(options->job);
  if (!place) {
    std::fprintf(stderr, "mk-run: %s\n", place.status().message().c_str());
    return 2;
  }
  const auto &job = options->job;
  if (!*place && (!job.node.empty() || !job.store.empty())) {
    std::fprintf(stderr,
                 "mk-run: %s is for ranks that torchrun, mpirun or srun has "
                 "started; this starts all ranks by itself: use --nodes and "
                 "--gpus\n",
                 job.node.empty() ? "--store" : "--node");
    return 2;
  }
  if (*place && options->races) {
    // Before anybody is waited for: the other ranks say the same.
    std::fprintf(stderr,
                 "mk-run: --check=races: ranks that %s has started keep no "
                 "record together; run this without it, as mk-run FILE --nodes "
                 "N --gpus G, or with --job none (MK_JOB=none)\n",
                 (*place)->source.c_str());
    return 2;
  }
  return *place ? runMember(*options, std::move(**place))
                : runLauncher(*options, argv);
}

int main(int argc, char **argv) {
  int status = 1;
  // A file that grows too large (ulimit -f) is an error of writing.
  std::signal(SIGXFSZ, SIG_IGN);
  constexpr rlim_t leastStack = 256 << 10;
  if (rlimit stack; getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < leastStack) {
    std::fprintf(stderr,
                 "mk-run: the stack is limited to %llu KiB, %llu are needed: raise the limit "
                 "(ulimit -s)\n",
                 static_cast<unsigned long long>(stack.rlim_cur >> 10),
                 static_cast<unsigned long long>(leastStack >> 10));
    return 2;
  }
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("mk-run: there is no memory left: use smaller sizes or fewer ranks, or "
               "raise the limit of memory (ulimit -v)\n",
               stderr);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "mk-run: %s\n", e.what());
  }
  return mkernel::finishOutput("mk-run", status);
}
