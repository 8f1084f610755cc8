//===- Event.h - What a CTA does, as far as others may notice ---*- C++ -*-===//
//
// The events of docs/memory-model.md. The compiler makes them by evaluating a
// kernel's index arithmetic, mk-run from the logs of a run; both give them to a
// Machine. Plain C++: compiler and tools share it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CHECK_EVENT_H
#define MKERNEL_CHECK_EVENT_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mk::check {

/// Elements of a buffer: a box in its index space. Any numbers: an end that 64 bits
/// do not hold is the largest that they do.
struct Box {
  static constexpr int kMaxRank = 8;
  int32_t rank = 0;
  std::array<int64_t, kMaxRank> begin{}, size{};

  /// Behind the last index.
  int64_t end(int d) const;

  bool empty() const;
  bool overlaps(const Box &other) const;
  bool contains(const Box &other) const;
  Box intersection(const Box &other) const;
  bool operator==(const Box &other) const = default;
  /// "[128:256, 0:64]": first index and the one behind the last.
  std::string toString() const;
};

struct Event {
  enum Kind : uint8_t {
    Turn,    // nothing: others may go first (between items)
    Barrier, // all CTAs of all ranks have come (mk.prepare is over)
    Load,
    Store, // to the own rank; may raise a signal there
    Put,   // asynchronous; with no sources also a store to a peer
    Signal,
    Wait,
    Fence,
    Settle,
    Count,
    Push,
    Pop,
    RoleEnd,
  };
  Kind kind = Turn;
  bool strong = false; // of the signal
  bool add = false;    // adds to the destination
  bool ofTile = false; // Put: a store to a peer, whose source is a private tile
  int32_t site = -1;   // the program's name for where this is
  int32_t buffer = -1; // Load, Store; source of Put; -1: not followed
  int32_t dstBuffer = -1; // Put: at the peer
  std::vector<Box> boxes, dstBoxes;
  uint32_t peer = 0;   // Put, Signal: rank
  int32_t object = -1; // signal (-1: none), counter or queue
  int64_t element = 0; // of a signal or counter; Pop: entry
  int64_t amount = 1;  // Signal, Count: added; Wait: arrivals wanted
  /// What happened in a run that is replayed: value before a Count, entry of a
  /// Push. -1: whatever comes.
  int64_t order = -1;
  /// The item that the CTA has drawn and that any other might have drawn instead;
  /// -1: none. Items of one CTA have numbers of their own.
  int64_t draw = -1;
  std::vector<int64_t> record; // Push
};

/// What the CTAs of all ranks do, each in program order. CTAs are numbered
/// through all ranks: rank * CTAs of a rank + CTA in its grid.
class Program {
public:
  virtual ~Program() = default;
  enum class Next { Event, End, Unknown };
  /// The next event of a CTA. Unknown: it cannot be said; the run ends.
  virtual Next next(uint32_t cta, Event &event) = 0;
  /// Results of the last event of this CTA.
  virtual void counted(uint32_t cta, int64_t before) {}
  virtual void popped(uint32_t cta, const std::vector<int64_t> &record) {}
};

} // namespace mk::check

#endif // MKERNEL_CHECK_EVENT_H
