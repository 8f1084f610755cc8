//===- Output.h - What a tool prints must arrive ---------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_SUPPORT_OUTPUT_H
#define MKERNEL_TOOLS_SUPPORT_OUTPUT_H

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mkernel {

/// The status to exit with: that given, unless what was printed could not be written
/// (the disk is full). A verdict that nobody can read is no success.
inline int finishOutput(const char *tool, int status) {
  errno = 0;
  bool failed = std::fflush(stdout) != 0;
  int err = errno;
  if (!failed && !std::ferror(stdout))
    return status;
  // An earlier write has failed, and nobody kept why: as a rule it is the same again.
  if (!err) {
    std::clearerr(stdout);
    std::fputc('\n', stdout);
    if (std::fflush(stdout) != 0)
      err = errno;
  }
  std::fprintf(stderr, "%s: standard output could not be written%s%s\n", tool,
               err ? ": " : "", err ? std::strerror(err) : "");
  return status ? status : 1;
}

} // namespace mkernel

#endif // MKERNEL_TOOLS_SUPPORT_OUTPUT_H
