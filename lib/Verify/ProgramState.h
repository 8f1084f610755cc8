//===- ProgramState.h - What KernelProgram is made of -----------*- C++ -*-===//
#ifndef MKERNEL_LIB_VERIFY_PROGRAMSTATE_H
#define MKERNEL_LIB_VERIFY_PROGRAMSTATE_H

#include "KernelProgram.h"

namespace mlir::mk {

struct KernelProgram::Node {
  Node() = default;
  Node(Node &&) noexcept = default;
  Operation *op = nullptr;
  bool event = false;     // emits one
  bool hasEvents = false; // in its regions
  bool hasSync = false;   // events there that are more than accesses
  bool turn = false;      // a loop over the items of this CTA
  bool draws = false;     // a ticket, or the loop around it, that other CTAs share
  int32_t site = -1;
  SmallVector<unsigned, 4> in, out; // slots; tiles have none: kNone
  std::vector<std::unique_ptr<Body>> bodies;
};

struct KernelProgram::Body {
  std::vector<Node> nodes;
  SmallVector<unsigned> args, results; // of the block, of its terminator
};

struct KernelProgram::Frame {
  Body *body;
  size_t next = 0;     // node
  Node *owner;         // null: a role's top level
  unsigned region = 0; // of the owner
  int64_t iv = 0, end = 0, stride = 0;
};

struct KernelProgram::CtaState {
  uint32_t rank = 0, index = 0; // in its role, or as a helper
  uint32_t cta = 0;             // of all ranks
  size_t part = 0;              // 0: mk.prepare, then the role and those it helps
  bool turned = false, started = false;
  bool lost = false; // it has come to what cannot be known
  int64_t draw = -1; // Event::draw
  std::vector<Scalar> values;
  std::vector<Frame> frames;
  const Node *waiting = nullptr; // for a result of its event
};

inline constexpr unsigned kNoSlot = ~0u;

} // namespace mlir::mk

#endif // MKERNEL_LIB_VERIFY_PROGRAMSTATE_H
