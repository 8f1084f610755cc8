//===- Options.h - Options, one by one --------------------------*- C++ -*-===//
//
// What Options.def says, for code that treats all options alike. Plain C++; used on
// both sides of the JIT's interface.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_OPTIONS_OPTIONS_H
#define MKERNEL_OPTIONS_OPTIONS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mkernel::options {

enum class Kind {
  Text,
  Texts,
  Ranks,
  Ctas,
  Candidates,
  Number,
  Duration,
  On,
  Off,
  Sizes,
  Params,
  Handle
};
enum class Tools { None, Opt, Run, Both, Source };

/// Bytes of the largest file of kernels that is compiled: one has some KiB, and the parser takes
/// minutes for more than this.
constexpr size_t kMostSourceBytes = 256 << 20;

/// A row of Options.def.
struct Option {
  Kind kind = {};
  Tools tools = {};
  const char *key = "", *flag = "", *value = "", *meaning = "";

  bool isInMkOpt() const { return *flag && tools != Tools::None && tools != Tools::Run; }
  bool isInMkRun() const { return *flag && tools != Tools::None && tools != Tools::Opt; }
  /// Largest value of a kind that has one; the least is 1.
  int64_t most() const {
    return kind == Kind::Ranks        ? 65536
           : kind == Kind::Ctas       ? 65534
           : kind == Kind::Candidates ? 64
                                      : INT64_MAX;
  }
  /// What to say of a value that is less or more.
  std::string outOfRange(int64_t given) const {
    return std::string("--") + flag + "=" + std::to_string(given) + " is not between 1 and " +
           std::to_string(most());
  }
};

/// The rows of what the compiler is told, by their fields.
namespace row {
#define MK_COMPILE_OPTION(kind, field, initial, key, c, tools, flag, value, meaning)        \
  inline constexpr Option field{Kind::kind, Tools::tools, key, flag, value, meaning};
#define MK_EMIT_OPTION MK_COMPILE_OPTION
#include "mkernel/Options/Options.def"
} // namespace row

/// What code is made: the compile options of Options.def. `SizesOf` holds values of
/// dimensions and mesh axes by name, `ParamsOf` those of parameters.
template <typename SizesOf, typename ParamsOf = std::vector<std::pair<std::string, std::string>>>
struct Compile {
  using Text = std::string;
  using Texts = std::string; // joined by commas
  using Ranks = int64_t; // 0: not given
  using Ctas = int64_t;  // 0: the target's number
  using Candidates = int64_t; // 0: none
  using On = bool;
  using Off = bool;
  using Sizes = SizesOf;
  using Params = ParamsOf;
#define MK_COMPILE_OPTION(kind, field, initial, key, c, tools, flag, value, meaning)        \
  kind field = initial;
#include "mkernel/Options/Options.def"
};

/// fn(option, field of each of `structs`...) for each compile option.
template <typename Fn, typename... Structs>
void forEachCompileOption(Fn &&fn, Structs &&...structs) {
#define MK_COMPILE_OPTION(kind, field, initial, key, c, tools, flag, value, meaning)        \
  fn(Option{Kind::kind, Tools::tools, key, flag, value, meaning}, structs.field...);
#include "mkernel/Options/Options.def"
}

} // namespace mkernel::options

#endif // MKERNEL_OPTIONS_OPTIONS_H
