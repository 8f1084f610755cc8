//===- CommandRing.cpp - Commands from CTAs to the proxy ------------------===//

#include "mkernel/Runtime/CommandRing.h"
#include "mkernel/Runtime/Env.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace mk::rt {
namespace {

uint64_t lapBit(uint64_t lap) { return (lap + 1) & 1; }

std::atomic_ref<uint64_t> atomic(uint64_t &word) {
  return std::atomic_ref<uint64_t>(word);
}

} // namespace

Status checkEncodable(const Command &c) {
  auto fits = [](uint64_t value, int bits) { return value >> bits == 0; };
  if (!fits(c.src, MK_COMMAND_OFFSET_BITS))
    return error(StatusCode::OutOfRange, "source offset ", c.src,
                 " does not fit a command's ", MK_COMMAND_OFFSET_BITS, " bits");
  if (!fits(c.dst, MK_COMMAND_OFFSET_BITS))
    return error(StatusCode::OutOfRange, "destination offset ", c.dst,
                 " does not fit a command's ", MK_COMMAND_OFFSET_BITS, " bits");
  if (!fits(c.slot, MK_COMMAND_SLOT_BITS))
    return error(StatusCode::OutOfRange, "signal slot ", c.slot,
                 " does not fit a command's ", MK_COMMAND_SLOT_BITS, " bits");
  return {};
}

mk_command encodeCommand(const Command &c, uint64_t lap) {
  assert(checkEncodable(c) && "check the fields first");
  mk_command raw{};
  raw.op = c.op;
  raw.flags = c.flags;
  raw.peer = c.peer;
  raw.channel = c.channel;
  raw.amount = c.amount;
  raw.bytes = c.bytes;
  raw.lap0 = static_cast<uint32_t>(lapBit(lap));
  raw.src_and_slot_lo = c.src | uint64_t(c.slot & 0xffff)
                                    << MK_COMMAND_OFFSET_BITS;
  raw.dst_and_slot_hi = c.dst |
                        uint64_t(c.slot >> 16) << MK_COMMAND_OFFSET_BITS |
                        lapBit(lap) << 63;
  return raw;
}

Result<Command> decodeCommand(const mk_command &raw) {
  CommandWords words = CommandWords::of(raw);
  if (!isWellFormed(words))
    return error(StatusCode::InvalidArgument,
                 "a command has bits set that must be zero (lap word ",
                 raw.lap0, ", last word ", raw.dst_and_slot_hi,
                 "): the kernel was built for another ABI or its memory was "
                 "overwritten");
  return fieldsOf(words);
}

Result<uint64_t> CommandRing::capacityAsked(uint64_t fallback) {
  std::optional<std::string> text = env::get("MK_COMMANDS");
  if (!text)
    return fallback;
  Result<uint64_t> number = env::parseBytes(*text);
  if (!number || !isCapacity(*number))
    return error(StatusCode::InvalidArgument, "MK_COMMANDS: '", *text,
                 "' is no number of commands: use a power of two from 1 to ", kMost);
  return *number;
}

Result<std::unique_ptr<CommandRing>> CommandRing::create(uint64_t capacity,
                                                         std::byte *memory) {
  if (!isCapacity(capacity))
    return error(StatusCode::InvalidArgument, "a ring of ", capacity,
                 " commands: use a power of two from 1 to ", kMost);
  return std::unique_ptr<CommandRing>(new CommandRing(capacity, memory));
}

CommandRing::CommandRing(uint64_t capacity, std::byte *given)
    : capacity_(capacity), owned_(!given) {
  size_t bytes = bytesOf(capacity);
  void *memory = given ? given : ::operator new(bytes, std::align_val_t(64));
  memset(memory, 0, bytes); // no command of lap 0 is published
  control_ = static_cast<mk_command_ring *>(memory);
  control_->capacity = capacity;
  commands_ = reinterpret_cast<mk_command *>(control_ + 1);
}

CommandRing::~CommandRing() {
  if (owned_)
    ::operator delete(control_, std::align_val_t(64));
}

Status CommandRing::tryPush(const Command &command) {
  uint64_t head = atomic(control_->head).load(std::memory_order_relaxed);
  // A place is taken only once it is free, so that giving up leaves no hole.
  do {
    // Acquire: the proxy has read what is overwritten.
    uint64_t tail = atomic(control_->tail).load(std::memory_order_acquire);
    // Signed: with a stale head the tail may be ahead of it.
    if (static_cast<int64_t>(head - tail) >= static_cast<int64_t>(capacity_))
      return error(StatusCode::Again, "the command ring is full (", capacity_,
                   " commands)");
  } while (
      !atomic(control_->head)
           .compare_exchange_weak(head, head + 1, std::memory_order_relaxed));

  // Of the lap only the last bit counts.
  CommandWords words = CommandWords::of(encodeCommand(command, head & capacity_ ? 1 : 0));
  uint64_t *place = wordsOf(head);
  // The ABI's 16-byte store, in portable C++: the word with the lap bit last,
  // released. The consumer believes a half only when it has seen that bit.
  atomic(place[0]).store(words.w[0], std::memory_order_relaxed);
  atomic(place[1]).store(words.w[1], std::memory_order_release);
  atomic(place[2]).store(words.w[2], std::memory_order_relaxed);
  atomic(place[3]).store(words.w[3], std::memory_order_release);
  return {};
}

Status CommandRing::push(const Command &command, const RingWait &wait) {
  MK_TRY(checkEncodable(command));
  while (true) {
    Status pushed = tryPush(command);
    if (pushed.code() != StatusCode::Again)
      return pushed;
    MK_TRY(wait());
  }
}

uint64_t CommandRing::backlog() const {
  uint64_t tail = atomic(control_->tail).load(std::memory_order_acquire);
  uint64_t head = atomic(control_->head).load(std::memory_order_acquire);
  return head - tail;
}

} // namespace mk::rt
