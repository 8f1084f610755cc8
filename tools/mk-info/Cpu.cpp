//===- Cpu.cpp - Processor, memory, system --------------------------------===//

#include "Facts.h"

#include <cstdio>
#include <dirent.h>
#include <gnu/libc-version.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/utsname.h>

using namespace mk;

std::string info::readText(const std::string &path) {
  std::string text;
  if (FILE *file = std::fopen(path.c_str(), "re")) {
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof(buffer), file))
      text.append(buffer, n);
    std::fclose(file);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

void info::collectCpu(const std::string &root, Facts &facts) {
  utsname system{};
  uname(&system);
  facts.machine = system.machine;
  facts.kernel = system.release;
  if (!root.empty())
    facts.kernel = readText(root + "/proc/sys/kernel/osrelease");
  facts.libc = gnu_get_libc_version();

  std::istringstream lines(readText(root + "/proc/cpuinfo"));
  static constexpr const char *kVectors[] = {
      "avx2", "avx512f", "avx512_bf16", "amx_bf16", "amx_int8", "sve", "asimd"};
  for (std::string line; std::getline(lines, line);) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    std::string key =
        line.substr(0, line.find_last_not_of("\t ", colon - 1) + 1);
    std::string value =
        colon + 2 <= line.size() ? line.substr(colon + 2) : std::string();
    if (key == "processor")
      ++facts.threads;
    else if (key == "model name" && facts.cpu.empty())
      facts.cpu = value;
    else if ((key == "flags" || key == "Features") && facts.vectors.empty())
      for (const char *name : kVectors)
        if ((" " + value + " ").find(rt::str(" ", name, " ")) !=
            std::string::npos)
          facts.vectors.push_back(name);
  }
  unsigned long long kilobytes = 0;
  std::istringstream memory(readText(root + "/proc/meminfo"));
  for (std::string line; std::getline(memory, line);)
    if (std::sscanf(line.c_str(), "MemTotal: %llu kB", &kilobytes) == 1)
      break;
  facts.memoryBytes = static_cast<int64_t>(kilobytes) * 1024;
  if (DIR *nodes = opendir((root + "/sys/devices/system/node").c_str())) {
    while (dirent *entry = readdir(nodes)) {
      std::string_view name = entry->d_name;
      facts.numaNodes += name.size() > 4 && name.starts_with("node") &&
                         name[4] >= '0' && name[4] <= '9';
    }
    closedir(nodes);
  }
  rlimit locked{};
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
      locked.rlim_cur != RLIM_INFINITY)
    facts.lockedBytes = static_cast<int64_t>(locked.rlim_cur);
}
