//===- Log.cpp - Leveled log on standard error ----------------------------===//

#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Env.h"

#include <atomic>
#include <unistd.h>

namespace mk::rt::log {
namespace {

constexpr const char *kNames[] = {"error", "warning", "info", "debug", "trace"};

std::atomic<int> gLevel{-1}; // -1: not read from the environment yet
std::atomic<int> gRank{-1};
std::atomic<Sink> gSink{nullptr};

} // namespace

Result<Level> parseLevel(std::string_view text) {
  for (int i = 0; i < 5; ++i)
    if (text == kNames[i] || (i == 1 && text == "warn") ||
        text == std::to_string(i))
      return static_cast<Level>(i);
  return mk::rt::error(StatusCode::InvalidArgument, "'", text,
                       "' is no log level: write error, warn, info, debug or "
                       "trace");
}

Level level() {
  int l = gLevel.load(std::memory_order_relaxed);
  if (l < 0) {
    auto text = env::get("MK_DEBUG");
    l = static_cast<int>(text ? parseLevel(*text).valueOr(Level::Warn)
                              : Level::Warn);
    gLevel.store(l, std::memory_order_relaxed);
  }
  return static_cast<Level>(l);
}

void setLevel(Level l) { gLevel = static_cast<int>(l); }
void setRank(int rank) { gRank = rank; }
void setSink(Sink sink) { gSink = sink; }

void write(Level l, std::string_view message) {
  int rank = gRank;
  std::string line =
      rank < 0 ? std::string("[mk] ") : str("[mk rank ", rank, "] ");
  line += str(kNames[static_cast<int>(l)], ": ", message);
  if (Sink sink = gSink)
    return sink(l, line);
  line += '\n';
  // One write, so that lines of several ranks stay whole. Nothing can be done
  // about a closed standard error.
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace mk::rt::log
