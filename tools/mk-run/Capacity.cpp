//===- Capacity.cpp - How many ranks a machine takes ----------------------===//

#include "Capacity.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace mk::run;
using namespace mk::rt;

namespace {

// Measured on x86-64 with glibc: private memory of an idle rank without CTAs, and what
// a CTA's thread adds (its stack's touched pages, those of the kernel).
constexpr uint64_t kRankBytes = 6 << 20, kThreadBytes = 48 << 10;
// Of a rank: its own, those of the store's client, the proxy and the transport.
constexpr uint64_t kRankTasks = 4;
// Descriptors of the launcher that are no connection.
constexpr uint64_t kLauncherFiles = 32;

/// The first number of a file; none if there is no such file or it says "max".
bool readNumber(const std::string &path, uint64_t &number) {
  std::ifstream file(path);
  return static_cast<bool>(file >> number);
}

void limit(uint64_t &value, std::string &by, uint64_t most, const std::string &what) {
  if (value && value <= most)
    return;
  value = std::max<uint64_t>(most, 1);
  by = what;
}

uint64_t left(uint64_t most, uint64_t used) { return most > used ? most - used : 1; }

/// Folders of this process's cgroups, from its own up, of a controller of version 1
/// ("pids") or of version 2 ("").
std::vector<std::string> cgroups(const std::string &controller) {
  std::ifstream file("/proc/self/cgroup");
  std::vector<std::string> folders;
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controller.empty() ? names != ",," : names.find("," + controller + ",") == names.npos)
      continue;
    std::string root = "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller);
    // In a container the folder is often the root of what is mounted.
    for (std::string path = line.substr(second + 1); !path.empty() && path != "/";
         path.resize(path.rfind('/')))
      folders.push_back(root + path);
    folders.push_back(root);
  }
  return folders;
}

void limitByCgroups(Capacity &c) {
  uint64_t most = 0, used = 0;
  for (const char *controller : {"pids", ""})
    for (const std::string &folder : cgroups(controller))
      if (readNumber(folder + "/pids.max", most) &&
          readNumber(folder + "/pids.current", used))
        limit(c.tasks, c.tasksBy, left(most, used), "pids.max of the cgroup");
  for (const std::string &folder : cgroups("memory"))
    if (readNumber(folder + "/memory.limit_in_bytes", most) &&
        readNumber(folder + "/memory.usage_in_bytes", used))
      limit(c.memory, c.memoryBy, left(most, used), "the cgroup's memory limit");
  for (const std::string &folder : cgroups(""))
    if (readNumber(folder + "/memory.max", most) &&
        readNumber(folder + "/memory.current", used))
      limit(c.memory, c.memoryBy, left(most, used), "the cgroup's memory limit");
}

/// Tasks of the whole machine: "0.1 0.2 0.3 running/all last".
uint64_t countTasks() {
  std::ifstream file("/proc/loadavg");
  std::string skip, tasks;
  file >> skip >> skip >> skip >> tasks;
  size_t slash = tasks.find('/');
  return slash == tasks.npos ? 0 : std::strtoull(tasks.c_str() + slash + 1, nullptr, 10);
}

uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kilobytes) == 1)
      return kilobytes * 1024;
  }
  return 0;
}

} // namespace

Capacity Capacity::ofThisMachine() {
  Capacity c;
  uint64_t most = 0, tasks = countTasks();
  rlimit r;
  // Others of this user count too; how many is not asked.
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
    limit(c.tasks, c.tasksBy, r.rlim_cur, "ulimit -u");
  for (const char *name : {"threads-max", "pid_max"})
    if (readNumber(std::string("/proc/sys/kernel/") + name, most))
      limit(c.tasks, c.tasksBy, left(most, tasks), std::string("kernel.") + name);
  if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
    c.files = r.rlim_cur;
  if (uint64_t bytes = availableMemory())
    limit(c.memory, c.memoryBy, bytes, "free memory");
  limitByCgroups(c);
  return c;
}

RankNeeds RankNeeds::of(uint64_t threads) {
  return {kRankTasks + threads, kRankBytes + threads * kThreadBytes};
}

Status mk::run::checkCapacity(const Capacity &c, const RankNeeds &needs, uint64_t ranks,
                              double bytes) {
  auto tooMany = [&](uint64_t possible, const std::string &why, const char *raise = "") {
    return error(StatusCode::ResourceExhausted, "a job of ", ranks,
                 " ranks is too large for this machine, which takes ", possible, ": ",
                 why, "; ", raise, "use fewer ranks (--nodes, --gpus, --bind of a mesh axis) "
                 "or fewer CTAs for each (--grid)");
  };
  if (c.tasks && ranks * needs.tasks > c.tasks)
    return tooMany(c.tasks / needs.tasks,
                   str("each takes ", needs.tasks, " processes and threads (a CTA is a "
                                                   "thread), and ",
                       c.tasks, " are left by ", c.tasksBy));
  if (c.files && ranks + kLauncherFiles > c.files)
    return tooMany(c.files > kLauncherFiles ? c.files - kLauncherFiles : 0,
                   str("the launcher keeps a connection to each, and may have ", c.files,
                       " files open (ulimit -n)"),
                   "raise that limit, or ");
  double each = double(needs.memory) + bytes / double(ranks);
  if (c.memory && each * double(ranks) > double(c.memory)) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "each takes %.1f MiB, of which arguments %.1f MiB, and %.1f GiB are left by ",
                  each / (1 << 20), bytes / double(ranks) / (1 << 20),
                  double(c.memory) / (1 << 30));
    return tooMany(uint64_t(double(c.memory) / each), text + c.memoryBy);
  }
  return Status::success();
}
