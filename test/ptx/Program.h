//===- Program.h - The PTX of one kernel, ready to be run -------*- C++ -*-===//
//
// The parser takes the PTX that this compiler and LLVM write, inline assembly
// with its scopes included, and nothing more: what it does not know is an error
// with its line.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_PROGRAM_H
#define MKERNEL_TEST_PTX_PROGRAM_H

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace mk::ptx {

/// Text that is not understood, or something that a kernel must not do.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Warp;
struct Instr;
/// Executes an instruction for the lanes of a mask.
using Exec = void (*)(Warp &, const Instr &, uint32_t lanes);

enum class Special : uint8_t { Tid, Ntid, Ctaid, Nctaid, Lane, ClusterRank, Smid, Timer };

struct Operand {
  enum Kind : uint8_t { None, Imm, Reg, Pred, Special };
  Kind kind = None;
  uint8_t bytes = 0;  // of a register: 2, 4, 8 or 16
  uint32_t index = 0; // of a register: its first word in Warp::words
  uint64_t imm = 0;   // a value; of an address: what is added to the register
};

/// How an instruction is stepped over.
enum class Flow : uint8_t {
  Next,     // for any lanes
  Converge, // only when all lanes of its mask are here
  Branch,
  Switch,
  Return,
  Trap,
};

/// What an instruction orders, for seeded mistakes.
enum class Orders : uint8_t {
  Nothing,
  Fence,      // fence.acq_rel
  ProxyFence, // fence.proxy.async
  Barrier,    // bar.sync, bar.warp.sync
  Phase,      // mbarrier.try_wait: returns at once
  Signal,     // ld.acquire in a loop: the loop ends at once
  Acquire,    // ld.acquire becomes ld.relaxed
  Release,    // red, st or atom.release becomes relaxed
  Group,      // waits for cp.async, bulk copies, wgmma
  Lap,        // half of a command: its lap bit stays that of the first lap
};
inline constexpr int kOrders = 10;
const char *nameOf(Orders orders);

struct Instr {
  Exec exec = nullptr;
  Flow flow = Flow::Next;
  Orders orders = Orders::Nothing;
  bool removed = false;    // a seeded mistake
  bool moves = false;      // only copies: may touch accumulators in flight
  bool multiplies = false; // so may this
  int16_t guard = -1;      // operand of the predicate in front
  bool negated = false;    // it says when not to
  uint32_t line = 0;       // in the text
  uint32_t target = 0;     // of a branch
  uint32_t a = 0, b = 0;   // what the opcode means by them
  std::array<uint8_t, 8> code = {}; // and by these
  std::vector<Operand> ops;         // vectors and addresses flattened
  std::vector<uint8_t> vecs;        // lengths of the vectors, in order
  std::vector<uint32_t> targets;    // of a switch
  std::string opcode;
};

struct Program {
  std::string name; // of the entry
  std::vector<Instr> instrs;
  uint32_t words = 0; // of registers of a warp
  uint32_t paramBytes = 0;
  uint32_t threads = 0; // of a CTA
  uint32_t cluster[3] = {1, 1, 1};

  /// Throws Error.
  static Program parse(const std::string &text);
};

/// What an opcode is executed by. Throws Error.
void decode(Instr &instr);

// Addresses. The parameters' have no low word; the CTA's window lies at 0, that
// of CTA r of its cluster at (r + 1) << 24.
inline constexpr uint64_t kParamBase = uint64_t(1) << 40;
inline constexpr uint32_t kSharedBase = 1024;
inline constexpr uint32_t kWindow = 1u << 24;

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_PROGRAM_H
