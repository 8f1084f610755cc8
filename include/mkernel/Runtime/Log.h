//===- Log.h - Leveled log on standard error --------------------*- C++ -*-===//
//
// MK_DEBUG=error|warn|info|debug|trace (default warn). A line is written by one
// write(2), so lines of the ranks of a job do not mix.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_LOG_H
#define MKERNEL_RUNTIME_LOG_H

#include "mkernel/Runtime/Status.h"

namespace mk::rt::log {

enum class Level { Error = 0, Warn, Info, Debug, Trace };

/// "error", "warn" (or "warning"), "info", "debug", "trace", or their numbers from
/// 0. InvalidArgument says what a level is.
Result<Level> parseLevel(std::string_view text);

/// Level of the process; from MK_DEBUG on first use. One that does not parse is
/// `warn`, of which env::warnOnce() tells.
Level level();
void setLevel(Level level);
inline bool enabled(Level l) { return l <= level(); }

/// Prefix of this process's lines: "[mk rank 3] ". Negative: no rank ("[mk] ").
void setRank(int rank);

/// Writes one line, whatever the level. A newline is added.
void write(Level level, std::string_view message);

/// Diverts lines (tests); null restores standard error.
using Sink = void (*)(Level, std::string_view line);
void setSink(Sink sink);

template <typename... Args> void error(const Args &...args) {
  write(Level::Error, str(args...));
}
template <typename... Args> void warn(const Args &...args) {
  if (enabled(Level::Warn))
    write(Level::Warn, str(args...));
}
template <typename... Args> void info(const Args &...args) {
  if (enabled(Level::Info))
    write(Level::Info, str(args...));
}
template <typename... Args> void debug(const Args &...args) {
  if (enabled(Level::Debug))
    write(Level::Debug, str(args...));
}
template <typename... Args> void trace(const Args &...args) {
  if (enabled(Level::Trace))
    write(Level::Trace, str(args...));
}

} // namespace mk::rt::log

#endif // MKERNEL_RUNTIME_LOG_H
