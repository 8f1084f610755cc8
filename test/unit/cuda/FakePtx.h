//===- FakePtx.h - Executes small PTX kernels, thread by thread -*- C++ -*-===//
//
// The text of the runtime's own kernels (runtime/device/cuda) as a GPU would execute
// it, so that a machine without one tests what they compute. Knows the instructions
// that those use, and no memory but global and parameters; what else a text has is
// refused when it is loaded.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_UNIT_CUDA_FAKEPTX_H
#define MKERNEL_TEST_UNIT_CUDA_FAKEPTX_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace mk::rt::test {

/// A finite number with few exponent and mantissa bits, rounded to nearest even.
inline uint32_t roundedBits(float value, int exponentBits, int mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1, exponent = 0;
  std::frexp(value, &exponent);
  exponent = value == 0 ? 1 - bias : std::max(exponent - 1, 1 - bias);
  auto units = uint32_t(
      std::nearbyint(std::ldexp(std::fabs(double(value)), mantissaBits - exponent)));
  return uint32_t(std::signbit(value)) << (exponentBits + mantissaBits) |
         (units + (uint32_t(exponent + bias - 1) << mantissaBits));
}

class FakePtx {
public:
  /// Null when it is not such a kernel.
  static std::unique_ptr<FakePtx> parse(const std::string &text) {
    auto kernel = std::make_unique<FakePtx>();
    std::istringstream lines(text);
    std::string line;
    std::map<std::string, size_t> labels;
    bool body = false;
    while (std::getline(lines, line)) {
      line = line.substr(0, line.find("//"));
      std::istringstream words(line);
      std::string word;
      if (!(words >> word))
        continue;
      if (word == ".visible") {
        // .visible .entry NAME(.param .align 8 .b8 PARAM[BYTES])
        size_t open = line.find('('), name = line.rfind(' ', open);
        size_t from = line.find('['), to = line.find(']');
        if (open == std::string::npos || from == std::string::npos)
          return nullptr;
        size_t param = line.rfind(' ', from) + 1;
        kernel->param = line.substr(param, from - param);
        kernel->name = line.substr(name + 1, open - name - 1);
        kernel->params = std::stoul(line.substr(from + 1, to - from - 1));
        body = true;
      } else if (word[0] == '.' || word == "{" || word == "}") {
        continue;
      } else if (word.back() == ':') {
        labels[word.substr(0, word.size() - 1)] = kernel->code.size();
      } else if (!body || !kernel->parseLine(line, word)) {
        return nullptr;
      }
    }
    for (Instruction &one : kernel->code)
      if (!one.label.empty()) {
        if (!labels.count(one.label))
          return nullptr;
        one.target = labels[one.label];
      }
    return body && !kernel->code.empty() ? std::move(kernel) : nullptr;
  }

  /// All threads of a grid of one dimension, in order.
  void run(const void *arguments, uint32_t ctas, uint32_t threads) {
    Registers r(names.size());
    auto set = [&](const char *name, uint64_t value) { r[registerOf(name)] = value; };
    for (const char *name : {"%ctaid.x", "%ntid.x", "%tid.x", "%nctaid.x", param.c_str()})
      registerOf(name);
    r.resize(names.size());
    for (uint32_t cta = 0; cta < ctas; ++cta)
      for (uint32_t thread = 0; thread < threads; ++thread) {
        set("%ctaid.x", cta);
        set("%ntid.x", threads);
        set("%tid.x", thread);
        set("%nctaid.x", ctas);
        set(param.c_str(), reinterpret_cast<uint64_t>(arguments));
        for (size_t at = 0; at < code.size();) {
          const Instruction &one = code[at++];
          if (one.guarded && !r[one.guard])
            continue;
          if (one.ends)
            break;
          if (one.label.empty())
            one.execute(r, one.operands);
          else
            at = one.target;
        }
      }
  }

  std::string name;
  size_t params = 0; // bytes
  /// Loads from global memory outside of this are counted.
  static inline std::pair<uint64_t, uint64_t> readable{0, ~uint64_t(0)};
  static inline int strayReads = 0;

private:
  using Registers = std::vector<uint64_t>;
  struct Operand {
    bool isRegister = false;
    uint64_t value = 0, offset = 0; // index, or the number; offset of an address
    uint64_t in(const Registers &r) const {
      return (isRegister ? r[value] : value) + offset;
    }
  };
  using Operands = std::vector<Operand>;
  using Execute = std::function<void(Registers &, const Operands &)>;
  struct Instruction {
    bool guarded = false, ends = false;
    size_t guard = 0, target = 0;
    std::string label;
    Execute execute;
    Operands operands;
  };

  size_t registerOf(const std::string &text) {
    return names.emplace(text, names.size()).first->second;
  }

  Operand operandOf(std::string text) {
    Operand operand;
    if (text[0] == '[') {
      text = text.substr(1, text.size() - 2);
      if (size_t plus = text.find('+'); plus != std::string::npos) {
        operand.offset = std::stoull(text.substr(plus + 1));
        text = text.substr(0, plus);
      }
    }
    if (text[0] == '%' || text == param) {
      operand.isRegister = true;
      operand.value = registerOf(text);
    } else if (text.starts_with("0f") || text.starts_with("0d")) {
      operand.value = std::stoull(text.substr(2), nullptr, 16);
    } else {
      operand.value = std::stoull(text, nullptr, 0);
    }
    return operand;
  }

  bool parseLine(const std::string &line, std::string word) {
    Instruction one;
    std::string rest = line.substr(line.find(word) + word.size());
    if (word[0] == '@') {
      one.guarded = true;
      one.guard = registerOf(word.substr(1));
      std::istringstream words(rest);
      words >> word;
      rest = rest.substr(rest.find(word) + word.size());
    }
    size_t end = word.find(';');
    one.ends = word.substr(0, end) == "ret";
    rest = rest.substr(0, rest.find(';'));
    if (word == "bra") {
      std::istringstream(rest) >> one.label;
    } else if (!one.ends) {
      one.execute = find(word.substr(0, end));
      if (!one.execute)
        return false;
      for (char &c : rest)
        c = c == ',' || c == '{' || c == '}' ? ' ' : c;
      std::istringstream words(rest);
      for (std::string text; words >> text;)
        one.operands.push_back(operandOf(text));
    }
    code.push_back(std::move(one));
    return true;
  }

  template <typename T, typename Fn> static Execute binary(Fn fn) {
    return [fn](Registers &r, const Operands &o) {
      r[o[0].value] = uint64_t(fn(T(o[1].in(r)), T(o[2].in(r))));
    };
  }
  template <typename Fn> static Execute unary(Fn fn) {
    return [fn](Registers &r, const Operands &o) {
      r[o[0].value] = uint64_t(fn(o[1].in(r)));
    };
  }
  static void expectReadable(uint64_t address, size_t bytes) {
    strayReads += address < readable.first || address + bytes > readable.second;
  }
  static Execute loadByte() {
    return [](Registers &r, const Operands &o) {
      expectReadable(o[1].in(r), 1);
      r[o[0].value] = *reinterpret_cast<const uint8_t *>(o[1].in(r));
    };
  }
  template <typename T> static Execute load() {
    return [](Registers &r, const Operands &o) {
      T value;
      std::memcpy(&value, reinterpret_cast<const void *>(o[1].in(r)), sizeof(T));
      r[o[0].value] = value;
    };
  }
  static Execute loadFour() {
    return [](Registers &r, const Operands &o) {
      uint32_t words[4];
      expectReadable(o[4].in(r), sizeof(words));
      std::memcpy(words, reinterpret_cast<const void *>(o[4].in(r)), sizeof(words));
      for (int i = 0; i < 4; ++i)
        r[o[i].value] = words[i];
    };
  }
  static Execute storeFour() {
    return [](Registers &r, const Operands &o) {
      uint32_t words[4];
      for (int i = 0; i < 4; ++i)
        words[i] = uint32_t(o[i + 1].in(r));
      std::memcpy(reinterpret_cast<void *>(o[0].in(r)), words, sizeof(words));
    };
  }
  template <typename T> static Execute store() {
    return [](Registers &r, const Operands &o) {
      T value = T(o[1].in(r));
      std::memcpy(reinterpret_cast<void *>(o[0].in(r)), &value, sizeof(T));
    };
  }
  /// Of the upper and the lower element of a pair.
  template <typename Fn> static Execute pair(Fn fn) {
    return [fn](Registers &r, const Operands &o) {
      auto one = [&](size_t i) {
        return uint64_t(fn(std::bit_cast<float>(uint32_t(o[i].in(r)))));
      };
      r[o[0].value] = one(1) << 8 | one(2);
    };
  }
  template <typename Fn> static Execute rounded(Fn fn) {
    return unary([fn](uint64_t v) { return fn(std::bit_cast<float>(uint32_t(v))); });
  }

  static Execute find(const std::string &op) {
    using U = uint64_t;
    using W = uint32_t;
    static const std::map<std::string, Execute> known = {
        {"mov.u32", unary([](U v) { return W(v); })},
        {"mov.b32", unary([](U v) { return W(v); })},
        {"mov.f32", unary([](U v) { return W(v); })},
        {"mov.u64", unary([](U v) { return v; })},
        {"mov.b64", unary([](U v) { return v; })},
        {"cvt.u64.u32", unary([](U v) { return W(v); })},
        {"cvt.u32.u64", unary([](U v) { return W(v); })},
        {"cvt.u16.u32", unary([](U v) { return uint16_t(v); })},
        {"cvt.rn.f32.s32",
         unary([](U v) { return std::bit_cast<W>(float(int32_t(W(v)))); })},
        {"cvt.f64.f32",
         rounded([](float v) { return std::bit_cast<U>(double(v)); })},
        {"cvt.rn.f16.f32", rounded([](float v) { return roundedBits(v, 5, 10); })},
        {"cvt.rn.bf16.f32", rounded([](float v) { return roundedBits(v, 8, 7); })},
        {"cvt.rn.satfinite.e4m3x2.f32",
         pair([](float v) { return roundedBits(v, 4, 3); })},
        {"cvt.rn.satfinite.e5m2x2.f32",
         pair([](float v) { return roundedBits(v, 5, 2); })},
        {"mul.wide.u32", binary<W>([](W a, W b) { return U(a) * b; })},
        {"mul.lo.u64", binary<U>([](U a, U b) { return a * b; })},
        {"mul.hi.u64", binary<U>([](U a, U b) {
           return U(static_cast<unsigned __int128>(a) * b >> 64);
         })},
        {"mul.rn.f32", binary<W>([](W a, W b) {
           return std::bit_cast<W>(std::bit_cast<float>(a) * std::bit_cast<float>(b));
         })},
        {"mul.lo.u32", binary<W>([](W a, W b) { return W(a * b); })},
        {"div.u32", binary<W>([](W a, W b) { return W(a / b); })},
        {"shr.u32", binary<W>([](W a, W b) { return W(b < 32 ? a >> b : 0); })},
        {"shl.b32", binary<W>([](W a, W b) { return W(b < 32 ? a << b : 0); })},
        {"and.b32", binary<W>([](W a, W b) { return a & b; })},
        {"or.b32", binary<W>([](W a, W b) { return a | b; })},
        {"min.u64", binary<U>([](U a, U b) { return std::min(a, b); })},
        {"selp.b32",
         [](Registers &r, const Operands &o) {
           r[o[0].value] = o[3].in(r) ? o[1].in(r) : o[2].in(r);
         }},
        {"shf.r.wrap.b32",
         [](Registers &r, const Operands &o) {
           U both = o[2].in(r) << 32 | W(o[1].in(r));
           r[o[0].value] = W(both >> (o[3].in(r) & 31));
         }},
        {"div.u64", binary<U>([](U a, U b) { return a / b; })},
        {"add.u64", binary<U>([](U a, U b) { return a + b; })},
        {"sub.u64", binary<U>([](U a, U b) { return a - b; })},
        {"add.u32", binary<W>([](W a, W b) { return W(a + b); })},
        {"sub.u32", binary<W>([](W a, W b) { return W(a - b); })},
        {"shr.u64", binary<U>([](U a, U b) { return a >> b; })},
        {"shl.b64", binary<U>([](U a, U b) { return a << b; })},
        {"xor.b64", binary<U>([](U a, U b) { return a ^ b; })},
        {"and.b64", binary<U>([](U a, U b) { return a & b; })},
        {"setp.ge.u32", binary<W>([](W a, W b) { return a >= b; })},
        {"setp.ge.u64", binary<U>([](U a, U b) { return a >= b; })},
        {"setp.lt.u32", binary<W>([](W a, W b) { return a < b; })},
        {"setp.ne.u32", binary<W>([](W a, W b) { return a != b; })},
        {"setp.lt.u64", binary<U>([](U a, U b) { return a < b; })},
        {"setp.gt.u64", binary<U>([](U a, U b) { return a > b; })},
        {"setp.eq.u32", binary<W>([](W a, W b) { return a == b; })},
        {"ld.param.u32", load<W>()},
        {"ld.param.u64", load<U>()},
        {"ld.global.u8", loadByte()},
        {"ld.global.v4.b32", loadFour()},
        {"st.global.v4.b32", storeFour()},
        {"st.global.u8", store<uint8_t>()},
        {"st.global.u16", store<uint16_t>()},
        {"st.global.u32", store<W>()},
        {"st.global.u64", store<U>()},
        // Of one thread, in whose order all is.
        {"cvt.s64.s32", unary([](U v) { return int64_t(int32_t(v)); })},
        {"mad.lo.u32",
         [](Registers &r, const Operands &o) {
           r[o[0].value] = W(o[1].in(r) * o[2].in(r) + o[3].in(r));
         }},
        {"setp.eq.u64", binary<U>([](U a, U b) { return a == b; })},
        {"setp.ge.s32", binary<int32_t>([](int32_t a, int32_t b) { return a >= b; })},
        {"ld.global.u32", load<W>()},
        {"ld.global.u64", load<U>()},
        {"ld.relaxed.gpu.global.u32", load<W>()},
        {"ld.relaxed.sys.global.u32", load<W>()},
        {"ld.acquire.sys.global.u32", load<W>()},
        {"st.relaxed.gpu.global.u32", store<W>()},
        {"st.release.sys.global.u32", store<W>()},
        {"atom.relaxed.gpu.global.exch.b32",
         [](Registers &r, const Operands &o) {
           auto *word = reinterpret_cast<W *>(o[1].in(r));
           r[o[0].value] = std::exchange(*word, W(o[2].in(r)));
         }},
        {"red.release.sys.global.add.u32",
         [](Registers &r, const Operands &o) {
           *reinterpret_cast<W *>(o[0].in(r)) += W(o[1].in(r));
         }},
        {"griddepcontrol.launch_dependents", [](Registers &, const Operands &) {}},
        {"nanosleep.u32", [](Registers &, const Operands &) {}},
    };
    auto it = known.find(op);
    return it == known.end() ? nullptr : it->second;
  }

  std::string param; // its name
  std::map<std::string, size_t> names;
  std::vector<Instruction> code;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_CUDA_FAKEPTX_H
