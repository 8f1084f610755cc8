//===- Cpu.cpp - What the native CPU can do -------------------------------===//

#include "Compiler.h"

#include <cstdio>
#include <cstring>
#include <sys/utsname.h>

using namespace mk;

std::string jit::nativeCpuIdentity() {
  static const std::string identity = [] {
    utsname system{};
    uname(&system);
    std::string text = system.machine;
    // The first processor's entry; the file of a large machine is long.
    FILE *file = std::fopen("/proc/cpuinfo", "r");
    if (!file)
      return text;
    static constexpr const char *keys[] = {
        "vendor_id", "cpu family",      "model",    "stepping", "flags",
        "Features",  "CPU implementer", "CPU part", "isa",      "cpu"};
    char *line = nullptr;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 1)
      for (const char *key : keys) {
        size_t n = std::strlen(key);
        // "model" is no "model name".
        if (std::strncmp(line, key, n) == 0 &&
            (line[n] == '\t' || line[n] == ':'))
          text += rt::str("\n", line);
      }
    std::free(line);
    std::fclose(file);
    return text;
  }();
  return identity;
}
