//===- Input.h - Files that can be read to their end -----------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_SUPPORT_INPUT_H
#define MKERNEL_TOOLS_SUPPORT_INPUT_H

#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace mkernel {

/// What makes a path one that a tool would read for ever, or empty. A named pipe that
/// nobody writes to is one; what a shell puts for <(...) is a link to a pipe, and fine.
inline std::string findEndless(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
    return "is a named pipe: give a file";
  if (stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode) &&
      path.compare(0, 5, "/dev/") == 0 && path.find("std") == path.npos &&
      path.find("/fd/") == path.npos)
    return "is a device: give a file";
  return {};
}

} // namespace mkernel

#endif // MKERNEL_TOOLS_SUPPORT_INPUT_H
