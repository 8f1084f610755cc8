//===- Immediate.h - What the 32 bits of an immediate say -------*- C++ -*-===//
//
//   bit 31..24  generation of the communicator
//   bit 23      0: a put's signal; the amount, less one, and the slot lie side by
//                  side in the bits below, as many for the slot as slots need
//               1: the slot; the amount, plus one, is the length of the write,
//                  whose bytes mean nothing
//   bit 22..0   all ones, with bit 23: credit for more signals
//
// So a put of one request carries its signal if the amount is small (64 K slots
// leave amounts up to 128). All other signals are requests of their own. They
// have at least one byte: not every device takes a write of none.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_IMMEDIATE_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_IMMEDIATE_H

#include <bit>
#include <cstdint>

namespace mk::rt::rdma {

constexpr uint32_t kImmediateBits = 23;
constexpr uint32_t kImmediateMask = (1u << kImmediateBits) - 1;
constexpr uint32_t kOwnRequest = 1u << kImmediateBits;
/// A heap for these transports has fewer slots than that.
constexpr uint32_t kMaxSlots = kImmediateMask;
/// The largest amount of a signal, the command ring's.
constexpr uint32_t kMaxAmount = 65535;
/// Of the memory that signals of their own are written to.
constexpr uint32_t kSinkBytes = kMaxAmount + 1;

struct Immediate {
  uint8_t generation = 0;
  bool credit = false;
  uint32_t slot = 0, amount = 0;
};

/// For a receiver with `slots` slots.
class ImmediateCode {
public:
  explicit ImmediateCode(uint32_t slots = 1)
      : slotBits_(slots > 1 ? std::bit_width(slots - 1) : 1) {}

  /// Whether a put's own request can carry the amount.
  bool fits(uint32_t amount) const {
    return amount > 0 && amount <= 1u << (kImmediateBits - slotBits_);
  }
  uint32_t put(uint8_t generation, uint32_t slot, uint32_t amount) const {
    return uint32_t(generation) << 24 | (amount - 1) << slotBits_ | slot;
  }
  static uint32_t signal(uint8_t generation, uint32_t slot) {
    return uint32_t(generation) << 24 | kOwnRequest | slot;
  }
  static uint32_t signalBytes(uint32_t amount) { return amount + 1; }
  static uint32_t credit(uint8_t generation) {
    return signal(generation, kImmediateMask);
  }

  /// `bytes`: length of the write.
  Immediate decode(uint32_t word, uint32_t bytes) const {
    Immediate i;
    i.generation = static_cast<uint8_t>(word >> 24);
    uint32_t low = word & kImmediateMask;
    if (!(word & kOwnRequest)) {
      i.slot = low & ((1u << slotBits_) - 1);
      i.amount = (low >> slotBits_) + 1;
      return i;
    }
    i.credit = low == kImmediateMask;
    i.slot = low;
    i.amount = bytes - 1;
    return i;
  }

private:
  uint32_t slotBits_;
};

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_IMMEDIATE_H
