//===- CommandRing.h - Commands from CTAs to the proxy ----------*- C++ -*-===//
//
// C++ side of mkernel/ABI/Command.h: encoding, decoding, and the ring with many
// producers (CTA threads) and one consumer (the proxy).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_COMMANDRING_H
#define MKERNEL_RUNTIME_COMMANDRING_H

#include "mkernel/ABI/Command.h"
#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace mk::rt {

/// A command with its fields apart.
struct Command {
  uint8_t op = MK_CMD_PUT; // mk_command_op
  uint8_t flags = 0;       // mk_command_flags and the team
  uint16_t peer = 0;       // linear rank
  uint16_t channel = 0;    // CTA index in the grid
  uint16_t amount = 0;     // of the signal
  uint32_t bytes = 0;      // payload
  uint32_t slot = 0;       // 24 bits
  uint64_t src = 0;        // 48 bits, offset from the heap's start
  uint64_t dst = 0;        // 48 bits
  bool operator==(const Command &) const = default;
};

/// Whether every field fits; OutOfRange names the one that does not.
Status checkEncodable(const Command &command);
/// `lap` counts from 0. Fields must fit.
mk_command encodeCommand(const Command &command, uint64_t lap);
/// Whether both halves are published for `lap`.
bool isPublished(const mk_command &raw, uint64_t lap);
/// The fields; InvalidArgument when a bit that must be zero is not. Does not
/// look at the lap.
Result<Command> decodeCommand(const mk_command &raw);

/// Called while a producer waits for space; an error ends the wait and is
/// returned by push. It should pause (Backoff) and check deadline and abort.
using RingWait = std::function<Status()>;

class CommandRing {
public:
  /// `capacity`: a power of two from 2 to 2^20 commands. In `memory` of bytesOf(capacity),
  /// which outlives it, if it is given: for producers that are no threads of this process
  /// (a GPU counts what it has reserved by itself, so that nothing can be pushed here).
  static Result<std::unique_ptr<CommandRing>> create(uint64_t capacity,
                                                     std::byte *memory = nullptr);
  static constexpr uint64_t bytesOf(uint64_t capacity) {
    return sizeof(mk_command_ring) + capacity * sizeof(mk_command);
  }
  ~CommandRing();
  CommandRing(const CommandRing &) = delete;
  CommandRing &operator=(const CommandRing &) = delete;

  uint64_t capacity() const { return capacity_; }

  /// Any thread. Waits with `wait` while the ring is full; a wait that is
  /// given up leaves no hole.
  Status push(const Command &command, const RingWait &wait);
  /// Again when full.
  Status tryPush(const Command &command);

  /// One thread. Copies up to raws.size() published commands and frees their
  /// space; returns how many.
  size_t drain(std::span<mk_command> raws);
  /// Whether drain would find something. The consumer's thread.
  bool hasCommands() const;

  /// Whether commands come from elsewhere.
  bool isForeign() const { return !owned_; }

  /// Commands reserved by producers and not drained. Any thread.
  uint64_t backlog() const;

private:
  CommandRing(uint64_t capacity, std::byte *memory);

  uint64_t capacity_;
  bool owned_;
  mk_command_ring *control_; // capacity_ commands follow it
  mk_command *commands_;
  uint64_t next_ = 0; // consumer's position, the truth behind control_->tail
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_COMMANDRING_H
