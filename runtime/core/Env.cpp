//===- Env.cpp - The environment variables of mKernel ---------------------===//

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

namespace mk::rt::env {
namespace {

// Sorted by name.
constexpr Variable kTable[] = {
    {"MK_BUILD_DIR", "build", "Build folder of scripts/quickstart and test."},
    {"MK_CACHE_BYTES", "1G",
     "Size in bytes that the cache of compiled code is kept below."},
    {"MK_CACHE_DIR", "~/.cache/mkernel",
     "Folder of the cache of compiled code; off: keep none. By default below "
     "XDG_CACHE_HOME, if that is set."},
    {"MK_CMAKE_ARGS", "", "More arguments of cmake in scripts/quickstart and test."},
    {"MK_COMMANDS", "",
     "Commands of a rank that its ring to the network proxy holds, a power of two; by "
     "default 4096 of a GPU, else 1024."},
    {"MK_CUDA_LIBRARY", "libcuda.so.1",
     "Path or name of the NVIDIA driver's library."},
    {"MK_DEBUG", "warn", "Log level: error, warn, info, debug or trace."},
    {"MK_EFA_LIBRARY", "libefa.so.1",
     "Path or name of libefa, for the transport efa."},
    {"MK_HWLOC_LIBRARY", "libhwloc.so.15",
     "Path or name of hwloc's library, which tells where GPUs and NICs are; off: ask "
     "sysfs alone."},
    {"MK_IBVERBS_LIBRARY", "libibverbs.so.1",
     "Path or name of libibverbs, for the transports verbs and efa."},
    {"MK_JIT_LIBRARY", "",
     "Path of libmkernel_jit.so, which compiles kernel files; beside the "
     "program by default."},
    {"MK_JOB", "auto",
     "Launcher that says which rank this process is: torchrun, mpirun or srun; none: it "
     "is none of them."},
    {"MK_JOBS", "", "Compilations at a time of scripts/quickstart and test."},
    {"MK_JOB_TOKEN", "",
     "Secret of a job, at least 16 characters, the same on all ranks; needed on several "
     "hosts."},
    {"MK_NICS", "",
     "NICs of GPUs, like 0=mlx5_0,mlx5_1;1=mlx5_2, or a list of those that are used; "
     "by default each GPU has its nearest."},
    {"MK_NODE", "",
     "Node of this rank, for nodes emulated on one host: a number, or rank/N for N ranks "
     "in a row."},
    {"MK_NO_PTXAS", "",
     "1: .ci/run skips the tests that assemble PTX instead of failing without ptxas."},
    {"MK_PACK", "on",
     "Whether launches copy arguments whose rows are not aligned to memory where they are; "
     "off: tile by tile, slowly, without that memory."},
    {"MK_PROXY_CPUS", "auto",
     "CPUs of the thread that drives the network, like 0-3,8; auto: those of the NUMA node "
     "of the rank's NIC, else of its GPU; off: any that the process may use."},
    {"MK_PTXAS", "",
     "Path of CUDA's assembler, which compiles kernels for a GPU; off: leave that to "
     "the driver. By default it is looked for in CUDA_HOME, /usr/local/cuda and PATH."},
    {"MK_SKIP_INSTALL", "",
     "Set: scripts/quickstart and test install no packages."},
    {"MK_STORE", "",
     "Address at which rank 0 of a job listens, host:port; by default the launcher says "
     "it."},
    {"MK_TOPOLOGY", "",
     "File of hwloc's XML (lstopo --of xml) that is taken for this machine's GPUs and "
     "NICs."},
    {"MK_TRANSPORT", "loopback",
     "What carries axes via net under mk-run, like verbs,qps=2: loopback, verbs or efa "
     "with its options."},
};

const char *defaultOf(std::string_view name) {
  return std::find_if(std::begin(kTable), std::end(kTable),
                      [&](const Variable &v) { return name == v.name; })
      ->defaultText;
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min(
          {row[j - 1] + 1, above + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

struct Unit {
  std::string_view suffix;
  double factor;
};

/// A non-negative number followed by one of `units`.
std::optional<double> parseScaled(std::string_view text,
                                  std::span<const Unit> units) {
  double value = 0;
  auto [end, ec] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  std::string_view suffix = text.substr(end - text.data());
  for (const Unit &unit : units)
    if (unit.suffix == suffix)
      return value * unit.factor;
  return std::nullopt;
}

} // namespace

std::span<const Variable> table() { return kTable; }

std::optional<std::string> get(std::string_view name) {
  assert(std::any_of(std::begin(kTable), std::end(kTable),
                     [&](const Variable &v) { return name == v.name; }) &&
         "add the variable to the table");
  const char *value = ::getenv(std::string(name).c_str());
  if (!value || !*value)
    return std::nullopt;
  return value;
}

Result<int64_t> parseInt(std::string_view text) {
  int64_t value = 0;
  auto [end, ec] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size())
    return error(StatusCode::InvalidArgument, "'", text,
                 "' is not an integer of 64 bits");
  return value;
}

Result<uint64_t> parseBytes(std::string_view text) {
  constexpr Unit units[] = {{"", 1},
                            {"K", 1ull << 10},
                            {"M", 1ull << 20},
                            {"G", 1ull << 30},
                            {"T", 1ull << 40}};
  auto value = parseScaled(text, units);
  if (!value || *value > 1e18)
    return error(StatusCode::InvalidArgument, "'", text,
                 "' is not a size: write a number of bytes with an optional "
                 "K, M, G or T, like 64M");
  return static_cast<uint64_t>(*value);
}

Result<std::chrono::nanoseconds> parseDuration(std::string_view text) {
  constexpr Unit units[] = {{"", 1e9},   {"s", 1e9}, {"ms", 1e6},
                            {"us", 1e3}, {"ns", 1},  {"m", 60e9}};
  auto value = parseScaled(text, units);
  if (!value || *value > 9e18)
    return error(StatusCode::InvalidArgument, "'", text,
                 "' is not a duration: write a number with ns, us, ms, s or m, "
                 "like 500ms");
  return std::chrono::nanoseconds(static_cast<int64_t>(*value));
}

Result<uint64_t> getBytes(std::string_view name, uint64_t fallback) {
  auto text = get(name);
  if (!text)
    return fallback;
  auto value = parseBytes(*text);
  return value ? value : value.status().withContext(name);
}

std::string nearest(std::string_view name,
                    std::span<const std::string_view> names) {
  std::string_view best;
  // More than a third of the letters wrong is another word.
  size_t limit = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : names) {
    size_t d = editDistance(name, candidate);
    if (d < limit) {
      limit = d;
      best = candidate;
    }
  }
  return std::string(best);
}

std::vector<std::string> unknownVariables(char **environment) {
  std::vector<std::string_view> names;
  for (const Variable &v : kTable)
    names.push_back(v.name);
  std::vector<std::string> messages;
  for (char **entry = environment; entry && *entry; ++entry) {
    std::string_view name(*entry);
    name = name.substr(0, name.find('='));
    // Those of the software NICs are read by a library of the tests.
    if (!name.starts_with("MK_") || name.starts_with("MK_SOFTRDMA_") ||
        std::find(names.begin(), names.end(), name) != names.end())
      continue;
    std::string message = str("environment variable ", name,
                              " is not known to mKernel and has no effect");
    if (std::string like = nearest(name, names); !like.empty())
      message += str("; did you mean ", like, "?");
    messages.push_back(std::move(message));
  }
  return messages;
}

std::vector<std::string> wrongValues() {
  std::vector<std::string> messages;
  auto check = [&](const char *name, auto &&parse) {
    auto text = get(name);
    if (!text)
      return;
    if (Status status = parse(*text); !status.isOk())
      messages.push_back(
          str(name, ": ", status.message(), "; taking ", defaultOf(name)));
  };
  check("MK_CACHE_BYTES",
        [](const std::string &text) { return parseBytes(text).status(); });
  check("MK_DEBUG",
        [](const std::string &text) { return log::parseLevel(text).status(); });
  check("MK_PACK", [](const std::string &text) {
    return text.empty() || text == "on" || text == "off"
               ? Status::success()
               : error(StatusCode::InvalidArgument, "'", text, "' is neither on nor off");
  });
  return messages;
}

static std::once_flag warned;

void dontWarn() {
  std::call_once(warned, [] {});
}

void warnOnce() {
  std::call_once(warned, [] {
    for (const std::string &message : unknownVariables(::environ))
      log::warn(message);
    for (const std::string &message : wrongValues())
      log::warn(message);
  });
}

} // namespace mk::rt::env
