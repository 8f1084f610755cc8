//===- Command.h - Commands from a kernel to the network proxy --*- C -*-===//
//
// A kernel reaches a peer across a `net` axis only by writing commands into
// a ring that the proxy of its rank drains. A command is two 16-byte halves,
// each written by one 16-byte store. The lap bit in *each* half publishes it:
// lap n (counted from 0) writes the bit as (n + 1) & 1, so a zeroed ring holds
// no valid command and the consumer clears nothing.
//
// One put is one arrival, however many commands carry it: all commands of a
// put but the last have MK_CMD_MORE, and the signal of the last is raised when
// the bytes of all of them are in the peer's memory.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_COMMAND_H
#define MKERNEL_ABI_COMMAND_H

#include "mkernel/ABI/Version.h"
#include <stddef.h>
#include <stdint.h>

enum mk_command_op {
  MK_CMD_PUT = 1,    // copy `bytes` from my heap to the peer's
  MK_CMD_SIGNAL = 2, // raise a signal only
};

enum mk_command_flags {
  MK_CMD_HAS_SIGNAL = 1, // raise `slot` of the peer by `amount`
  MK_CMD_MORE = 2,       // more commands of this put follow from this team
  MK_CMD_STRONG = 4,     // the signal covers all earlier puts of this channel
                         // to this peer, not this put alone
};

// Teams of a CTA put side by side: which of them wrote the command is in bits of its
// flags. Only the commands of one put (MK_CMD_MORE) are told apart by it; everything else
// is for the CTA.
#define MK_CMD_TEAM_SHIFT 4
#define MK_CMD_TEAMS 8u

#define MK_COMMAND_OFFSET_BITS 48
#define MK_COMMAND_SLOT_BITS 24
#define MK_COMMAND_MAX_SLOTS (1u << MK_COMMAND_SLOT_BITS)

// `channel` is the CTA that wrote the command: fences, settling and strong
// signals are per (channel, peer).
typedef struct mk_command {
  // First half.
  uint8_t op;       // mk_command_op
  uint8_t flags;    // mk_command_flags | team << MK_CMD_TEAM_SHIFT
  uint16_t peer;    // linear rank
  uint16_t channel; // CTA index in the grid
  uint16_t amount;  // what the signal is raised by
  uint32_t bytes;   // payload, 0 for MK_CMD_SIGNAL
  uint32_t lap0;    // bit 0: lap; the rest is zero
  // Second half: offsets are from the start of the symmetric heap.
  uint64_t src_and_slot_lo; // src offset : 48, slot bits 0..15 : 16
  uint64_t dst_and_slot_hi; // dst offset : 48, slot bits 16..23 : 8, 0 : 7,
                            // lap : 1 (bit 63)
} mk_command;

MK_ABI_ASSERT(sizeof(mk_command) == 32, "a command is 32 bytes");
MK_ABI_ASSERT(offsetof(mk_command, bytes) == 8, "command layout");
MK_ABI_ASSERT(offsetof(mk_command, lap0) == 12, "command layout");
MK_ABI_ASSERT(offsetof(mk_command, src_and_slot_lo) == 16, "command layout");
MK_ABI_ASSERT(offsetof(mk_command, dst_and_slot_hi) == 24, "command layout");

// The ring's control words, each on a cache line of its own. `head` counts
// commands reserved by the kernel, `tail` commands consumed by the proxy; both
// count up for ever. A producer waits, boundedly, while head - tail is
// `capacity` (a power of two).
typedef struct mk_command_ring {
  uint64_t head;
  uint64_t pad0[7];
  uint64_t tail;
  uint64_t pad1[7];
  uint64_t capacity;
  uint64_t pad2[7];
  // mk_command commands[capacity] follow
} mk_command_ring;

MK_ABI_ASSERT(sizeof(mk_command_ring) == 192, "ring layout");
MK_ABI_ASSERT(offsetof(mk_command_ring, tail) == 64, "ring layout");
MK_ABI_ASSERT(offsetof(mk_command_ring, capacity) == 128, "ring layout");

#endif // MKERNEL_ABI_COMMAND_H
