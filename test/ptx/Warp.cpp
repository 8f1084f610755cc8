//===- Warp.cpp - One instruction of some lanes ---------------------------===//

#include "Machine.h"

#include <cstdlib>

using namespace mk::ptx;

static uint32_t *zeroes(size_t words) {
  // Pages come when they are touched: a warp uses few of all registers.
  return static_cast<uint32_t *>(std::calloc(words + 64, 4));
}

Warp::Warp(Cta &cta, uint32_t number)
    : cta(cta), machine(cta.machine), number(number),
      storage_(zeroes(cta.rank.program->words), std::free) {
  words = storage_.get();
  parts.push_back({0, ~0u});
  inFlight.assign(cta.rank.program->words / 32 + 2, 0);
  // What was written before the launch.
  view.shared = 0;
}

uint64_t Warp::value(const Operand &o, uint32_t lane) const {
  switch (o.kind) {
  case Operand::Imm:
    return o.imm;
  case Operand::Pred:
    return words[o.index] >> lane & 1;
  case Operand::Reg:
    if (o.bytes == 8)
      return reinterpret_cast<const uint64_t *>(words + o.index)[lane];
    return words[o.index + lane];
  case Operand::Special:
    switch (Special(o.imm)) {
    case Special::Tid:
      return number * 32 + lane;
    case Special::Ntid:
      return cta.rank.launch->threads;
    case Special::Ctaid:
      return cta.index;
    case Special::Nctaid:
      return cta.rank.launch->ctas;
    case Special::Lane:
      return lane;
    case Special::ClusterRank:
      return cta.clusterRank;
    case Special::Smid: // one CTA on each
      return cta.index;
    case Special::Timer:
      return machine.clock();
    }
    return 0;
  case Operand::None:
    return 0;
  }
  return 0;
}

uint64_t Warp::address(const Operand &o, uint32_t lane) const {
  return o.kind == Operand::Imm ? o.imm : value(o, lane) + o.imm;
}

void Warp::set(const Operand &o, uint32_t lane, uint64_t value) {
  if (o.kind == Operand::None)
    return;
  if (o.kind == Operand::Pred)
    words[o.index] = (words[o.index] & ~(1u << lane)) | uint32_t(value & 1)
                                                            << lane;
  else if (o.bytes == 8)
    reinterpret_cast<uint64_t *>(words + o.index)[lane] = value;
  else
    words[o.index + lane] =
        o.bytes == 2 ? uint32_t(value & 0xffff) : uint32_t(value);
}

void Warp::sleep(uint32_t most) {
  wakeAt = machine.now + 1 + machine.random.below(most);
}

View Warp::released() const {
  View v = view;
  v.generic.set(cta.id, machine.now);
  return v;
}

void Warp::check(const Instr &instr) {
  // A copy of an accumulator is no use of it: the assembler drops it.
  if (instr.multiplies)
    return;
  uint64_t group = 0;
  for (const Operand &o : instr.ops) {
    if (o.kind != Operand::Reg || inFlight[o.index >> 5] <= retired)
      continue;
    group = inFlight[o.index >> 5];
    if (!instr.moves)
      throw Error("uses an accumulator before wgmma.wait_group");
  }
  if (instr.moves && !instr.ops.empty() && instr.ops[0].kind == Operand::Reg)
    inFlight[instr.ops[0].index >> 5] = group;
}

void Warp::step() {
  const Program &program = *cta.rank.program;
  size_t p = 0;
  uint32_t stalled = 0;
  const Instr *instr = nullptr;
  while (true) {
    // The lanes that are furthest behind, so that they meet again; others now
    // and then, since these may wait for them.
    if (parts.size() > 1) {
      bool any = machine.random.chance(10);
      p = parts.size();
      for (size_t i = 0; i < parts.size(); ++i) {
        if (stalled & parts[i].lanes)
          continue;
        if (p == parts.size() ||
            (any ? machine.random.chance(50) : parts[i].pc < parts[p].pc))
          p = i;
      }
      if (p == parts.size())
        throw Error("rank " + std::to_string(cta.rank.number) + ", line " +
                    std::to_string(instr->line) +
                    ": lanes of a warp wait for one another at different "
                    "instructions");
    } else if (stalled) {
      throw Error("line " + std::to_string(instr->line) +
                  ": waits for lanes that have ended");
    }
    instr = &program.instrs[parts[p].pc];
    if (instr->flow != Flow::Converge)
      break;
    uint32_t needed = live;
    if (instr->a < instr->ops.size())
      needed &= uint32_t(
          value(instr->ops[instr->a], uint32_t(__builtin_ctz(parts[p].lanes))));
    if ((parts[p].lanes & needed) == needed)
      break;
    stalled |= parts[p].lanes;
  }

  Part &part = parts[p];
  uint32_t lanes = part.lanes;
  if (instr->guard >= 0) {
    uint32_t guard = words[instr->ops[size_t(instr->guard)].index];
    lanes &= instr->negated ? ~guard : guard;
  }
  now = instr;
  if (lanes)
    ++machine.executed[part.pc];
  switch (instr->flow) {
  case Flow::Next:
  case Flow::Converge:
    if (lanes && !(instr->removed && instr->exec == nullptr)) {
      try {
        if (retired < commits || !products.empty())
          check(*instr);
        instr->exec(*this, *instr, lanes);
      } catch (const Error &error) {
        throw Error("line " + std::to_string(instr->line) + ", " +
                    instr->opcode + " (rank " +
                    std::to_string(cta.rank.number) + ", CTA " +
                    std::to_string(cta.index) + ", warp " +
                    std::to_string(number) + "): " + error.what());
      }
    }
    if (stay)
      stay = false;
    else
      ++part.pc;
    break;
  case Flow::Branch:
    if (lanes == part.lanes) {
      part.pc = instr->target;
    } else if (lanes == 0) {
      ++part.pc;
    } else {
      part.lanes &= ~lanes;
      ++part.pc;
      parts.push_back({instr->target, lanes});
    }
    break;
  case Flow::Switch: {
    std::vector<Part> split;
    for (uint32_t rest = part.lanes; rest; rest &= rest - 1) {
      uint32_t lane = uint32_t(__builtin_ctz(rest));
      uint64_t which = value(instr->ops[0], lane);
      if (which >= instr->targets.size())
        throw Error("line " + std::to_string(instr->line) +
                    ": branches beyond its table");
      uint32_t pc = instr->targets[which];
      auto it = std::find_if(split.begin(), split.end(),
                             [&](const Part &s) { return s.pc == pc; });
      if (it == split.end())
        split.push_back({pc, 1u << lane});
      else
        it->lanes |= 1u << lane;
    }
    parts.erase(parts.begin() + ptrdiff_t(p));
    parts.insert(parts.end(), split.begin(), split.end());
    break;
  }
  case Flow::Return:
    live &= ~lanes;
    part.lanes &= ~lanes;
    if (part.lanes)
      ++part.pc;
    else
      parts.erase(parts.begin() + ptrdiff_t(p));
    break;
  case Flow::Trap:
    if (lanes)
      throw Error("line " + std::to_string(instr->line) + ": trap (rank " +
                  std::to_string(cta.rank.number) + ", CTA " +
                  std::to_string(cta.index) + ", warp " +
                  std::to_string(number) + ")");
    ++part.pc;
    break;
  }
  if (parts.size() < 2)
    return;
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = parts.size() - 1; j > i; --j)
      if (parts[j].pc == parts[i].pc) {
        parts[i].lanes |= parts[j].lanes;
        parts.erase(parts.begin() + ptrdiff_t(j));
      }
}
