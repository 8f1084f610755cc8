//===- Abort.cpp - The abort word of a rank -------------------------------===//

#include "mkernel/Runtime/Abort.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace mk::rt {

AbortRecord AbortRecord::now(int32_t rank, std::string what, std::string text) {
  auto t = std::chrono::system_clock::now().time_since_epoch();
  return {rank, std::move(what),
          std::chrono::duration_cast<std::chrono::nanoseconds>(t).count(),
          std::move(text)};
}

std::string AbortRecord::toString() const {
  time_t seconds = static_cast<time_t>(whenUnixNs / 1000000000);
  int millis = static_cast<int>(whenUnixNs / 1000000 % 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char at[48];
  snprintf(at, sizeof(at), "%02d:%02d:%02d.%03d UTC", utc.tm_hour, utc.tm_min,
           utc.tm_sec, millis);
  std::string who = rank < 0 ? std::string("launcher") : str("rank ", rank);
  return str(who, ", ", what, ", at ", static_cast<const char *>(at), ": ",
             text);
}

Status AbortRecord::toStatus() const {
  return Status(StatusCode::Aborted, toString());
}

std::string AbortRecord::encode() const {
  // Bounded, so that a long message cannot exceed a store message.
  constexpr size_t maxText = 16 << 10;
  std::string w = what.substr(0, 255), t = text.substr(0, maxText);
  std::string bytes(13, '\0');
  memcpy(bytes.data(), &rank, 4);
  memcpy(bytes.data() + 4, &whenUnixNs, 8);
  bytes[12] = static_cast<char>(w.size());
  return bytes + w + t;
}

std::optional<AbortRecord> AbortRecord::decode(std::string_view bytes) {
  if (bytes.size() < 13)
    return std::nullopt;
  AbortRecord r;
  memcpy(&r.rank, bytes.data(), 4);
  memcpy(&r.whenUnixNs, bytes.data() + 4, 8);
  size_t n = static_cast<uint8_t>(bytes[12]);
  if (bytes.size() < 13 + n)
    return std::nullopt;
  r.what = bytes.substr(13, n);
  r.text = bytes.substr(13 + n);
  return r;
}

bool AbortWord::keep(AbortRecord record) {
  std::lock_guard lock(mutex_);
  if (record_)
    return false;
  record_ = std::move(record);
  word_.store(1, std::memory_order_release);
  for (std::atomic<uint32_t> *mirror : mirrors_)
    mirror->store(1, std::memory_order_release);
  return true;
}

void AbortWord::addMirror(std::atomic<uint32_t> *word) {
  std::lock_guard lock(mutex_);
  mirrors_.push_back(word);
  if (record_)
    word->store(1, std::memory_order_release);
}

void AbortWord::removeMirror(std::atomic<uint32_t> *word) {
  std::lock_guard lock(mutex_);
  std::erase(mirrors_, word);
}

void AbortWord::addNote(const void *owner, Note note) {
  std::lock_guard lock(noteMutex_);
  notes_.emplace_back(owner, std::move(note));
}

void AbortWord::removeNote(const void *owner) {
  std::lock_guard lock(noteMutex_);
  std::erase_if(notes_, [&](const auto &note) { return note.first == owner; });
}

void AbortWord::annotate(AbortRecord &record) {
  if (record.what != "wait" || raised())
    return;
  std::lock_guard lock(noteMutex_);
  for (const auto &[owner, note] : notes_)
    if (std::string text = note(); !text.empty())
      record.text += "; " + text;
}

bool AbortWord::raise(AbortRecord record) {
  // Recursive: a callback may raise again, to no effect.
  std::lock_guard calls(callMutex_);
  annotate(record);
  if (!keep(record))
    return false;
  local_ = true;
  if (callback_)
    callback_(record);
  return true;
}

bool AbortWord::raiseRemote(AbortRecord record) {
  annotate(record);
  return keep(std::move(record));
}

std::optional<AbortRecord> AbortWord::record() const {
  std::lock_guard lock(mutex_);
  return record_;
}

Status AbortWord::status() const {
  if (!raised())
    return {};
  return record()->toStatus();
}

void AbortWord::addProbe(const void *owner, Probe probe) {
  std::lock_guard lock(probeMutex_);
  probes_.emplace_back(owner, std::move(probe));
}

void AbortWord::removeProbe(const void *owner) {
  std::lock_guard lock(probeMutex_);
  std::erase_if(probes_, [&](const auto &probe) { return probe.first == owner; });
}

Status AbortWord::check() {
  std::optional<AbortRecord> found;
  if (!raised()) {
    std::lock_guard lock(probeMutex_);
    for (auto it = probes_.begin(); it != probes_.end() && !found; ++it)
      found = it->second();
  }
  if (found)
    raise(std::move(*found));
  return status();
}

void AbortWord::onRaise(Callback callback) {
  std::lock_guard calls(callMutex_);
  callback_ = std::move(callback);
  if (callback_ && local_)
    callback_(*record());
}

} // namespace mk::rt
