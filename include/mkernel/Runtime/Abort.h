//===- Abort.h - The abort word of a rank -----------------------*- C++ -*-===//
//
// Whatever goes wrong first is kept; everything later only sees that it
// happened. All waits of a rank poll raised(); the callback publishes the
// record so that the other ranks see it too.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_ABORT_H
#define MKERNEL_RUNTIME_ABORT_H

#include "mkernel/Runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace mk::rt {

struct AbortRecord {
  int32_t rank = -1;      // who: linear rank, -1 for the launcher
  std::string what;       // the part that failed: "wait", "proxy", "store"...
  int64_t whenUnixNs = 0; // when, on the wall clock of `rank`
  std::string text;       // message

  /// Fills in the time.
  static AbortRecord now(int32_t rank, std::string what, std::string text);
  /// "rank 3, proxy, at 12:00:01.250: text" (UTC).
  std::string toString() const;
  /// Aborted, with toString() as message.
  Status toStatus() const;

  /// Wire form, for the store. Nothing when `bytes` is malformed.
  std::string encode() const;
  static std::optional<AbortRecord> decode(std::string_view bytes);
};

/// Shared by everything of one rank's process. Thread-safe.
class AbortWord {
public:
  using Callback = std::function<void(const AbortRecord &)>;

  /// Cheap; for polling loops. Acquires: record() is complete when true.
  bool raised() const { return word_.load(std::memory_order_acquire) != 0; }
  /// For code that polls memory (0: not raised).
  const std::atomic<uint32_t> &word() const { return word_; }

  /// Keeps `record` if it is the first and calls the callback (on this
  /// thread); returns whether it was the first.
  bool raise(AbortRecord record);
  /// Raises with a record that came from another rank: no callback, or an
  /// abort would travel for ever.
  bool raiseRemote(AbortRecord record);

  /// The first record; nothing when not raised.
  std::optional<AbortRecord> record() const;
  /// Ok, or Aborted with the record.
  Status status() const;

  /// Asked whether something has failed that does not say so by itself: a kernel that
  /// leaves its report in memory.
  using Probe = std::function<std::optional<AbortRecord>()>;
  /// Raises what the probes know, then is status().
  Status check();
  /// `owner` takes its probe away again before it dies.
  void addProbe(const void *owner, Probe probe);
  void removeProbe(const void *owner);

  /// Asked when a wait is given up ("wait"), here or on another rank, for what this rank
  /// knows of why it did not end; not empty, it stands behind the record's text, after
  /// "; ". Not called by two threads at once. `owner` takes it away before it dies.
  using Note = std::function<std::string()>;
  void addNote(const void *owner, Note note);
  void removeNote(const void *owner);

  /// Words elsewhere that become 1 with this one, and are set at once if it is
  /// raised: memory that a GPU polls.
  void addMirror(std::atomic<uint32_t> *word);
  void removeMirror(std::atomic<uint32_t> *word);

  /// Called once, with the first record raised here, e.g. to publish it. If
  /// one was raised already, called at once. The call happens without any lock
  /// of this class held. Null removes it and waits for a running call.
  void onRaise(Callback callback);

private:
  bool keep(AbortRecord record);
  void annotate(AbortRecord &record);

  std::atomic<uint32_t> word_{0};
  mutable std::mutex mutex_;       // guards record_ and mirrors_
  std::recursive_mutex callMutex_; // held during the callback
  std::optional<AbortRecord> record_;
  std::vector<std::atomic<uint32_t> *> mirrors_;
  std::mutex probeMutex_;
  std::vector<std::pair<const void *, Probe>> probes_;
  std::mutex noteMutex_;
  std::vector<std::pair<const void *, Note>> notes_;
  bool local_ = false; // record_ was raised here
  Callback callback_;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_ABORT_H
