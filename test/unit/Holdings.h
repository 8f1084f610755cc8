//===- Holdings.h - What this process holds ---------------------*- C++ -*-===//
//
// Taken before and after what must leave nothing behind.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_HOLDINGS_H
#define MKERNEL_TEST_UNIT_HOLDINGS_H

#include "Support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <malloc.h>
#include <ostream>

namespace mk::rt::test {

inline size_t entriesOf(const char *folder) {
  size_t count = 0;
  DIR *dir = opendir(folder);
  while (readdir(dir))
    ++count;
  closedir(dir);
  return count;
}

/// Objects of NICs in software: contexts, registrations, queues.
inline int nicObjects() {
#ifdef MK_SOFTRDMA
  // Where no transport has loaded it there are none.
  void *library = ::dlopen(MK_SOFTRDMA, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library)
    return 0;
  int count = reinterpret_cast<int (*)()>(::dlsym(library, "softrdma_objects"))();
  ::dlclose(library);
  return count;
#else
  return 0;
#endif
}

struct Holdings {
  size_t descriptors = entriesOf("/proc/self/fd");
  size_t threads = entriesOf("/proc/self/task");
  size_t heaps = 0; // mapped
  int registered = nicObjects();

  Holdings() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      heaps += line.find("mkernel-heap") != std::string::npos;
  }
  bool operator==(const Holdings &) const = default;

  /// A joined thread leaves /proc a moment later.
  ::testing::AssertionResult areBack() const {
    if (eventually([&] { return Holdings() == *this; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << Holdings() << "; before: " << *this;
  }
  friend std::ostream &operator<<(std::ostream &out, const Holdings &h) {
    return out << h.descriptors << " descriptors, " << h.threads << " threads, "
               << h.heaps << " heaps, " << h.registered << " objects of NICs";
  }
};

/// Bytes that are allocated, in all arenas; a sanitizer's allocator says 0.
inline size_t allocatedBytes() {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_HOLDINGS_H
