//===- Products.cpp - wgmma, one op for each warp of a group --------------===//

#include "Numbers.h"
#include "Table.h"
#include "TensorMap.h"

using namespace mk::ptx;

namespace {

enum Type : uint8_t { kBf16, kF16, kTf32, kE4m3, kE5m2 };
uint32_t bytesOf(Type type) {
  return type == kTf32 ? 4 : type == kBf16 || type == kF16 ? 2 : 1;
}
constexpr uint32_t kRun = 32; // bytes along K of an instruction

/// Where a descriptor says an operand lies.
struct Tile {
  uint32_t start, lead, stride, swizzle;
  Type type;
  bool transposed; // rows of K

  Tile(uint64_t descriptor, Type type, bool transposed)
      : start(uint32_t(descriptor & 0x3fff) << 4),
        lead(uint32_t(descriptor >> 16 & 0x3fff) << 4),
        stride(uint32_t(descriptor >> 32 & 0x3fff) << 4),
        swizzle(uint32_t(4 - (descriptor >> 62)) & 3), type(type),
        transposed(transposed) {
    if (descriptor >> 49 & 7)
      throw Error(
          "takes a descriptor with a base offset, which is not modelled");
    if (transposed && bytesOf(type) != 2)
      throw Error("transposes elements that are not of 16 bits");
  }

  /// The address of 16 bytes: the `chunk`th along K of row `row`, or, where
  /// the operand is transposed, rows from 8 * chunk on of element `row` of K.
  uint32_t at(uint32_t row, uint32_t chunk) const {
    uint32_t width =
        swizzle ? 16u << swizzle : 16u; // bytes of a row of an atom
    uint32_t linear;
    if (!transposed) {
      linear = start + row / 8 * stride + row % 8 * width +
               (swizzle ? chunk * 16 : chunk * lead);
    } else {
      uint32_t perAtom = width / 16;
      linear = start + row % 8 * width + chunk % perAtom * 16;
      linear += swizzle ? chunk / perAtom * lead + row / 8 * stride
                        : chunk * stride + row / 8 * lead;
    }
    return swizzled(linear, swizzle);
  }
};

float decodeOne(const uint8_t *from, Type type) {
  uint16_t half;
  uint32_t word;
  switch (type) {
  case kBf16:
    std::memcpy(&half, from, 2);
    return fromBf16(half);
  case kF16:
    std::memcpy(&half, from, 2);
    return fromF16(half);
  case kTf32:
    std::memcpy(&word, from, 4);
    return fromTf32(word);
  case kE4m3:
    return fromF8(*from, false);
  case kE5m2:
    return fromF8(*from, true);
  }
  return 0;
}

/// Reads rows [first, first + count) as floats, element e of row r to
/// to[r * perRow + e * perElement]; says what it read.
void readTile(Warp &warp, const Tile &tile, uint32_t first, uint32_t count,
              float *to, uint32_t perRow, uint32_t perElement,
              Product &product) {
  uint32_t size = bytesOf(tile.type), perChunk = 16 / size;
  uint32_t k = kRun / size;
  auto read = [&](uint32_t address, uint8_t *data) {
    warp.cta.readShared(address, data, 16, warp.view.shared);
    product.sectors.push_back(address / uint32_t(History::kSector));
  };
  uint8_t data[16];
  if (!tile.transposed) {
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t c = 0; c < 2; ++c) {
        read(tile.at(first + r, c), data);
        for (uint32_t i = 0; i < perChunk; ++i)
          to[r * perRow + (c * perChunk + i) * perElement] =
              decodeOne(data + i * size, tile.type);
      }
    return;
  }
  for (uint32_t row = 0; row < k; ++row)
    for (uint32_t c = first / 8; c < (first + count) / 8; ++c) {
      read(tile.at(row, c), data);
      for (uint32_t i = 0; i < 8; ++i)
        to[(c * 8 + i - first) * perRow + row * perElement] =
            decodeOne(data + i * 2, tile.type);
    }
}

void multiply(Warp &warp, const Instr &instr, uint32_t) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t accumulators = instr.vecs[0], n = accumulators * 2;
  Type typeA = Type(instr.code[0]), typeB = Type(instr.code[1]);
  bool fromRegisters = instr.vecs.size() > 1;
  const Operand *rest =
      ops + accumulators + (fromRegisters ? instr.vecs[1] : 1);
  // Behind the descriptor of B: predicate, signs, then what is transposed.
  uint32_t flags = uint32_t(instr.ops.data() + instr.ops.size() - rest) - 4;
  bool transposedA = !fromRegisters && flags > 1 && rest[4].imm;
  bool transposedB = flags > 0 && rest[fromRegisters ? 4 : 5].imm;
  if (rest[2].imm != 1 || rest[3].imm != 1)
    throw Error("negates an operand, which is not modelled");
  bool adds = warp.value(rest[1], 0) & 1;

  Product product;
  product.time = warp.machine.now;
  uint32_t k = kRun / bytesOf(typeA);
  float a[16 * 32], b[256 * 32];
  if (!fromRegisters) {
    readTile(warp, Tile(warp.value(ops[accumulators], 0), typeA, transposedA),
             warp.number % 4 * 16, 16, a, k, 1, product);
  } else {
    uint32_t perWord = 4 / bytesOf(typeA);
    forLanes(~0u, [&](uint32_t lane) {
      for (uint32_t i = 0; i < 4; ++i) {
        uint32_t word = uint32_t(warp.value(ops[accumulators + i], lane));
        uint32_t row = lane / 4 + i % 2 * 8;
        uint32_t column = (lane % 4 + i / 2 * 4) * perWord;
        for (uint32_t e = 0; e < perWord; ++e)
          a[row * k + column + e] = decodeOne(
              reinterpret_cast<uint8_t *>(&word) + e * bytesOf(typeA), typeA);
      }
    });
  }
  readTile(warp, Tile(warp.value(rest[0], 0), typeB, transposedB), 0, n, b, 1,
           n, product);
  // In a tile of the warp's rows, where the inner loop is many alike.
  float sums[16 * 256];
  auto place = [&](uint32_t i, uint32_t lane) {
    uint32_t row = lane / 4 + i / 2 % 2 * 8;
    return row * n + lane % 4 * 2 + i % 2 + i / 4 * 8;
  };
  for (uint32_t i = 0; i < accumulators; ++i) {
    const float *from = warp.registerOf<float>(ops[i]);
    for (uint32_t lane = 0; lane < 32; ++lane)
      sums[place(i, lane)] = adds ? from[lane] : 0;
  }
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t e = 0; e < k; ++e) {
      float left = a[row * k + e];
      for (uint32_t column = 0; column < n; ++column)
        sums[row * n + column] += left * b[e * n + column];
    }
  for (uint32_t i = 0; i < accumulators; ++i) {
    float *to = warp.registerOf<float>(ops[i]);
    for (uint32_t lane = 0; lane < 32; ++lane)
      to[lane] = sums[place(i, lane)];
    warp.inFlight[ops[i].index >> 5] = warp.commits + 1;
  }
  warp.products.push_back(std::move(product));
  warp.machine.changed();
}

void commit(Warp &warp, const Instr &, uint32_t) {
  warp.committed.push_back(std::move(warp.products));
  warp.products.clear();
  ++warp.commits;
}

void wait(Warp &warp, const Instr &instr, uint32_t) {
  uint64_t but = warp.value(instr.ops[instr.b - 1], 0);
  // A product is one of four warps: it ends when all of them have begun it.
  uint64_t needed = warp.commits > but ? warp.commits - but : 0;
  for (uint32_t w = warp.number / 4 * 4; w < warp.number / 4 * 4 + 4; ++w)
    if (w < warp.cta.warps.size() && warp.cta.warps[w]->live &&
        warp.cta.warps[w]->commits < needed)
      return warp.again();
  while (warp.committed.size() > but) {
    for (const Product &product : warp.committed.front())
      for (uint32_t sector : product.sectors)
        if (warp.cta.written[sector] > product.time)
          throw Error("shared memory at " +
                      std::to_string(sector * History::kSector) +
                      " was written while a wgmma might read it");
    warp.committed.pop_front();
    ++warp.retired;
  }
}

void noProduct(Warp &, const Instr &, uint32_t) {}

void storeMatrix(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  if (lanes != ~0u)
    throw Error("is not executed by the whole warp");
  for (uint32_t m = 0; m < instr.vecs[0]; ++m)
    for (uint32_t r = 0; r < 8; ++r) {
      uint32_t address = uint32_t(warp.address(ops[0], m * 8 + r));
      if (address % 16)
        throw Error("is misaligned");
      uint32_t data[4] = {};
      for (uint32_t c = 0; c < 8; ++c) {
        // Element (r, c) of the matrix, or (c, r), where the address is a column's.
        uint32_t row = instr.code[0] ? c : r, column = instr.code[0] ? r : c;
        auto word = uint32_t(warp.value(ops[1 + m], row * 4 + column / 2));
        data[c / 2] |= (word >> (16 * (column % 2)) & 0xffff) << (16 * (c % 2));
      }
      warp.cta.writeShared(address, data, 16, false);
    }
}

bool typeOf(const std::string &name, uint8_t &out) {
  const char *names[] = {"bf16", "f16", "tf32", "e4m3", "e5m2"};
  for (uint8_t i = 0; i < 5; ++i)
    if (name == names[i]) {
      out = i;
      return true;
    }
  return false;
}

} // namespace

bool mk::ptx::decodeProduct(Instr &instr) {
  const std::string &op = instr.opcode;
  instr.flow = Flow::Converge;
  if (startsWith(op, "wgmma.mma_async.sync.aligned.m64n")) {
    size_t second = op.rfind('.'), first = op.rfind('.', second - 1);
    instr.exec = multiply;
    instr.multiplies = true;
    return contains(op, ".f32.") &&
           typeOf(op.substr(first + 1, second - first - 1), instr.code[0]) &&
           typeOf(op.substr(second + 1), instr.code[1]);
  }
  if (op == "wgmma.commit_group.sync.aligned") {
    instr.exec = commit;
  } else if (op == "wgmma.wait_group.sync.aligned") {
    instr.exec = wait;
    instr.orders = Orders::Group;
  } else if (op == "wgmma.fence.sync.aligned") {
    instr.exec = noProduct;
  } else if (startsWith(op, "stmatrix.sync.aligned.m8n8.x") &&
             contains(op, ".shared.b16")) {
    instr.code[0] = contains(op, ".trans");
    instr.exec = storeMatrix;
  } else {
    return false;
  }
  return true;
}
