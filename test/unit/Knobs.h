//===- Knobs.h - The weather of NICs in software ----------------*- C++ -*-===//
//
// They are variables of the environment, read when a NIC is opened, that is while
// a transport connects. docs: test/softrdma/Knobs.h.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_KNOBS_H
#define MKERNEL_TEST_UNIT_KNOBS_H

#include <cstdlib>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mk::rt::test {

/// Sets MK_SOFTRDMA_<name> to each value, and takes all others away that were set
/// so before. Makes the library the one that transports load.
inline void setKnobs(const std::vector<std::pair<std::string, std::string>> &knobs) {
  static std::vector<std::string> before;
  static int clusters = 0;
  for (const std::string &name : before)
    ::unsetenv(name.c_str());
  before.clear();
  auto set = [&](const std::string &name, const std::string &value) {
    before.push_back("MK_SOFTRDMA_" + name);
    ::setenv(before.back().c_str(), value.c_str(), 1);
  };
  // The contexts of one cluster; a number of them counts VICTIMS from one on.
  set("JOB", std::to_string(::getpid()) + "." + std::to_string(clusters++));
  set("LOG", "0");
  for (const auto &[name, value] : knobs)
    set(name, value);
#ifdef MK_SOFTRDMA
  ::setenv("MK_IBVERBS_LIBRARY", MK_SOFTRDMA, 1);
  ::setenv("MK_EFA_LIBRARY", MK_SOFTRDMA, 1);
#endif
  // The topology of this machine has none of these NICs, and takes a while.
  ::setenv("MK_HWLOC_LIBRARY", "off", 1);
}

/// For tests that come behind, in the same process.
inline void unsetKnobs() {
  for (const char *name : {"MK_IBVERBS_LIBRARY", "MK_EFA_LIBRARY", "MK_HWLOC_LIBRARY"})
    ::unsetenv(name);
}

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_KNOBS_H
