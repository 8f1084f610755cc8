//===- MutantJob.cpp - A run of mk-run ------------------------------------===//
#include "MutantJob.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

// Seconds, on a busy machine: of a wait in the kernel (whether all wait is known after
// one second), and of the whole run.
static constexpr int kDeadline = 100, kLimit = 400;

namespace {
struct Setting {
  const char *loopback;
  int launches;
};
const Setting kSettings[kJobs] = {
    {"delay=1ms,reorder={0},mtu=300", 3},
    {"delay=200us,reorder={0}", 3},
    {"reorder={0}", 3},
    {"delay=2ms,reorder={0},mtu=150", 2},
    {"reorder={0},mtu=500", 4},
    {"delay=5ms,reorder={0}", 3},
};

/// A vector of i32 as numpy writes it.
bool writeList(const std::string &path, StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                       std::to_string(parts.size()) + ",), }";
  header.resize(117, ' ');
  std::error_code problem;
  llvm::raw_fd_ostream os(path, problem);
  os << StringRef("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
  for (StringRef part : parts) {
    int32_t value = 0;
    if (part.getAsInteger(10, value))
      return false;
    os.write(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  return !problem;
}

void add(std::vector<std::string> &to, StringRef name,
         const std::vector<std::pair<std::string, std::string>> &pairs) {
  std::string text;
  for (const auto &[key, value] : pairs)
    text += (text.empty() ? "" : ",") + key + "=" + value;
  if (!text.empty())
    to.insert(to.end(), {name.str(), text});
}

/// The status of waitpid; nothing if it did not end in time.
std::optional<int> spawn(const std::vector<std::string> &words,
                         const std::string &log) {
  pid_t pid = fork();
  if (pid < 0)
    return std::nullopt;
  if (pid == 0) {
    int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, 1);
    dup2(fd, 2);
    std::vector<char *> argv;
    for (const std::string &word : words)
      argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  auto late = std::chrono::steady_clock::now() + std::chrono::seconds(kLimit);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > late) {
      kill(pid, SIGKILL); // its ranks die with it
      waitpid(pid, &status, 0);
      return std::nullopt;
    }
    usleep(5000);
  }
  return status;
}

/// The first line that holds one of the texts; empty if none does.
StringRef lineWith(StringRef text, ArrayRef<StringRef> wanted) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    for (StringRef each : wanted)
      if (line.contains(each))
        return line;
  return {};
}
} // namespace

namespace {
struct Run {
  std::string command, text; // what was run, and what it printed
  std::optional<int> status;
  std::string problem; // it could not be started
};

Run run(const MutantCase &kase, unsigned i, uint64_t seed, const std::string &file,
        const MutantOptions &options, const Setting &setting, StringRef check) {
  Run result;
  const Sizes &sizes = kase.sizesOf(i);
  const Mesh mesh = kase.meshes()[i];
  std::vector<std::string> words{options.mkRun, file, "--kernel", kase.kernel,
                                 "--nodes", std::to_string(mesh.nodes), "--gpus",
                                 std::to_string(mesh.gpus)};
  add(words, "--bind", sizes.bind);
  add(words, "--set", sizes.params);
  if (!sizes.random.empty())
    words.insert(words.end(), {"--random", sizes.random});
  for (const auto &[name, values] : sizes.lists) {
    std::string path = file + "." + name + ".npy";
    if (!writeList(path, values))
      result.problem = "--list " + name + "=" + values + " cannot be written";
    words.insert(words.end(), {"--in", name + "=" + path});
  }
  words.insert(words.end(), {"--tuning", "none", "--check", check.str(), "--seed",
                             std::to_string(seed), "--launches",
                             std::to_string(setting.launches), "--deadline",
                             std::to_string(kDeadline)});
  if (mesh.nodes > 1)
    words.insert(words.end(), {"--loopback", llvm::formatv(setting.loopback, seed)});
  result.command = llvm::join(words, " ");
  if (!result.problem.empty())
    return result;
  std::string log = file + ".log";
  result.status = spawn(words, log);
  if (auto buffer = llvm::MemoryBuffer::getFile(log, /*IsText=*/true))
    result.text = (*buffer)->getBuffer().str();
  unlink(log.c_str());
  for (const auto &[name, values] : sizes.lists)
    unlink((file + "." + name + ".npy").c_str());
  return result;
}
} // namespace

std::string fuzz::runForAccesses(const MutantCase &kase, unsigned i, uint64_t seed,
                                 const std::string &file, const MutantOptions &options) {
  Run ended = run(kase, i, 1 + seed % 1000000, file, options, {"reorder={0}", 1},
                  "--check=accesses");
  if (!ended.status || !WIFEXITED(*ended.status) || WEXITSTATUS(*ended.status) != 0)
    return {};
  return lineWith(ended.text, {"accesses: "}).str();
}

JobResult fuzz::runJob(const MutantCase &kase, unsigned i, uint64_t random,
                       const std::string &file, const MutantOptions &options) {
  uint64_t seed = 1 + (random + i) % 1000000; // 0 would be no random order
  Run ended =
      run(kase, i, seed, file, options, kSettings[i % kJobs], "--check=races");
  JobResult result{Verdict::Broken, {}, ended.command};
  auto say = [&](Verdict verdict, StringRef message) {
    result.verdict = verdict;
    result.message = message.str();
    return result;
  };
  if (!ended.problem.empty())
    return say(Verdict::Broken, ended.problem);
  if (!ended.status)
    return say(Verdict::Broken, "did not end in " + std::to_string(kLimit) + " s");
  if (!WIFEXITED(*ended.status))
    return say(Verdict::Broken,
               "was killed by signal " + std::to_string(WTERMSIG(*ended.status)));
  int status = WEXITSTATUS(*ended.status);
  auto has = [&](ArrayRef<StringRef> wanted) { return lineWith(ended.text, wanted); };
  // A crash of a rank, or a call that this tool has got wrong.
  if (StringRef line = has({"killed by signal", "ended with status", "cannot be replayed",
                            "mk-run: --"});
      !line.empty())
    return say(Verdict::Broken, line);
  if (status == 0) {
    // Nothing passes unlooked at.
    if (has({"check: PASS"}).empty() || has({"races: none"}).empty())
      return say(Verdict::Broken, "ended with success, but without a verdict");
    return say(Verdict::Survivor, "");
  }
  if (StringRef line = has({"check: FAIL"}); !line.empty())
    return say(Verdict::Values, line);
  if (StringRef line = has({"race: ", "arrivals: "}); !line.empty())
    return say(Verdict::Races, line);
  if (StringRef line = has({"cannot compile"}); !line.empty())
    return say(Verdict::Compiler, line);
  if (StringRef line = has({"mk-run: "}); !line.empty())
    return say(Verdict::Values, line);
  return say(Verdict::Broken,
             "ended with status " + std::to_string(status) + " and no reason");
}
