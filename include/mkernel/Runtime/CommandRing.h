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

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

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
/// A command as it lies in the ring, in registers: reading its fields from a copy in memory
/// would wait for the copy.
struct CommandWords {
  uint64_t w[4];
  static CommandWords of(const mk_command &raw) {
    CommandWords words;
    std::memcpy(&words, &raw, sizeof(words));
    return words;
  }
};
/// Whether all bits are zero that must be.
inline bool isWellFormed(const CommandWords &c) {
  return c.w[1] >> 33 == 0 && !(c.w[3] & uint64_t(0x7f) << 56);
}
/// The fields of one that is well formed. Does not look at the lap.
inline Command fieldsOf(const CommandWords &words) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t mask = (uint64_t(1) << MK_COMMAND_OFFSET_BITS) - 1;
  const uint64_t *w = words.w;
  Command c;
  c.op = static_cast<uint8_t>(w[0]);
  c.flags = static_cast<uint8_t>(w[0] >> 8);
  c.peer = static_cast<uint16_t>(w[0] >> 16);
  c.channel = static_cast<uint16_t>(w[0] >> 32);
  c.amount = static_cast<uint16_t>(w[0] >> 48);
  c.bytes = static_cast<uint32_t>(w[1]);
  c.src = w[2] & mask;
  c.dst = w[3] & mask;
  c.slot = static_cast<uint32_t>(w[2] >> MK_COMMAND_OFFSET_BITS |
                                 (w[3] >> MK_COMMAND_OFFSET_BITS & 0xff) << 16);
  return c;
}
/// The fields, or InvalidArgument.
Result<Command> decodeCommand(const mk_command &raw);

/// Called while a producer waits for space; an error ends the wait and is
/// returned by push. It should pause (Backoff) and check deadline and abort.
using RingWait = std::function<Status()>;

class CommandRing {
public:
  /// Commands that a ring holds where MK_COMMANDS does not say it: of a rank whose kernels run
  /// on the host, and on a GPU, which may be further ahead of its proxy.
  static constexpr uint64_t kOfHost = 1024, kOfGpu = 4096;
  static constexpr uint64_t kMost = 1 << 20;
  static constexpr bool isCapacity(uint64_t n) {
    return n <= kMost && std::has_single_bit(n);
  }
  /// MK_COMMANDS, or `fallback` if it is not set; InvalidArgument names what it may be.
  static Result<uint64_t> capacityAsked(uint64_t fallback);

  /// `capacity`: a power of two from 1 to 2^20 commands. In `memory` of bytesOf(capacity),
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

  /// One thread: use(words) for up to `most` published commands, of which those that come
  /// next are fetched meanwhile; returns how many. Their space is free after freeSpace(),
  /// of many at once: it takes a line from the producers.
  template <typename Use> size_t consume(size_t most, Use use) {
    constexpr size_t kAhead = 8, kWords = sizeof(mk_command) / 8;
    // What use() writes cannot change these.
    const uint64_t capacity = capacity_, mask = capacity - 1, first = next_;
    uint64_t *const all = wordsOf(0);
    size_t n = 0;
    for (; n < most; ++n) {
      uint64_t number = first + n;
      uint64_t *words = all + (number & mask) * kWords;
      auto load = [words](int i, std::memory_order order) {
        return std::atomic_ref(words[i]).load(order);
      };
      CommandWords copy;
      copy.w[1] = load(1, std::memory_order_acquire);
      copy.w[3] = load(3, std::memory_order_acquire);
      if (!areOf(number, capacity, copy.w[1], copy.w[3]))
        break;
      copy.w[0] = load(0, std::memory_order_relaxed);
      copy.w[2] = load(2, std::memory_order_relaxed);
      __builtin_prefetch(all + ((number + kAhead) & mask) * kWords);
      use(copy);
    }
    next_ = first + n;
    return n;
  }
  void freeSpace() {
    std::atomic_ref(control_->tail).store(next_, std::memory_order_release);
  }
  /// Whether consume() would find something: both halves of the next command are published.
  /// The consumer's thread.
  bool hasCommands() const {
    uint64_t *words = wordsOf(next_);
    return areOf(next_, capacity_, std::atomic_ref(words[1]).load(std::memory_order_acquire),
                 std::atomic_ref(words[3]).load(std::memory_order_acquire));
  }

  /// Whether commands come from elsewhere.
  bool isForeign() const { return !owned_; }

  /// Commands reserved by producers and not drained. Any thread.
  uint64_t backlog() const;

private:
  uint64_t *wordsOf(uint64_t number) const {
    return reinterpret_cast<uint64_t *>(&commands_[number & (capacity_ - 1)]);
  }
  /// Whether the second words of both halves have the lap bit of command `number`: 1 in the
  /// first lap, 0 in the second. To divide it by the capacity would take as long as all else.
  static bool areOf(uint64_t number, uint64_t capacity, uint64_t word1, uint64_t word3) {
    uint64_t bit = !(number & capacity);
    return ((word1 >> 32 & 1) == bit) & (word3 >> 63 == bit);
  }

  CommandRing(uint64_t capacity, std::byte *memory);

  uint64_t capacity_;
  bool owned_;
  mk_command_ring *control_; // capacity_ commands follow it
  mk_command *commands_;
  uint64_t next_ = 0; // consumer's position, the truth behind control_->tail
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_COMMANDRING_H
