//===- copies.cpp - What copies leave in shared memory --------------------===//
//
// Element by element:
//   ptx-copies MK_OPT
// The kernel of a case copies tiles of an argument of rank 2 into a ring of 4
// slots, in its variant for any strides without tensor maps, and with them in each variant
// where they are possible. When a slot is full, what is there is read as a
// product would read it.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "TensorMap.h"
#include "mkernel/ABI/GpuParams.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

using namespace mk::ptx;

namespace {

constexpr uint32_t kDepth = 4, kChunk = 128;
constexpr uint64_t kArgument = 0x10000000, kState = 0x20000000;

/// A tile and where it is from: offsets are added to its place in the grid.
struct Tile {
  int rows = 16, columns = 64, rowOffset = 0, columnOffset = 0;
  int validRows = -1, validColumns = -1; // -1: no `valid`
  bool padsWithOne = false;
};

/// Strides and `start`, of the argument behind an aligned address, are in
/// elements.
struct Case {
  const char *name, *type;
  std::vector<Tile> tiles;
  int rows, columns, rowStride, start = 0, columnStride = 1;
  int gridRows = 2, gridColumns = 2;
};

const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
      {"aligned to 16 bytes", "bf16", {{}}, 40, 128, 136, 0, 1, 3, 2},
      {"aligned to 8 bytes", "bf16", {{}}, 32, 128, 132},
      {"aligned to 4 bytes", "bf16", {{}}, 32, 126, 126},
      {"aligned to 2 bytes, tiles end with the argument",
       "bf16",
       {{}},
       32,
       127,
       127},
      {"aligned to 2 bytes, starts at an odd one",
       "bf16",
       {{}},
       35,
       140,
       141,
       3},
      {"aligned to 1 byte", "f8E4M3FN", {{16, 128}}, 27, 230, 231, 3},
      {"aligned to 1 byte, starts within a word",
       "f8E4M3FN",
       {{8, 144, 1, 5}},
       14,
       300,
       301,
       1},
      {"f32", "f32", {{24, 40}}, 45, 77, 77, 1},
      {"f32, offsets in front of the argument",
       "f32",
       {{16, 32, -3, -5}},
       27,
       57,
       57},
      {"offsets in front of the argument",
       "bf16",
       {{16, 64, -5, -7}},
       30,
       100,
       101,
       1},
      {"valid", "bf16", {{16, 64, 0, 0, 9, 35}}, 40, 127, 127, 1},
      {"valid and a pad", "bf16", {{16, 64, 0, 0, 9, 35, true}}, 19, 99, 99},
      {"a pad behind the argument",
       "f8E4M3FN",
       {{16, 128, 0, 0, -1, -1, true}},
       21,
       199,
       203,
       2},
      {"inner stride 2", "bf16", {{8, 40}}, 13, 70, 150, 0, 2},
      {"two tiles in a slot, more than the ring has",
       "bf16",
       {{16, 64}, {24, 40, 2, 1}},
       60,
       150,
       151,
       0,
       1,
       3,
       2},
      {"the last row within a tile", "bf16", {{}}, 19, 101, 102},
      {"beyond the argument", "bf16", {{16, 64, 12}}, 20, 99, 99},
      {"aligned to 16 bytes, valid", "bf16", {{16, 72, 0, 0, 9, 35}}, 40, 160, 160},
      {"aligned to 16 bytes, valid and a pad", "bf16", {{24, 64, -1, -8, 9, 63, true}}, 40, 128, 136},
      {"aligned to 16 bytes, bytes with a pad",
       "f8E4M3FN",
       {{16, 128, 0, 0, 16, 101, true}},
       31,
       208,
       208},
      {"aligned to 16 bytes, f32 with a pad", "f32", {{16, 40, 0, 0, 5, 33, true}}, 30, 80, 80},
  };
  return all;
}

uint32_t sizeOf(const std::string &type) {
  return type == "bf16" ? 2 : type == "f32" ? 4 : 1;
}
uint32_t oneOf(const std::string &type) {
  return type == "bf16" ? 0x3f80 : type == "f32" ? 0x3f800000 : 0x38;
}

//===--- The kernel -------------------------------------------------------===//

template <typename... T> std::string str(const T &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// The ops of one copy. %i and %j are the tile's place in the grid.
std::string copyText(size_t number, const Tile &tile, const std::string &type,
                     const std::string &slot) {
  std::ostringstream out;
  auto constant = [&](const char *name, auto value, const std::string &of) {
    out << "%" << name << number << " = arith.constant " << value << " : " << of
        << "\n";
    return str("%", name, number);
  };
  auto offset = [&](const char *index, int extent, int shift) {
    std::string i(index), n = std::to_string(number);
    std::string by = constant(("extent_" + i).c_str(), extent, "index");
    std::string more = constant(("offset_" + i).c_str(), shift, "index");
    out << "%scaled_" << i << n << " = arith.muli %" << i << ", " << by
        << " : index\n"
        << "%at_" << i << n << " = arith.addi %scaled_" << i << n << ", "
        << more << " : index\n";
    return str("%at_", i, n);
  };
  std::string at = offset("i", tile.rows, tile.rowOffset) + ", " +
                   offset("j", tile.columns, tile.columnOffset);
  std::string clauses;
  if (tile.validRows >= 0)
    clauses += " valid(" + constant("valid_i", tile.validRows, "index") + ", " +
               constant("valid_j", tile.validColumns, "index") + ")";
  if (tile.padsWithOne)
    clauses += " pad(" + constant("pad", "1.0", type) + " : " + type + ")";
  out << "mk_sm.copy %a[" << at << "]" << clauses << " to %slot[" << number
      << "] : memref<?x?x" << type << ">, " << slot << "\n";
  return out.str();
}

std::string kernelText(const Case &c) {
  std::string type = c.type, tiles, copies;
  for (const Tile &tile : c.tiles)
    tiles += str(tiles.empty() ? "" : ", ", "tensor<", tile.rows, "x",
                 tile.columns, "x", type, ">");
  std::string ring = str("!mk_sm.ring<", kDepth, ", ", tiles, ">");
  std::string slot = str("!mk_sm.slot<", tiles, ">");
  for (size_t i = 0; i < c.tiles.size(); ++i)
    copies += copyText(i, c.tiles[i], type, slot);
  std::string loops =
      "scf.for %i = %c0 to %ci step %c1 { scf.for %j = %c0 to %cj step %c1 {\n";
  return str(
      "mk.mesh @mesh (gpu = 1 via link)\n"
      "mk.kernel @t on @mesh dims(uniform M, uniform N) (in %a : memref<?x?x",
      type,
      "> [M, N]) {\n"
      "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
      "%ci = arith.constant ",
      c.gridRows,
      " : index\n"
      "%cj = arith.constant ",
      c.gridColumns,
      " : index\n"
      "mk.role @r ctas(rest) {\n%ring = mk_sm.create_ring : ",
      ring,
      "\n"
      "mk_sm.partition producer warps(1) registers(40) {\n",
      loops, "%slot = mk_sm.acquire %ring : ", ring, " -> ", slot, "\n", copies,
      "mk_sm.commit %ring, %slot : ", ring, ", ", slot,
      "\n} } }\n"
      "mk_sm.partition consumer warps(8) registers(232) {\n",
      loops, "%slot = mk_sm.wait %ring : ", ring, " -> ", slot,
      "\n"
      "mk_sm.release %ring : ",
      ring, "\n} } } } }\n");
}

/// Which code runs, and whether there are tensor maps.
struct Way {
  const char *variant;
  bool maps;
};

std::vector<Way> waysOf(const Case &c) {
  bool possible = c.columnStride == 1 && uint64_t(c.rowStride) * sizeOf(c.type) % 16 == 0 &&
                  uint64_t(c.start) * sizeOf(c.type) % 16 == 0;
  std::vector<Way> ways = {{"any-strides", false}};
  if (possible)
    ways.insert(ways.end(), {{"any-strides", true}, {"tensor-maps", true}});
  return ways;
}

std::string compile(const std::string &mkOpt, const Case &c, const char *variant) {
  char folder[] = "/tmp/mk-copies-XXXXXX";
  if (!mkdtemp(folder))
    throw Error("no temporary folder could be made");
  std::string base = folder, in = base + "/kernel.mlir",
              out = base + "/kernel.ptx";
  std::ofstream(in) << kernelText(c);
  std::string command = "'" + mkOpt +
                        "' --target=sm_90a --emit=ptx --gpus=1 --variant=" + variant + " '" + in +
                        "' -o '" + out + "'";
  int status = std::system(command.c_str());
  std::ifstream file(out);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string &path : {in, out, base})
    std::remove(path.c_str());
  if (status)
    throw Error("mk-opt fails");
  return text;
}

//===--- The run ----------------------------------------------------------===//

class Run {
public:
  Run(const Case &c, bool maps, uint64_t seed)
      : case_(c), maps_(maps), size_(sizeOf(c.type)) {
    Random random(seed);
    size_t count = size_t((c.rows - 1) * c.rowStride +
                          (c.columns - 1) * c.columnStride + 1);
    argument_.resize(count * size_);
    for (uint8_t &byte : argument_)
      byte = uint8_t(random.below(256));
    state_.resize(4096);
  }

  std::string run(const std::string &ptx, uint64_t seed) {
    Launch launch;
    launch.program = std::make_shared<Program>(Program::parse(ptx));
    launch.threads = launch.program->threads;
    launch.sharedBytes = 232448;
    uint64_t base = kArgument + uint64_t(case_.start) * size_;
    launch.memory = {{base, argument_.size(), argument_.data()},
                     {kState, state_.size(), state_.data()}};
    launch.params = parameters(launch.program->paramBytes, base);
    std::vector<std::vector<Stage>> ranks(1);
    ranks[0].push_back({std::make_shared<Launch>(launch), nullptr, {}, false});
    Machine machine(ranks, seed);
    // Barriers that say that a slot is full lie behind the slots.
    machine.onPhase = [&](Cta &cta, const MBarrier &barrier) {
      uint32_t first = kSharedBase + kDepth * slotBytes();
      if (barrier.address >= first && barrier.address < first + 8 * kDepth)
        compare(cta, (barrier.address - first) / 8, barrier.arrived.shared);
    };
    machine.run();
    int slots = case_.gridRows * case_.gridColumns;
    if (slots_ != slots)
      throw Error(std::to_string(slots_) + " of " + std::to_string(slots) +
                  " slots have come");
    return std::to_string(size_t(slots) * case_.tiles.size()) + " tiles, " +
           std::to_string(elements_) + " elements, " +
           std::to_string(existing_) + " of the argument";
  }

private:
  std::vector<uint8_t> parameters(uint32_t bytes, uint64_t base) {
    std::vector<uint8_t> params(bytes);
    int64_t words[] = {case_.rows,        case_.columns, int64_t(base),
                       case_.rows,        case_.columns, case_.rowStride,
                       case_.columnStride};
    mkernel::abi::GpuParamCounts counts;
    counts.dims = 2;
    counts.argRanks = {2};
    size_t behindMaps = size_t(mkernel::abi::layOutGpuParams(counts).bytes);
    counts.tensorMaps = (bytes - behindMaps) / MK_GPU_TENSOR_MAP_BYTES;
    mkernel::abi::GpuParamLayout layout = mkernel::abi::layOutGpuParams(counts);
    mk_gpu_launch header = {};
    header.control = kState;
    header.report = kState + 256;
    header.zero = kState + 512;
    header.deadline_ns = uint64_t(1) << 40;
    header.world = header.num_ctas = 1;
    // One for each tile, or for tiles of as many rows.
    for (size_t i = 0; maps_ && i < counts.tensorMaps; ++i) {
      TensorMap map;
      map.magic = TensorMap::kMagic;
      map.bytes = uint8_t(size_);
      map.rank = 2;
      map.swizzle = 3;
      map.address = base;
      map.extents[0] = uint64_t(case_.columns);
      map.extents[1] = uint64_t(case_.rows);
      map.strides[0] = uint64_t(case_.rowStride) * size_;
      map.box[0] = uint16_t(kChunk / size_);
      map.box[1] = uint16_t(case_.tiles[i].rows);
      std::memcpy(params.data() + i * MK_GPU_TENSOR_MAP_BYTES, &map, sizeof(map));
      header.maps_valid |= uint64_t(1) << i;
    }
    std::memcpy(params.data() + layout.launch, &header, sizeof(header));
    std::memcpy(params.data() + layout.dims, words, sizeof(words));
    return params;
  }

  /// All tiles of what has come into a slot. Chunks of 128 bytes of each row, slots of
  /// whole 1024 bytes, as the copy engine lays them out.
  void compare(Cta &cta, uint32_t stage, uint64_t view) {
    uint32_t start = kSharedBase + stage * slotBytes();
    // The engine may fill one slot before another.
    int slot = int(stage + kDepth * rounds_[stage]++);
    int i = slot / case_.gridColumns, j = slot % case_.gridColumns;
    ++slots_;
    for (const Tile &tile : case_.tiles) {
      for (int row = 0; row < tile.rows; ++row)
        for (int column = 0; column < tile.columns; ++column) {
          uint32_t offset = uint32_t(column) * size_;
          uint32_t at =
              start +
              (offset / kChunk * uint32_t(tile.rows) + uint32_t(row)) * kChunk +
              (offset % kChunk ^ uint32_t(row) % 8 * 16);
          uint32_t got = 0,
                   want = expect(tile, row, column,
                                 i * tile.rows + tile.rowOffset + row,
                                 j * tile.columns + tile.columnOffset + column);
          cta.readShared(at, &got, size_, view);
          if (got != want)
            throw Error("slot " + std::to_string(slot) + ", row " +
                        std::to_string(row) + ", column " +
                        std::to_string(column) + " is " + std::to_string(got) +
                        " and should be " + std::to_string(want));
          ++elements_;
        }
      start += tileBytes(tile);
    }
  }
  uint32_t slotBytes() const {
    uint32_t bytes = 0;
    for (const Tile &tile : case_.tiles)
      bytes += tileBytes(tile);
    return (bytes + 1023) / 1024 * 1024;
  }
  uint32_t tileBytes(const Tile &tile) const {
    return uint32_t(tile.rows) *
           ((uint32_t(tile.columns) * size_ + kChunk - 1) / kChunk * kChunk);
  }
  uint32_t expect(const Tile &tile, int row, int column, int sourceRow,
                  int sourceColumn) {
    bool valid = tile.validRows < 0 ||
                 (row < tile.validRows && column < tile.validColumns);
    if (!valid || sourceRow < 0 || sourceRow >= case_.rows ||
        sourceColumn < 0 || sourceColumn >= case_.columns)
      return tile.padsWithOne ? oneOf(case_.type) : 0;
    ++existing_;
    uint32_t value = 0;
    std::memcpy(&value,
                argument_.data() + size_t(sourceRow * case_.rowStride +
                                          sourceColumn * case_.columnStride) *
                                       size_,
                size_);
    return value;
  }

  const Case &case_;
  bool maps_;
  uint32_t size_;
  std::vector<uint8_t> argument_, state_;
  int slots_ = 0;
  uint32_t rounds_[kDepth] = {}; // of each slot of the ring
  size_t elements_ = 0, existing_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: ptx-copies MK_OPT\n", stderr);
    return 2;
  }
  int failed = 0;
  for (const Case &c : cases()) {
    std::vector<Way> ways = waysOf(c);
    std::string text;
    for (const Way &way : ways)
      try {
        std::string ptx = compile(argv[1], c, way.variant);
        for (uint64_t seed = 1; seed <= 8; ++seed)
          text = Run(c, way.maps, seed).run(ptx, seed);
      } catch (const Error &error) {
        text = std::string("FAILED in variant ") + way.variant +
               (way.maps ? " with tensor maps: " : ": ") + error.what();
        failed = 1;
        break;
      }
    std::printf("%s: %s, %zu ways\n", c.name, text.c_str(), ways.size());
  }
  return failed;
}
