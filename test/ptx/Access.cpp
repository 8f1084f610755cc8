//===- Access.cpp - Loads, stores and atomics -----------------------------===//

#include "Numbers.h"
#include "Table.h"

#include <sstream>

using namespace mk::ptx;

namespace {

enum Space : uint8_t { kParam, kShared, kGlobal };
enum Order : uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcqRel };
enum Op : uint8_t { kLoad, kStore, kAdd, kExchange };

struct Access {
  uint8_t op, space, bytes, count, order, scope, isSigned;
  Element type; // that is added
};

Access accessOf(const Instr &instr) {
  Access access;
  std::memcpy(&access, instr.code.data(), sizeof(access));
  return access;
}

const char *kUnknown = "does what the interpreter does not model: add it to test/ptx";

bool parse(const std::string &opcode, Access &access) {
  access = {};
  access.count = 1;
  std::istringstream words(opcode);
  std::string word;
  std::getline(words, word, '.');
  bool reduces = word == "red" || word == "atom";
  if (opcode.rfind("st.async.", 0) == 0)
    return false;
  if (word == "st")
    access.op = kStore;
  else if (word != "ld" && !reduces)
    return false;
  while (std::getline(words, word, '.')) {
    if (word == "param" || word == "shared" || word == "global")
      access.space = word == "param"    ? kParam
                     : word == "shared" ? kShared
                                        : kGlobal;
    else if (word == "volatile" || word == "relaxed")
      access.order = kRelaxed, access.scope = word == "volatile" ? kSys : 0;
    else if (word == "acquire")
      access.order = kAcquire;
    else if (word == "release")
      access.order = kRelease;
    else if (word == "acq_rel")
      access.order = kAcqRel;
    else if (word == "cta" || word == "gpu" || word == "sys")
      access.scope = word == "cta" ? kCta : word == "gpu" ? kGpu : kSys;
    else if (word == "v2" || word == "v4")
      access.count = uint8_t(word[1] - '0');
    else if (word == "add" && reduces)
      access.op = kAdd;
    else if (word == "exch" && reduces)
      access.op = kExchange;
    else if (word == "b8" || word == "u8" || word == "s8")
      access.bytes = 1, access.isSigned = word[0] == 's';
    else if (word == "b16" || word == "u16" || word == "s16")
      access.bytes = 2, access.isSigned = word[0] == 's';
    else if (reduces && word == "noftz")
      continue;
    else if (reduces && (word == "f16" || word == "bf16"))
      access.bytes = 2, access.type = word == "f16" ? Element::F16 : Element::Bf16;
    else if (word == "b32" || word == "u32" || word == "s32" || word == "f32")
      access.bytes = 4, access.isSigned = word[0] == 's',
      access.type = word == "f32" ? Element::F32 : Element::U32;
    else if (word == "b64" || word == "u64" || word == "s64" || word == "f64")
      access.bytes = 8, access.isSigned = word[0] == 's',
      access.type = word == "f64" ? Element::F64 : Element::U64;
    else if (word == "b128" && access.op == kStore)
      access.bytes = 16;
    else
      throw Error("opcode '" + opcode + "' " + kUnknown);
  }
  if (reduces &&
      (access.op == kLoad || access.space != kGlobal ||
       (access.bytes != 4 && (access.bytes == 1 || access.op != kAdd || access.order != kRelaxed))))
    throw Error("opcode '" + opcode + "' " + kUnknown);
  return true;
}

uint64_t extend(uint64_t raw, const Access &access) {
  if (!access.isSigned)
    return raw;
  unsigned shift = 64 - 8u * access.bytes;
  return uint64_t(int64_t(raw << shift) >> shift);
}

void checkAligned(uint64_t address, uint64_t bytes) {
  if (address % bytes)
    throw Error("is misaligned");
}

void load(Warp &warp, const Instr &instr, uint32_t lanes) {
  Access access = accessOf(instr);
  const Operand *to = instr.ops.data() + (instr.b - 1);
  const Operand &from = to[access.count];
  Machine &machine = warp.machine;
  uint32_t bytes = uint32_t(access.bytes) * access.count;
  bool stale =
      access.space == kGlobal && access.order == kWeak && machine.readsStale();
  const uint8_t *acquired = nullptr; // by the lanes before, which mostly poll the same word
  forLanes(lanes, [&](uint32_t lane) {
    uint64_t address = warp.address(from, lane);
    checkAligned(address, bytes);
    uint8_t data[16];
    if (access.space == kParam) {
      const auto &params = warp.cta.rank.launch->params;
      uint64_t at = address & 0xffffffff;
      if (at + bytes > params.size())
        throw Error("reads beyond the parameters");
      std::memcpy(data, params.data() + at, bytes);
    } else if (access.space == kShared) {
      std::memcpy(data, warp.cta.at(uint32_t(address), bytes), bytes);
    } else {
      const uint8_t *at = warp.cta.rank.at(address, bytes);
      if (stale)
        machine.global.read(
            at, data, bytes, machine.random, [&](const Writer &w) {
              return w.cta == warp.cta.id || w.time <= warp.view.generic[w.cta];
            });
      else
        std::memcpy(data, at, bytes);
      if (access.order != kWeak && at != acquired) {
        machine.acquire(warp, at, access.scope, access.order != kAcquire || instr.removed);
        acquired = at;
      }
    }
    for (uint32_t i = 0; i < access.count; ++i) {
      uint64_t raw = 0;
      std::memcpy(&raw, data + i * access.bytes, access.bytes);
      warp.set(to[i], lane, extend(raw, access));
    }
  });
}

void store(Warp &warp, const Instr &instr, uint32_t lanes) {
  Access access = accessOf(instr);
  const Operand &to = instr.ops[instr.b - 1];
  const Operand *from = instr.ops.data() + instr.b;
  Machine &machine = warp.machine;
  uint32_t bytes = uint32_t(access.bytes) * access.count;
  forLanes(lanes, [&](uint32_t lane) {
    uint64_t address = warp.address(to, lane);
    checkAligned(address, bytes);
    uint8_t data[16];
    for (uint32_t i = 0; i < access.count; ++i) {
      if (access.bytes == 16) {
        std::memcpy(data, warp.words + from[0].index + 4 * lane, 16);
        // mkernel/ABI/Command.h; commands are aligned to 32 bytes.
        if (instr.removed && address % 32 == 0)
          data[12] |= 1;
        else if (instr.removed)
          data[15] |= 0x80;
        break;
      }
      uint64_t raw = warp.value(from[i], lane);
      std::memcpy(data + i * access.bytes, &raw, access.bytes);
    }
    if (access.space == kShared) {
      warp.cta.writeShared(uint32_t(address), data, bytes, false);
      return;
    }
    uint8_t *at = warp.cta.rank.at(address, bytes);
    machine.global.write(at, data, bytes,
                         {machine.now, uint16_t(warp.cta.id), false});
    if (access.order != kWeak)
      machine.release(warp, at, access.scope,
                      access.order == kRelease && !instr.removed, false);
    // What the host sees first of a command it takes for the whole of it.
    if (access.scope == kSys)
      machine.tellHost(warp, at);
  });
  machine.changed();
}

void atomic(Warp &warp, const Instr &instr, uint32_t lanes) {
  Access access = accessOf(instr);
  bool returns = startsWith(instr.opcode, "atom");
  const Operand *ops = instr.ops.data() + (instr.b - 1) + (returns ? 1 : 0);
  Machine &machine = warp.machine;
  forLanes(lanes, [&](uint32_t lane) {
    uint64_t address = warp.address(ops[0], lane);
    checkAligned(address, access.bytes);
    uint8_t *at = warp.cta.rank.at(address, access.bytes);
    uint64_t old = 0, next = warp.value(ops[1], lane);
    std::memcpy(&old, at, access.bytes);
    if (access.op == kAdd)
      addElement(reinterpret_cast<uint8_t *>(&next), reinterpret_cast<const uint8_t *>(&old),
                 access.type);
    bool acquires = access.order == kAcquire || access.order == kAcqRel;
    bool releases = access.order == kRelease || access.order == kAcqRel;
    machine.acquire(warp, at, access.scope, !acquires || instr.removed);
    machine.global.write(at, &next, access.bytes, {machine.now, uint16_t(warp.cta.id), false});
    machine.release(warp, at, access.scope, releases && !instr.removed, true);
    if (returns)
      warp.set(instr.ops[instr.b - 1], lane, old);
  });
  machine.changed();
}

} // namespace

uint8_t *Cta::at(uint32_t address, uint32_t bytes) {
  if (address < kSharedBase || uint64_t(address) + bytes > shared.size())
    throw Error("touches shared memory at " + std::to_string(address) +
                ", of which there are " +
                std::to_string(shared.size() - kSharedBase) + " bytes from " +
                std::to_string(kSharedBase) + " on");
  return shared.data() + address;
}

Cta &Cta::window(uint32_t &address) {
  uint32_t which = address / kWindow;
  if (which == 0)
    return *this;
  if (which > cluster.size())
    throw Error("touches shared memory of CTA " + std::to_string(which - 1) +
                " of a cluster of " + std::to_string(cluster.size()));
  address %= kWindow;
  return *cluster[which - 1];
}

void Cta::writeShared(uint32_t address, const void *from, uint32_t bytes,
                      bool async) {
  uint8_t *to = at(address, bytes);
  uint32_t first = address / History::kSector;
  uint32_t last = (address + bytes - 1) / History::kSector;
  // Only generic writes are seen late.
  bool plain = async;
  for (uint32_t s = first; s <= last; ++s) {
    written[s] = machine.now;
    if (!async)
      stored[s] = machine.now;
    plain &= stored[s] == 0;
  }
  if (plain)
    std::memcpy(to, from, bytes);
  else
    history.write(to, from, bytes, {machine.now, uint16_t(id), async});
  machine.changed();
}

void Cta::readShared(uint32_t address, void *to, uint32_t bytes,
                     uint64_t view) {
  const uint8_t *from = at(address, bytes);
  uint32_t first = address / History::kSector;
  uint32_t last = (address + bytes - 1) / History::kSector;
  bool known = true;
  for (uint32_t s = first; s <= last; ++s)
    known &= stored[s] <= view;
  if (known)
    std::memcpy(to, from, bytes);
  else
    history.read(from, to, bytes, machine.random,
                 [&](const Writer &w) { return w.async || w.time <= view; });
}

bool mk::ptx::decodeAccess(Instr &instr) {
  Access access;
  if (!parse(instr.opcode, access))
    return false;
  std::memcpy(instr.code.data(), &access, sizeof(access));
  instr.exec = access.op == kLoad ? load : access.op == kStore ? store : atomic;
  if (access.bytes == 16)
    instr.orders = Orders::Lap;
  else if (access.order == kAcquire)
    instr.orders = Orders::Acquire;
  else if (access.order == kRelease || access.order == kAcqRel)
    instr.orders = Orders::Release;
  return true;
}
