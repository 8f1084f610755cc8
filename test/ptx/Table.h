//===- Table.h - Which function executes an opcode --------------*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_TABLE_H
#define MKERNEL_TEST_PTX_TABLE_H

#include "Machine.h"

#include <unordered_map>

namespace mk::ptx {

using Table = std::unordered_map<std::string, Exec>;

void addArithmetic(Table &table); // integers, bits
void addFloats(Table &table);
/// Each of these takes an instruction if it is theirs.
bool decodeAccess(Instr &instr);  // loads, stores, atomics
bool decodeSync(Instr &instr);    // barriers, fences, what lanes exchange
bool decodeCopy(Instr &instr);    // bulk copies, cp.async
bool decodeProduct(Instr &instr); // wgmma, stmatrix

/// Calls `fn(lane)` for each lane of a mask.
template <typename Fn> void forLanes(uint32_t lanes, Fn fn) {
  for (; lanes; lanes &= lanes - 1)
    fn(uint32_t(__builtin_ctz(lanes)));
}
inline bool startsWith(const std::string &text, const char *with) {
  return text.rfind(with, 0) == 0;
}
inline bool contains(const std::string &text, const char *what) {
  return text.find(what) != std::string::npos;
}

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_TABLE_H
