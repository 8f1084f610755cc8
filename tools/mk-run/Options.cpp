//===- Options.cpp - The command line of mk-run ---------------------------===//

#include "Options.h"

#include "CommandLine.h"
#include "SelfTest.h"

#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Runtime/Transport.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>

using namespace mk::run;
using namespace mk::rt;
namespace options = mkernel::options;

namespace {

constexpr const char *kHead = R"(Runs a kernel as all ranks of a job on this machine, or as one rank of a job
that torchrun, mpirun or srun has started.

usage: mk-run FILE [options]
       mk-run --selftest [options]

FILE is a kernel (.mlir) or a package (mk-opt --emit=package).
)";

// What begins with spaces is a line of its own.
constexpr const char *kTolerance =
    "compares all outputs with the kernel's reference, evaluated in double precision. An "
    "element passes when"
    "\n  |error| <= F * (eps(out) * max(|ref|, min(out))"
    "\n    + 4 * (eps(mid) + sqrt(K) * 2^-23) * max(rms(ref), rms(row)))\n"
    "eps(mid): coarsest rounding of values on their way to this output, before the last "
    "one; K: terms of a sum; min(out): smallest normal number; row: along the last "
    "dimension; and the rms of all errors is at most"
    "\n  F * (eps(out) / 2 * max(rms(ref), min(out))"
    "\n    + (eps(mid) / 2 + sqrt(K) * 2^-23) * rms(ref)),\n"
    "twice that of fewer than 32 errors. Integers must be equal. Large outputs: 256 random "
    "rows and the borders of all shards; what was not written is looked for everywhere "
    "(docs/running.md)";

constexpr const char *kTail = R"(
examples
  mk-run ag_gemm.mlir --nodes 2 --gpus 4 --bind M=512,N=512,K=256 --check
  mk-run moe.mlir --kernel moe --gpus 4 --random topk_ids=-1:5 --seed 7 --check
      --bind T=100:80:0:33,CAP=100,H=64,I=96,E=6,K=2,ROWS=800
  mk-run gemm.mlir --target GPU --bind M=4096,N=4096,K=4096 --check
  mk-run ag_gemm.mlir --target GPU --gpus 2 --bind M=4096,N=4096,K=4096 --check
  mpirun -n 8 mk-run ag_gemm.mlir --node rank/4 --bind M=512,N=512,K=256 --check
  mk-run ag_gemm.mkpkg --in a=a.npy --in b=b.npy --out c=c.npy

exit status: 0 success, 1 failure (a wrong result, a lost rank, a deadline), 2
wrong usage.
)";

struct Parser : CommandLine {
  using Kind = options::Kind;
  using Option = options::Option;
  Options o;
  int64_t launches = 0, replays = 0; // 0: not given
  std::string transport;             // NAME[,OPTIONS]

  /// An option whose handler is a method.
  void add(std::string name, CommandLine::Kind kind, const char *value, const char *meaning,
           Status (Parser::*method)(const std::string &)) {
    CommandLine::add(std::move(name), kind, value, meaning,
                     [this, method](const std::string &v) { return (this->*method)(v); });
  }
  void files(std::string name, std::vector<NamedFile> &out, const char *meaning) {
    CommandLine::add(name, Value, "NAME=FILE.npy", meaning, [=, &out](const std::string &v) {
      size_t at = v.find('=');
      if (at == 0 || at == std::string::npos || at + 1 == v.size())
        return error(StatusCode::InvalidArgument, name, " ", v,
                     ": ARGUMENT=FILE.npy is needed");
      for (const NamedFile &other : out)
        if (other.name == v.substr(0, at))
          return error(StatusCode::InvalidArgument, name, " gives '", other.name, "' twice");
      out.push_back({v.substr(0, at), v.substr(at + 1)});
      return Status::success();
    });
  }

  // Rows of Options.def.
  static std::string nameOf(const Option &option) { return str("--", option.flag); }
  void row(const Option &option, std::string &out) {
    if (option.kind == Kind::Texts)
      CommandLine::add(nameOf(option), Value, option.value, option.meaning,
                       [&out](const std::string &v) {
                         out += (out.empty() ? "" : ",") + v;
                         return Status::success();
                       });
    else if (option.flag == std::string_view("transport"))
      once(nameOf(option), transport, option.value, option.meaning);
    else if (option.flag == std::string_view("loopback"))
      once(nameOf(option), o.loopback, option.value, option.meaning);
    else
      text(nameOf(option), out, option.value, option.meaning);
  }
  void row(const Option &option, bool &out) {
    flag(nameOf(option), out, option.meaning, option.kind == Kind::On);
  }
  void row(const Option &option, std::chrono::nanoseconds &out) {
    duration(nameOf(option), out, option.value, option.meaning);
  }
  void row(const Option &option, std::vector<DimValue> &) {
    add(nameOf(option), CommandLine::Value, option.value, option.meaning, &Parser::bind);
  }
  void row(const Option &option, std::vector<std::pair<std::string, std::string>> &) {
    add(nameOf(option), CommandLine::Value, option.value, option.meaning, &Parser::set);
  }
  template <std::integral T> void row(const Option &option, T &out) {
    bool any = option.flag == std::string_view("seed");
    bool few = option.flag == std::string_view("ranks-per-gpu");
    integer(nameOf(option), out, any ? 0 : 1, few ? 64 : option.most(), option.value,
            option.meaning);
  }
  template <typename T> void row(const Option &, T &) {} // no flag says what it is

  Parser() {
    auto compile = [&](bool sizes) {
      options::forEachCompileOption(
          [&](const Option &option, auto &field) {
            bool isSize = option.kind == Kind::Ranks || option.kind == Kind::Ctas ||
                          option.kind == Kind::Sizes;
            if (option.isInMkRun() && isSize == sizes)
              row(option, field);
          },
          o.compile);
    };
    auto run = [&](const Option &option, auto &field) {
      if (*option.flag)
        row(option, field);
    };
#define MK_ROW(kind, flag, value, meaning)                                                  \
  Option { Kind::kind, options::Tools::Run, "", flag, value, meaning }
    section("mesh and sizes");
    compile(true);
    section("as one rank (docs/jobs.md); MK_JOB_TOKEN holds the secret of a job of several hosts");
#define MK_JOB_OPTION(kind, field, c, flag, value, meaning)                                 \
  run(MK_ROW(kind, flag, value, meaning), o.job.field);
#include "mkernel/Options/Options.def"
    section("data");
    files("--in", o.inputs, "global value of an input (else random, by --seed)");
    add("--random", CommandLine::Value, "NAME=A:B",
        "an integer input is uniform from A to B (default 0:7)", &Parser::random);
    files("--out", o.outputs, "writes the global value of an output");
    add("--check", CommandLine::Optional, "", kTolerance, &Parser::check);
    help("--check=races",
         "looks for accesses that nothing orders, from a record of what all CTAs did; reports "
         "both, with roles, CTAs, regions and lines (.mlir and host target only; may be given "
         "beside --check)");
    help("--check=accesses",
         "the same, and prints a number of what all accesses have touched and seen: two "
         "kernels that have the same for the same inputs and do not race do the same");
    help("--check=each", "after every launch instead of the last (of ranks that mk-run itself "
                         "has started)");
    add("--tolerance", CommandLine::Value, "F,...",
        "factor in the formulas above (default 1); NAME=F: of one output",
        &Parser::tolerance);
    section("running");
    integer("--candidate", o.candidate, 1, MK_MAX_CANDIDATES, "N",
            "runs the Nth candidate of a package with several (--candidates), from 1; else all are "
            "measured first, and the fastest is run");
    integer("--launches", launches, 1, 1000000000, "N",
            "launches the kernel N times, with other random inputs each time; the last is "
            "checked (default 1)");
    integer("--graph", replays, 1, 1000000000, "N",
            "captures one launch into a graph and replays it N times, with other random "
            "inputs in the same place each time; the last is checked");
#define MK_LAUNCH_OPTION(kind, field, c, flag, value, meaning)                              \
  run(MK_ROW(kind, flag, value, meaning), o.launch.field);
#define MK_CONTEXT_OPTION(kind, field, c, flag, value, meaning)                             \
  run(MK_ROW(kind, flag, value, meaning), o.context.field);
#include "mkernel/Options/Options.def"
#undef MK_ROW
    duration("--delay", o.delay, "S",
             "before each launch one rank is late by up to S seconds; which and how much is "
             "drawn by --seed");
    add("--stats", CommandLine::Optional, "[=json]",
        "what was measured: bytes for each link, waits and times of roles (host), times of "
        "launches (GPU); json: one object on standard output, everything else on standard "
        "error", &Parser::stats);
    text("--timeline", o.timeline, "FILE.json",
         "what every role does on every CTA of every rank in the last launch, for "
         "ui.perfetto.dev, and a summary: how long roles wait, for what, and how much "
         "communication is hidden. A package has to be made with mk-opt --timeline");
    section("compiling (of a .mlir; a package has been)");
    compile(false);
#define MK_JIT_OPTION(kind, field, initial, key, c, tools, flag, value, meaning)            \
  run({Kind::kind, options::Tools::tools, key, flag, value, meaning}, o.compile.field);
#include "mkernel/Options/Options.def"
    section("self-tests");
    flag("--selftest", o.selfTest,
         "with or without FILE: tries the network or link between every two ranks (data behind its "
         "signal, latency, bandwidth), with a verdict for each, then a kernel in which all "
         "give their data to all");
    add("--corrupt", CommandLine::Value, "NAME[:I]",
        "changes element I of an output before --check compares it, which must then fail",
        &Parser::corrupt);
    integer("--pause-proxy", o.pauseProxy, 0, 65535, "RANK",
            "that rank's network proxy does nothing, so that waits pass their deadline");
    flag("--help", o.help, "");
    flag("-h", o.help, "");
    add("--internal-rank", CommandLine::Value, "", "", &Parser::rank);
  }

  static bool isNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  }

  Status bind(const std::string &v) {
    size_t at = 0;
    while (at <= v.size()) {
      size_t comma = std::min(v.find(',', at), v.size());
      std::string item = v.substr(at, comma - at);
      at = comma + 1;
      size_t equals = item.find('=');
      DimValue value;
      value.name = item.substr(0, equals);
      size_t from = equals == std::string::npos ? item.size() + 1 : equals + 1;
      while (from <= item.size()) {
        size_t colon = std::min(item.find(':', from), item.size());
        auto n = env::parseInt(item.substr(from, colon - from));
        if (!n && isNumber(item.substr(from, colon - from)))
          return error(StatusCode::InvalidArgument, "--bind ", item,
                       ": the value is too large; sizes are less than 2^63");
        if (!n || *n < 0)
          break;
        value.values.push_back(*n);
        from = colon + 1;
      }
      if (value.name.empty() || value.values.empty() || from <= item.size())
        return error(StatusCode::InvalidArgument, "--bind ", item,
                     ": NAME=VALUE is needed, VALUE at least 0, or NAME=VALUE:VALUE:... with one "
                     "value for each rank");
      for (const DimValue &other : o.compile.bind)
        if (other.name == value.name)
          return error(StatusCode::InvalidArgument, "--bind gives '",
                       value.name, "' twice");
      o.compile.bind.push_back(std::move(value));
    }
    return Status::success();
  }

  Status random(const std::string &v) {
    size_t equals = v.find('=');
    size_t colon = v.find(':', std::min(equals, v.size()));
    if (equals != 0 && equals != std::string::npos &&
        colon != std::string::npos) {
      auto low = env::parseInt(v.substr(equals + 1, colon - equals - 1));
      auto high = env::parseInt(v.substr(colon + 1));
      if (low && high && *low <= *high) {
        if (findRange(o, v.substr(0, equals)))
          return error(StatusCode::InvalidArgument, "--random gives '",
                       v.substr(0, equals), "' twice");
        o.random.push_back({v.substr(0, equals), *low, *high});
        return Status::success();
      }
    }
    return error(StatusCode::InvalidArgument, "--random ", v,
                 ": ARGUMENT=A:B with integers A <= B is needed",
                 v.find(',') == std::string::npos
                     ? ""
                     : "; give the option once for each argument");
  }

  Status set(const std::string &v) {
    for (size_t at = 0; at <= v.size();) {
      size_t comma = std::min(v.find(',', at), v.size());
      std::string item = v.substr(at, comma - at);
      at = comma + 1;
      size_t equals = item.find('=');
      if (equals == 0 || equals == std::string::npos ||
          !env::parseInt(item.substr(equals + 1)))
        return error(StatusCode::InvalidArgument, "--set ", item,
                     ": NAME=N is needed");
      for (const auto &other : o.compile.params)
        if (other.first == item.substr(0, equals))
          return error(StatusCode::InvalidArgument, "--set gives '",
                       other.first, "' twice");
      o.compile.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    }
    return Status::success();
  }

  Status check(const std::string &v) {
    if (!v.empty() && v != "each" && v != "last" && v != "races" &&
        v != "accesses")
      return error(StatusCode::InvalidArgument, "--check=", v,
                   ": each, last, races or accesses is possible");
    if (v == "races" || v == "accesses") {
      o.races = true;
      o.accesses |= v == "accesses";
      return Status::success();
    }
    o.check = true;
    o.checkEach = v == "each";
    return Status::success();
  }

  Status stats(const std::string &v) {
    if (!v.empty() && v != "json" && v != "text")
      return error(StatusCode::InvalidArgument, "--stats=", v,
                   ": json or text is possible");
    o.stats = v == "json" ? Options::Stats::Json : Options::Stats::Text;
    return Status::success();
  }

  Status corrupt(const std::string &v) {
    size_t colon = v.find(':');
    o.corrupt = v.substr(0, colon);
    if (colon == std::string::npos)
      return Status::success();
    auto n = env::parseInt(v.substr(colon + 1));
    if (!n || *n < 0)
      return error(StatusCode::InvalidArgument, "--corrupt ", v,
                   ": NAME or NAME:ELEMENT is needed");
    o.corruptIndex = *n;
    return Status::success();
  }

  Status tolerance(const std::string &v) {
    bool forAll = false;
    for (size_t at = 0; at <= v.size();) {
      size_t comma = std::min(v.find(',', at), v.size());
      std::string item = v.substr(at, comma - at);
      at = comma + 1;
      size_t equals = item.find('=');
      std::string text = equals == std::string::npos ? item : item.substr(equals + 1);
      char *end = nullptr;
      double factor = std::strtod(text.c_str(), &end);
      if (text.empty() || *end || !(factor > 0) || !std::isfinite(factor) ||
          equals == 0)
        return error(StatusCode::InvalidArgument, "--tolerance ", item,
                     ": a factor above 0 is needed, a number, or OUTPUT=FACTOR");
      std::string output = equals == std::string::npos ? "" : item.substr(0, equals);
      bool twice = output.empty() ? std::exchange(forAll, true)
                                  : std::any_of(
                                o.tolerances.begin(), o.tolerances.end(),
                                [&](const auto &known) { return known.first == output; });
      if (twice)
        return error(StatusCode::InvalidArgument, "--tolerance ", v, " has two factors for ",
                     output.empty() ? "all outputs" : str("'", output, "'"), ": give one");
      if (output.empty())
        o.toleranceFactor = factor;
      else
        o.tolerances.emplace_back(output, factor);
    }
    return Status::success();
  }

  Status rank(const std::string &v) {
    RankOptions &r = o.rank.emplace();
    if (std::sscanf(v.c_str(), "%u:%d:%d", &r.rank, &r.packageFd, &r.jobFd) !=
        3)
      return error(StatusCode::InvalidArgument,
                   "--internal-rank is for mk-run's own processes");
    return Status::success();
  }

  Status chooseTransport() {
    bool given = !transport.empty();
    if (!given)
      transport = env::get("MK_TRANSPORT").value_or("loopback");
    size_t comma = std::min(transport.find(','), transport.size());
    o.context.transport = transport.substr(0, comma);
    o.context.transportOptions = transport.substr(std::min(comma + 1, transport.size()));
    std::string_view what = given ? "--transport " : "MK_TRANSPORT=";
    if (o.context.transport != "loopback" && o.context.transport != "verbs" && o.context.transport != "efa")
      return error(StatusCode::InvalidArgument, what, transport,
                   ": loopback, verbs or efa is needed, with options behind a "
                   "comma, like verbs,qps=2");
    if (o.loopback.empty())
      return checkTransport(o.context.transport, o.context.transportOptions)
          .withContext(str(what, transport));
    if (o.context.transport != "loopback" || !o.context.transportOptions.empty())
      return error(StatusCode::InvalidArgument, "--loopback ", o.loopback,
                   ": it changes the emulated network, and ", what, transport,
                   " is given: put all options behind the transport's name");
    o.context.transportOptions = o.loopback;
    return checkTransport(o.context.transport, o.loopback)
        .withContext(str("--loopback ", o.loopback));
  }

  Status parse(int argc, char **argv) {
    auto file = [this](const std::string &name) {
      if (!o.file.empty())
        return error(StatusCode::InvalidArgument, "two files given: '", o.file, "' and '", name,
                     "'");
      o.file = name;
      return Status::success();
    };
    MK_TRY(read(argc, argv, file, o.given));
    if (o.selfTest) {
      o.check = true;
      if (o.file.empty()) {
        MK_ASSIGN(o.file, selfTestKernel());
      }
      if (o.compile.bind.empty())
        o.compile.bind.push_back({"M", {4099}});
    }
    if (o.file.empty() && !o.help)
      return error(StatusCode::InvalidArgument,
                   "no file given; a .mlir or a package is needed");
    if (launches && replays)
      return error(StatusCode::InvalidArgument,
                   "--launches and --graph exclude each other: both say how "
                   "often the kernel runs");
    MK_TRY(chooseTransport());
    o.launches = std::max<int64_t>({launches, replays, 1});
    o.graph = replays > 0;
    if (!o.help && !o.file.ends_with(".mlir")) {
      if (!o.compile.params.empty())
        return error(StatusCode::InvalidArgument, "--set ", o.compile.params[0].first,
                     ": parameters are compiled in: only a .mlir takes them");
      std::string late;
      options::forEachCompileOption([&](const Option &option) {
        if (option.tools == options::Tools::Source && late.empty() &&
            o.isGiven(nameOf(option)))
          late = nameOf(option);
      });
      if (!late.empty())
        return error(StatusCode::InvalidArgument, late,
                     ": a package has been compiled already: only a .mlir "
                     "takes it");
    }
    if (!o.corrupt.empty() && !o.check)
      return error(StatusCode::InvalidArgument,
                   "--corrupt is a self-test of --check and needs it");
    return Status::success();
  }
};

} // namespace

std::string mk::run::helpText() {
  std::string tail = kTail;
  constexpr std::string_view gpu = "--target GPU";
  for (size_t at; (at = tail.find(gpu)) != std::string::npos;)
    tail.replace(at, gpu.size(), str("--target ", rt::gpuTargets()[0].name));
  return kHead + Parser().helpText() + tail;
}

bool Options::isGiven(std::string_view flag) const {
  return std::find(given.begin(), given.end(), flag) != given.end();
}

double mk::run::toleranceOf(const Options &options, const std::string &output) {
  for (const auto &[name, factor] : options.tolerances)
    if (name == output)
      return factor;
  return options.toleranceFactor;
}

const IntegerRange *mk::run::findRange(const Options &options,
                                       const std::string &name) {
  for (const IntegerRange &range : options.random)
    if (range.name == name)
      return &range;
  return nullptr;
}

Result<Options> mk::run::parseOptions(int argc, char **argv) {
  Parser parser;
  MK_TRY(parser.parse(argc, argv));
  return std::move(parser.o);
}

Result<std::vector<NamedSize>> mk::run::axisSizes(const Options &options,
                                                  const Metadata &metadata) {
  std::vector<NamedSize> sizes;
  for (const DimValue &b : options.compile.bind) {
    bool known = false;
    std::string names;
    for (const auto &axis : metadata.mesh) {
      names += str(names.empty() ? "" : ", ", axis.name);
      if (axis.name != b.name)
        continue;
      known = true;
      if (b.values.size() != 1 || b.values[0] < 1)
        return error(StatusCode::InvalidArgument, "--bind ", b.name,
                     ": a mesh axis takes one size of at least 1");
      sizes.push_back({b.name, b.values[0]});
    }
    for (const auto &dim : metadata.dims) {
      names += str(names.empty() ? "" : ", ", dim.name);
      known |= dim.name == b.name;
    }
    if (!known)
      return error(StatusCode::InvalidArgument, "--bind ", b.name, ": kernel '",
                   metadata.kernel,
                   "' has no such dimension or mesh axis; it "
                   "has ",
                   names.empty() ? "none" : names);
  }
  return sizes;
}
