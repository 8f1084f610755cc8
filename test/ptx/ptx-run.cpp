//===- ptx-run.cpp - Runs a command on GPUs that are not there ------------===//

#include "Aborts.h"
#include "Mistakes.h"
#include "Session.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace mk::ptx;

namespace {

const char *kUsage =
    R"(Runs a command whose GPUs are interpreters of PTX, such as
  ptx-run --gpus 2 mk-run ag_gemm.mlir --target sm_90a --gpus 2 --grid 4 --check ...

usage: ptx-run [options] COMMAND...

  --gpus N       GPUs that the command uses, all of them (default 1)
  --seed S       whose turn it is, how long copies take, what is seen late
  --deadlines S  where all warps wait for what nobody brings the clock jumps, so that
                 waits of up to S seconds end as they do on a GPU; else that is an error.
                 A rank is waited for 2 s, then the others launch without it
  --memory G:N   GPU G has N bytes of memory (default: all have any)
  --replays N    behind the command, does its launches N times more, with other
                 seeds: the results have to be the same. Where ranks have a network,
                 the command is run again, proxies and all
  --aborts N     behind the command, does its launches N times more and gives the job up
                 at a random moment: all launches have to come to their ends without
                 harm, also where a rank never comes to its last one
  --forgotten N  the same, but nobody gives up: what --aborts has to find
  --mistakes K   leaves out what orders, one place at a time, and says for each
                 whether the results were other ones or the launch did not end.
                 K: all, or some of fence, proxy-fence, barrier, phase, signal,
                 acquire, release, group, lap, separated by commas
  --tries N      seeds for each mistake (default 6)
  --sample N     at most N places of each kind (default: all)
  --save FILE    keeps the PTX: the lines that messages name

The command's own exit status; 1 if a launch failed or a replay differed.
)";

struct Options {
  int gpus = 1;
  uint64_t seed = 1;
  int replays = 0, deadline = 0;
  MistakeOptions mistakes;
  AbortOptions aborts;
  std::string save;
  char **command = nullptr;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.empty() || word[0] != '-') {
      options.command = argv + i;
      return true;
    }
    if (i + 1 >= argc || std::string(argv[i + 1]).rfind("--", 0) == 0) {
      std::fprintf(stderr, "ptx-run: %s needs a value in front of %s\n",
                   word.c_str(), i + 1 < argc ? argv[i + 1] : "the command");
      return false;
    }
    const char *value = argv[++i];
    if (word == "--gpus")
      options.gpus = std::atoi(value);
    else if (word == "--seed")
      options.seed = std::strtoull(value, nullptr, 0);
    else if (word == "--memory")
      ::setenv(kMemory, value, 1);
    else if (word == "--deadlines")
      options.deadline = std::atoi(value);
    else if (word == "--replays")
      options.replays = std::atoi(value);
    else if (word == "--aborts" || word == "--forgotten")
      options.aborts = {std::atoi(value), word == "--aborts"};
    else if (word == "--mistakes")
      options.mistakes.kinds = value;
    else if (word == "--tries")
      options.mistakes.tries = std::atoi(value);
    else if (word == "--sample")
      options.mistakes.sample = std::atoi(value);
    else if (word == "--save")
      options.save = value;
    else
      return false;
  }
  return false;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    std::string driver =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() /
        "ptx-cuda.so";
    Session session(options.gpus, options.seed);
    session.passDeadlines(options.deadline);
    int status = session.run(options.command, driver);
    std::fflush(stdout);
    if (!options.save.empty() && !session.texts().empty())
      std::ofstream(options.save) << session.texts()[0];
    if (!session.error().empty()) {
      std::fprintf(stderr, "ptx-run: seed %llu: %s\n",
                   static_cast<unsigned long long>(options.seed),
                   session.error().c_str());
      return 1;
    }
    if (status)
      return status;
    const Recording &recording = session.recording();
    std::printf("ptx-run: %llu steps\n",
                static_cast<unsigned long long>(recording.steps));
    uint64_t limit = 30 * recording.steps + 1000000;
    // Of proxies nothing is recorded: they act again.
    auto runAgain = [&](uint64_t seed, std::shared_ptr<const Program> program,
                        bool isMistake) -> std::string {
      Session other(options.gpus, seed);
      if (program)
        other.onLoad([&](const Program &) { return program; });
      if (isMistake)
        other.limit(std::chrono::milliseconds(1000), limit);
      int ended = other.run(options.command, driver, /*quiet=*/true);
      if (!other.error().empty() || ended == 0)
        return other.error();
      return "the command ends with status " + std::to_string(ended);
    };
    auto again = [&](uint64_t seed, std::shared_ptr<const Program> program) {
      return session.usesNetwork() ? runAgain(seed, program, true)
                                   : session.replay(seed, program, limit);
    };
    for (int i = 1; i <= options.replays; ++i) {
      uint64_t seed = options.seed + uint64_t(i) * 101;
      std::string wrong = session.usesNetwork() ? runAgain(seed, nullptr, false)
                                                : session.replay(seed, nullptr, 0);
      if (!wrong.empty()) {
        std::fprintf(stderr, "ptx-run: seed %llu: %s\n",
                     static_cast<unsigned long long>(seed), wrong.c_str());
        status = 1;
      }
    }
    if (options.aborts.count && !tryAborts(session, options.seed, options.aborts))
      status = 1;
    if (!options.mistakes.kinds.empty())
      tryMistakes(session, options.mistakes, again);
    return status;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "ptx-run: %s\n", error.what());
    return 1;
  }
}
