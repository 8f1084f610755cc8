//===- Copies.cpp - What goes on behind an instruction --------------------===//
//
// Bulk copies, with tensor maps and without, and cp.async. Each moves its bytes
// in parts at times of their own; only what waits for it knows that it has.
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "Table.h"
#include "TensorMap.h"

using namespace mk::ptx;

namespace {

/// A run of bytes of a copy: from or to global memory, and a place in shared
/// memory in pieces of 16 bytes, which may be swizzled.
struct Piece {
  uint8_t *global = nullptr; // nullptr: outside of the tensor
  uint32_t shared = 0;       // not swizzled
  uint32_t bytes = 0;        // of the tensor
  uint32_t zeroes = 0;       // behind them
};

struct Copy {
  std::vector<Piece> pieces;
  uint32_t swizzle = 0, bytes = 0;
  uint8_t type = 0; // of an element, for sums
};

template <typename Fn>
void forChunks(uint32_t shared, uint32_t bytes, uint32_t swizzle, Fn fn) {
  for (uint32_t i = 0; i < bytes;) {
    uint32_t at = shared + i, count = std::min(bytes - i, 16 - at % 16);
    fn(i, swizzled(at, swizzle), count);
    i += count;
  }
}

TensorMap mapAt(Warp &warp, uint64_t address) {
  TensorMap map;
  if (address >> 32 == kParamBase >> 32) {
    uint64_t at = address & 0xffffffff;
    if (at + 128 > warp.cta.rank.launch->params.size())
      throw Error("takes a tensor map beyond the parameters");
    std::memcpy(&map, warp.cta.rank.launch->params.data() + at, sizeof(map));
  } else {
    std::memcpy(&map, warp.cta.rank.at(address, 128), sizeof(map));
  }
  if (address % 64)
    throw Error("takes a tensor map that is not aligned to 64 bytes");
  if (map.magic != TensorMap::kMagic)
    throw Error("takes a tensor map that nobody has made");
  return map;
}

/// The runs of a box of a tensor.
Copy boxOf(Warp &warp, const TensorMap &map, const int32_t *at,
           uint32_t shared) {
  Copy copy;
  copy.swizzle = map.swizzle;
  copy.type = map.type;
  if (shared % 128)
    throw Error(
        "copies to or from shared memory that is not aligned to 128 bytes");
  uint32_t row = uint32_t(map.box[0]) * map.bytes; // bytes
  uint32_t rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d)
    rows *= map.box[d];
  copy.bytes = row * rows;
  for (uint32_t r = 0; r < rows; ++r) {
    Piece piece;
    piece.shared = shared + r * row;
    piece.zeroes = row;
    uint64_t address = map.address;
    bool inside = true;
    for (uint32_t d = 1, rest = r; d < map.rank; ++d) {
      int64_t i = int64_t(at[d]) + rest % map.box[d];
      rest /= map.box[d];
      inside &= i >= 0 && i < int64_t(map.extents[d]);
      address += uint64_t(i) * map.strides[d - 1];
    }
    int64_t begin = std::max<int64_t>(at[0], 0);
    int64_t end =
        std::min<int64_t>(int64_t(at[0]) + map.box[0], int64_t(map.extents[0]));
    if (inside && begin < end) {
      uint32_t before = uint32_t(begin - at[0]) * map.bytes;
      if (before) {
        copy.pieces.push_back({nullptr, piece.shared, 0, before});
        piece.shared += before;
      }
      piece.bytes = uint32_t(end - begin) * map.bytes;
      piece.zeroes = row - before - piece.bytes;
      piece.global =
          warp.cta.rank.at(address + uint64_t(begin) * map.bytes, piece.bytes);
    }
    copy.pieces.push_back(piece);
  }
  return copy;
}

/// The places of a random cut into at most three parts.
std::vector<size_t> cut(Random &random, size_t n) {
  std::vector<size_t> ends;
  for (int i = 0; i < 2 && n > 1; ++i)
    if (random.chance(50))
      ends.push_back(random.below(uint32_t(n)));
  ends.push_back(n);
  std::sort(ends.begin(), ends.end());
  return ends;
}

//===--- Into shared memory -----------------------------------------------===//

void readInto(Machine &machine, Cta &issuer, const Clock &view, Cta &cta,
              const Copy &copy, size_t begin, size_t end, bool stale) {
  std::vector<uint8_t> data;
  for (size_t i = begin; i < end; ++i) {
    const Piece &piece = copy.pieces[i];
    data.assign(piece.bytes + piece.zeroes, 0);
    auto mustSee = [&](const Writer &w) {
      return (w.cta == issuer.id && w.async) || w.time <= view[w.cta];
    };
    if (piece.bytes && stale)
      machine.global.read(piece.global, data.data(), piece.bytes,
                          machine.random, mustSee);
    else if (piece.bytes)
      std::memcpy(data.data(), piece.global, piece.bytes);
    forChunks(piece.shared, uint32_t(data.size()), copy.swizzle,
              [&](uint32_t from, uint32_t to, uint32_t bytes) {
                cta.writeShared(to, data.data() + from, bytes, true);
              });
  }
}

void startLoad(Warp &warp, Copy copy, const std::vector<Cta *> &to,
               uint32_t barrier) {
  Machine &machine = warp.machine;
  auto shared = std::make_shared<const Copy>(std::move(copy));
  auto view = std::make_shared<const Clock>(warp.view.async);
  bool stale = machine.readsStale();
  for (Cta *cta : to) {
    // Overrun is found now rather than when nobody knows whose it was.
    for (const Piece &piece : shared->pieces)
      cta->at(piece.shared, piece.bytes + piece.zeroes);
    cta->barrier(barrier);
    std::vector<size_t> ends = cut(machine.random, shared->pieces.size());
    uint64_t last = 0;
    size_t begin = 0;
    Cta *issuer = &warp.cta;
    for (size_t end : ends) {
      uint64_t time = machine.copyTime();
      last = std::max(last, time);
      machine.at(time, [=, &machine] {
        readInto(machine, *issuer, *view, *cta, *shared, begin, end, stale);
      });
      begin = end;
    }
    machine.at(last, [=] {
      MBarrier &b = cta->barrier(barrier);
      b.bytes -= shared->bytes;
      cta->settle(b);
    });
  }
}

struct MapBox {
  TensorMap map;
  int32_t at[5];
};

/// What a tensor copy names: a map, and behind it a place in each of its dimensions. (CUDA C++ Programming Guide: a
/// box that is stored must not begin at a negative place. Neither may a column be off 16 bytes.)
MapBox boxNamed(Warp &warp, uint32_t lane, const Operand *ops, uint32_t rank, bool stores) {
  MapBox box = {mapAt(warp, warp.address(ops[0], lane)), {}};
  if (box.map.rank != rank)
    throw Error("takes a tensor map of " + std::to_string(box.map.rank) + " dimensions");
  for (uint32_t d = 0; d < rank; ++d) {
    box.at[d] = int32_t(warp.value(ops[1 + d], lane));
    if (stores && box.at[d] < 0)
      throw Error("stores a box that begins at " + std::to_string(box.at[d]) + " in dimension " +
                  std::to_string(d) + " of a tensor map, in front of the buffer: an illegal instruction");
  }
  if (int64_t(box.at[0]) * box.map.bytes % 16)
    throw Error("names a box that begins at column " + std::to_string(box.at[0]) +
                " of a tensor map, which is no multiple of 16 bytes: an illegal instruction");
  return box;
}

/// What stands for a policy of the L2 cache here: where things are kept makes no difference.
constexpr uint64_t kPolicy = 0x90110CE;

void makePolicy(Warp &warp, const Instr &instr, uint32_t lanes) {
  forLanes(lanes, [&](uint32_t lane) { warp.set(instr.ops[instr.b - 1], lane, kPolicy); });
}

void tensorLoad(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t rank = instr.code[0];
  bool multicasts = instr.code[1];
  forLanes(lanes, [&](uint32_t lane) {
    if (instr.code[2] && warp.value(ops[3 + rank + multicasts], lane) != kPolicy)
      throw Error("hints at a policy that no createpolicy made");
    uint32_t to = uint32_t(warp.address(ops[0], lane));
    MapBox box = boxNamed(warp, lane, ops + 1, rank, /*stores=*/false);
    uint32_t barrier = uint32_t(warp.address(ops[2 + rank], lane));
    std::vector<Cta *> ctas = {&warp.cta};
    if (multicasts) {
      uint64_t mask = warp.value(ops[3 + rank], lane);
      ctas.clear();
      for (uint32_t c = 0; c < warp.cta.cluster.size(); ++c)
        if (mask >> c & 1)
          ctas.push_back(warp.cta.cluster[c]);
    } else {
      ctas[0] = &warp.cta.window(to);
    }
    uint32_t sharedAt = to;
    startLoad(warp, boxOf(warp, box.map, box.at, sharedAt), ctas, barrier % kWindow);
  });
}

Copy plainCopy(Warp &warp, uint64_t global, uint32_t shared, uint32_t bytes) {
  if (global % 16 || shared % 16 || bytes % 16)
    throw Error("copies what is not aligned to 16 bytes");
  Copy copy;
  copy.bytes = bytes;
  // In pieces, so that not all of them arrive at a time.
  for (uint32_t i = 0; i < bytes; i += 256) {
    uint32_t part = std::min(bytes - i, 256u);
    copy.pieces.push_back(
        {warp.cta.rank.at(global + i, part), shared + i, part, 0});
  }
  return copy;
}

void plainLoad(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t bytes = uint32_t(warp.value(ops[2], lane));
    startLoad(warp,
              plainCopy(warp, warp.address(ops[1], lane),
                        uint32_t(warp.address(ops[0], lane)), bytes),
              {&warp.cta}, uint32_t(warp.address(ops[3], lane)));
  });
}

//===--- Out of shared memory ---------------------------------------------===//

void add(uint8_t *to, const uint8_t *from, uint32_t bytes, uint8_t type) {
  for (uint32_t i = 0; i < bytes;) {
    uint32_t step = addElement(to + i, from + i, Element(type));
    if (!step)
      throw Error("adds elements of type " + std::to_string(type) + ", which is not modelled");
    i += step;
  }
}

void startStore(Warp &warp, uint32_t lane, Copy copy, bool adds) {
  Machine &machine = warp.machine;
  Cta *cta = &warp.cta;
  for (const Piece &piece : copy.pieces)
    cta->at(piece.shared, piece.bytes + piece.zeroes);
  auto pending = std::make_shared<Pending>();
  warp.bulk[lane].open.push_back(pending);
  auto shared = std::make_shared<const Copy>(std::move(copy));
  uint64_t view = warp.view.shared;
  ++cta->rank.inFlight;
  uint64_t reads = machine.copyTime();
  machine.at(reads, [=, &machine] {
    // What it has read is on its way.
    auto data = std::make_shared<std::vector<std::vector<uint8_t>>>();
    for (const Piece &piece : shared->pieces) {
      data->emplace_back(piece.bytes);
      forChunks(piece.shared, piece.bytes, shared->swizzle,
                [&](uint32_t to, uint32_t from, uint32_t bytes) {
                  cta->readShared(from, data->back().data() + to, bytes, view);
                });
    }
    pending->read = true;
    std::vector<size_t> ends = cut(machine.random, shared->pieces.size());
    uint64_t last = 0;
    size_t begin = 0;
    for (size_t end : ends) {
      uint64_t time = machine.copyTime();
      last = std::max(last, time);
      machine.at(time, [=, &machine] {
        for (size_t i = begin; i < end; ++i) {
          const Piece &piece = shared->pieces[i];
          std::vector<uint8_t> &bytes = (*data)[i];
          if (bytes.empty())
            continue;
          if (adds) {
            std::vector<uint8_t> sum(piece.global, piece.global + piece.bytes);
            add(sum.data(), bytes.data(), piece.bytes, shared->type);
            bytes = std::move(sum);
          }
          machine.global.write(piece.global, bytes.data(), bytes.size(),
                               {machine.now, uint16_t(cta->id), true});
        }
      });
      begin = end;
    }
    machine.at(last, [=] {
      pending->done = true;
      --cta->rank.inFlight;
    });
  });
}

void tensorStore(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t rank = instr.code[0];
  forLanes(lanes, [&](uint32_t lane) {
    MapBox box = boxNamed(warp, lane, ops, rank, /*stores=*/true);
    uint32_t from = uint32_t(warp.address(ops[1 + rank], lane));
    startStore(warp, lane, boxOf(warp, box.map, box.at, from), instr.code[1]);
  });
}

void plainStore(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  forLanes(lanes, [&](uint32_t lane) {
    bool adds = instr.code[1] != 0;
    Copy copy = plainCopy(warp, warp.address(ops[0], lane), uint32_t(warp.address(ops[1], lane)),
                          uint32_t(warp.value(ops[2], lane)));
    copy.type = instr.code[1];
    startStore(warp, lane, std::move(copy), adds);
  });
}

void bulkCommit(Warp &warp, const Instr &, uint32_t lanes) {
  forLanes(lanes, [&](uint32_t lane) { warp.bulk[lane].commit(); });
}

void bulkWait(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  bool readOnly = contains(instr.opcode, ".read"), all = true;
  forLanes(lanes, [&](uint32_t lane) {
    all &= warp.bulk[lane].passed(warp.value(ops[0], lane), readOnly);
  });
  if (!all)
    warp.again();
}

//===--- cp.async ---------------------------------------------------------===//

void copyAsync(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  size_t given = instr.ops.size() - (instr.b - 1);
  Machine &machine = warp.machine;
  uint32_t size = uint32_t(warp.value(ops[2], 0));
  struct One {
    uint32_t to, bytes;
    const uint8_t *from;
  };
  // Half of the lanes may be later.
  for (uint32_t half : {0x0000ffffu, 0xffff0000u}) {
    if (!(lanes & half))
      continue;
    auto ones = std::make_shared<std::vector<One>>();
    auto pending = std::make_shared<Pending>();
    forLanes(lanes & half, [&](uint32_t lane) {
      uint32_t to = uint32_t(warp.address(ops[0], lane));
      uint64_t from = warp.address(ops[1], lane);
      uint32_t bytes = size;
      if (given > 3 && ops[3].kind == Operand::Pred)
        bytes = warp.value(ops[3], lane) ? 0 : size; // "ignore-src"
      else if (given > 3)
        bytes = uint32_t(warp.value(ops[3], lane));
      if (to % size || from % size)
        throw Error("copies what is misaligned");
      if (bytes > size)
        throw Error("copies more bytes than it says");
      warp.cta.at(to, size);
      ones->push_back(
          {to, bytes, bytes ? warp.cta.rank.at(from, bytes) : nullptr});
      warp.copies[lane].open.push_back(pending);
    });
    auto view = std::make_shared<const Clock>(warp.view.generic);
    bool stale = machine.readsStale();
    Cta *cta = &warp.cta;
    machine.at(machine.copyTime(), [=, &machine] {
      for (const One &one : *ones) {
        uint8_t data[16] = {};
        if (one.bytes && stale)
          machine.global.read(
              one.from, data, one.bytes, machine.random, [&](const Writer &w) {
                return w.cta == cta->id || w.time <= (*view)[w.cta];
              });
        else if (one.bytes)
          std::memcpy(data, one.from, one.bytes);
        cta->writeShared(one.to, data, size, false);
      }
      pending->read = pending->done = true;
    });
  }
}

void copyCommit(Warp &warp, const Instr &, uint32_t lanes) {
  forLanes(lanes, [&](uint32_t lane) { warp.copies[lane].commit(); });
}

void arriveBehind(Machine &machine, Cta *cta, uint32_t address, Group copies) {
  machine.at(machine.copyTime(), [=, &machine] {
    auto isDone = [](const auto &copy) { return copy->done; };
    if (!std::all_of(copies.begin(), copies.end(), isDone))
      return arriveBehind(machine, cta, address, copies);
    MBarrier &b = cta->barrier(address);
    --b.pending;
    cta->settle(b);
    --cta->rank.inFlight;
    machine.changed();
  });
}

/// A lane's copies arrive when all are done; what they add to the count they take from it again
/// (PTX ISA, "cp.async.mbarrier.arrive" without .noinc).
void copyArrive(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t address = uint32_t(warp.address(ops[0], lane));
    ++warp.cta.barrier(address).pending;
    ++warp.cta.rank.inFlight;
    Group copies = warp.copies[lane].open;
    for (const Group &closed : warp.copies[lane].closed)
      copies.insert(copies.end(), closed.begin(), closed.end());
    arriveBehind(warp.machine, &warp.cta, address, copies);
    // No group is ever made of those that are done.
    std::erase_if(warp.copies[lane].open, [](const auto &copy) { return copy->done; });
  });
}

void copyWait(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  bool all = true;
  forLanes(lanes, [&](uint32_t lane) {
    all &= warp.copies[lane].passed(warp.value(ops[0], lane), false);
  });
  if (!all)
    warp.again();
}

} // namespace

bool mk::ptx::decodeCopy(Instr &instr) {
  const std::string &op = instr.opcode;
  const char *load = ".shared::cluster.global.mbarrier::complete_tx::bytes";
  auto rankIn = [&](size_t prefix) {
    instr.code[0] = uint8_t(op[prefix] - '0');
    return op.substr(prefix + 2); // behind "2d"
  };
  std::string rest;
  if (op == "createpolicy.fractional.L2::evict_first.b64") {
    instr.exec = makePolicy;
    return true;
  }
  if (startsWith(op, "cp.async.bulk.tensor.")) {
    rest = rankIn(21);
    const std::string hint = ".L2::cache_hint";
    if (size_t at = rest.rfind(hint); at != std::string::npos && at + hint.size() == rest.size()) {
      instr.code[2] = 1;
      rest.resize(at);
    }
    if (rest == load || rest == std::string(load) + ".multicast::cluster") {
      instr.exec = tensorLoad;
      instr.code[1] = contains(rest, "multicast");
      return true;
    }
    instr.exec = tensorStore;
    return rest == ".global.shared::cta.bulk_group";
  }
  if (startsWith(op, "cp.reduce.async.bulk.tensor.")) {
    rest = rankIn(28);
    instr.exec = tensorStore;
    instr.code[1] = 1;
    return rest == ".global.shared::cta.add.tile.bulk_group";
  }
  if (op == std::string("cp.async.bulk") + load)
    instr.exec = plainLoad;
  else if (op == "cp.async.bulk.global.shared::cta.bulk_group")
    instr.exec = plainStore;
  else if (startsWith(op, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.")) {
    static const std::unordered_map<std::string, Element> known = {
        {"u32", Element::U32}, {"s32", Element::S32},        {"u64", Element::U64},
        {"f32", Element::F32}, {"f64", Element::F64},        {"noftz.f16", Element::F16},
        {"f16", Element::F16}, {"noftz.bf16", Element::Bf16}};
    auto type = known.find(op.substr(op.find(".add.") + 5));
    if (type == known.end())
      return false;
    instr.exec = plainStore;
    instr.code[1] = uint8_t(type->second);
  } else if (op == "cp.async.bulk.commit_group")
    instr.exec = bulkCommit;
  else if (op == "cp.async.bulk.wait_group" ||
           op == "cp.async.bulk.wait_group.read")
    instr.exec = bulkWait, instr.orders = Orders::Group;
  else if (op == "cp.async.ca.shared.global" ||
           op == "cp.async.cg.shared.global")
    instr.exec = copyAsync;
  else if (op == "cp.async.commit_group")
    instr.exec = copyCommit;
  else if (op == "cp.async.mbarrier.arrive.shared.b64")
    instr.exec = copyArrive;
  else if (op == "cp.async.wait_group")
    instr.exec = copyWait, instr.orders = Orders::Group;
  else
    return false;
  return true;
}
