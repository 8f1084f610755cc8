//===- Options.cpp - The command line of mk-run ---------------------------===//

#include "Options.h"

#include "SelfTest.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Transport.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

using namespace mk::run;
using namespace mk::rt;

const char *mk::run::helpText() {
  return R"(Runs a kernel as all ranks of a job on this machine, or as one rank of a job
that torchrun, mpirun or srun has started.

usage: mk-run FILE [options]
       mk-run --selftest [options]

FILE is a kernel (.mlir) or a package (mk-opt --emit=package).

mesh and sizes
  --nodes N             product of the mesh axes via net (emulated nodes)
  --gpus G              product of the mesh axes via link; a rank is a process;
                        axes that nothing gives a size have 1 rank
  --ranks-per-gpu N     up to N ranks take turns on a GPU: slow, to see whether results
                        are right where there are too few GPUs (default 1)
  --bind NAME=V,...     values of dimensions and mesh axes by name; a dimension
                        of its own on each rank takes V:V:..., rank by rank
  --grid N              CTAs of the kernel; a package has a fixed number
                        (default: on a GPU its number of SMs)

as one rank (docs/jobs.md)
  --job LAUNCHER        auto (default): whose variables are set; torchrun, mpirun,
                        srun: that one's; none: this starts all ranks (MK_JOB)
  --node K              number of this rank's node, rank/G for G ranks in a row:
                        emulates nodes on one machine (MK_NODE)
  --store HOST:PORT     where rank 0 listens (MK_STORE; default: the launcher says)
  --join-timeout S      seconds to wait for the other ranks (default 60)
                        MK_JOB_TOKEN holds the secret of a job of several hosts

data
  --in NAME=FILE.npy    global value of an input (else random, by --seed)
  --random NAME=A:B     an integer input is uniform from A to B (default 0:7)
  --out NAME=FILE.npy   writes the global value of an output
  --check               compares all outputs with the kernel's reference,
                        evaluated in double precision. An element passes when
                          |error| <= F * (eps(out) * max(|ref|, min(out))
                                 + 4 * (eps(mid) + sqrt(K) * 2^-23)
                                     * max(rms(ref), rms(row)))
                        eps(mid): coarsest rounding of values on their way to this
                        output, before the last one; K: terms of a sum; min(out):
                        smallest normal number; row: along the last dimension; and
                        the rms of all errors is at most
                          F * (eps(out) / 2 * max(rms(ref), min(out))
                               + (eps(mid) / 2 + sqrt(K) * 2^-23) * rms(ref)),
                        twice that of fewer than 32 errors.
                        Integers must be equal. Large outputs: 256 random rows
                        and the borders of all shards; what was not written is
                        looked for everywhere (docs/running.md)
  --check=races         looks for accesses that nothing orders, from a record of what
                        all CTAs did; reports both, with roles, CTAs, regions and
                        lines (.mlir and host target only; may be given beside
                        --check)
  --check=accesses      the same, and prints a number of what all accesses have touched
                        and seen: two kernels that have the same for the same inputs
                        and do not race do the same
  --check=each          after every launch instead of the last (of ranks that mk-run
                        itself has started)
  --tolerance F,...     factor in the formulas above (default 1); NAME=F: of one
                        output

running
  --launches N          launches the kernel N times, with other random inputs
                        each time; the last is checked (default 1)
  --graph N             captures one launch into a graph and replays it N times,
                        with other random inputs in the same place each time; the
                        last is checked
  --seed S              seeds data; not 0: runs puts and CTAs in a random order
  --loopback OPTIONS    of the emulated network (axes via net):
                        delay=5ms,reorder=SEED,...; on GPUs also
                        path=copy-engine or path=staged (through the host)
  --transport NAME[,OPTIONS]  what carries axes via net: loopback (default), verbs
                        (InfiniBand, RoCE) or efa, with options like
                        verbs,qps=2,timeout=20 (docs/network.md; MK_TRANSPORT)
  --deadline SECONDS    of every single wait (default 30)
  --compute-deadline S  processor seconds that a CTA may compute without beginning an
                        item, waiting or putting: longer is taken for a loop
                        that never ends (default ten times --deadline; host target)
  --delay S             before each launch one rank is late by up to S seconds; which
                        and how much is drawn by --seed
  --stats[=json]        what was measured: bytes for each link, waits and times of
                        roles (host), times of launches (GPU); json: one object on
                        standard output, everything else on standard error
  --timeline FILE.json  what every role does on every CTA of every rank in the last
                        launch, for ui.perfetto.dev, and a summary: how long roles
                        wait, for what, and how much communication is hidden. A
                        package has to be made with mk-opt --timeline

compiling (of a .mlir; a package has been)
  --kernel NAME         which kernel of the file
  --set NAME=N,...      values of parameters (mk.param), else those of --tuning
  --tuning FILE         a tuning file, or none (default: the target's own, if any)
  --target T, --cpu C   host (default) or sm_90a, on this machine's GPUs, one
                        for each rank; CPU of host code (default native)
  --no-verify           take a kernel that would not end or that races, or that
                        names what does not exist
  --no-bounds           leave out the checks, when it runs, that what puts, scalar
                        accesses, signals, counters and queues name exists
  --jit-lib PATH        the compiler (default: libmkernel_jit.so beside mk-run,
                        or $MK_JIT_LIBRARY)

self-tests
  --selftest            with or without FILE: tries the network or link between every two
                        ranks (data behind its signal, latency, bandwidth), with a verdict
                        for each, then a kernel in which all give their data to all
  --corrupt NAME[:I]    changes element I of an output before --check compares
                        it, which must then fail
  --pause-proxy RANK    that rank's network proxy does nothing, so that waits
                        pass their deadline

examples
  mk-run ag_gemm.mlir --nodes 2 --gpus 4 --bind M=512,N=512,K=256 --check
  mk-run moe.mlir --kernel moe --gpus 4 --random topk_ids=-1:5 --seed 7 --check
      --bind T=100:80:0:33,CAP=100,H=64,I=96,E=6,K=2,ROWS=800
  mk-run gemm.mlir --target sm_90a --bind M=4096,N=4096,K=4096 --check
  mk-run ag_gemm.mlir --target sm_90a --gpus 2 --bind M=4096,N=4096,K=4096 --check
  mpirun -n 8 mk-run ag_gemm.mlir --node rank/4 --bind M=512,N=512,K=256 --check
  mk-run ag_gemm.mkpkg --in a=a.npy --in b=b.npy --out c=c.npy

exit status: 0 success, 1 failure (a wrong result, a lost rank, a deadline), 2
wrong usage.
)";
}

namespace {

struct Parser {
  Options o;
  int64_t launches = 0, replays = 0; // 0: not given
  std::string transport;             // NAME[,OPTIONS]

  using Handler = std::function<Status(const std::string &)>;
  struct Entry {
    std::string_view name;
    enum { Flag, Value, Optional } kind;
    Handler handle;
  };
  std::vector<Entry> entries;

  template <typename T>
  void integer(std::string_view name, T &out, int64_t low, int64_t high) {
    entries.push_back({name, Entry::Value, [=, &out](const std::string &v) {
                         auto n = env::parseInt(v);
                         if (!n || *n < low || *n > high)
                           return error(StatusCode::InvalidArgument, name, " ",
                                        v, ": an integer from ", low, " to ",
                                        high, " is needed");
                         out = static_cast<T>(*n);
                         return Status::ok();
                       }});
  }
  void text(std::string_view name, std::string &out) {
    entries.push_back({name, Entry::Value, [&out](const std::string &v) {
                         out = v;
                         return Status::ok();
                       }});
  }
  /// Two of them contradict each other, or one of them was forgotten.
  void once(std::string_view name, std::string &out) {
    entries.push_back({name, Entry::Value, [=, &out](const std::string &v) {
                         if (!out.empty())
                           return error(StatusCode::InvalidArgument, name, " ", v, ": ", name,
                                        " ", out, " is given as well: give one of them, with "
                                        "all its options behind commas");
                         out = v;
                         return Status::ok();
                       }});
  }
  void duration(std::string_view name, std::chrono::nanoseconds &out) {
    entries.push_back({name, Entry::Value, [=, &out](const std::string &v) {
                         auto d = env::parseDuration(v);
                         if (!d || d->count() <= 0)
                           return error(StatusCode::InvalidArgument, name, " ",
                                        v,
                                        ": seconds are needed, or a number "
                                        "with ms, s or m");
                         out = *d;
                         return Status::ok();
                       }});
  }
  void files(std::string_view name, std::vector<NamedFile> &out) {
    entries.push_back({name, Entry::Value, [=, &out](const std::string &v) {
                         size_t at = v.find('=');
                         if (at == 0 || at == std::string::npos ||
                             at + 1 == v.size())
                           return error(StatusCode::InvalidArgument, name, " ",
                                        v, ": ARGUMENT=FILE.npy is needed");
                         for (const NamedFile &other : out)
                           if (other.name == v.substr(0, at))
                             return error(StatusCode::InvalidArgument, name,
                                          " gives '", other.name, "' twice");
                         out.push_back({v.substr(0, at), v.substr(at + 1)});
                         return Status::ok();
                       }});
  }

  Parser() {
    auto flag = [&](std::string_view name, bool &out) {
      entries.push_back({name, Entry::Flag, [&out](const std::string &) {
                           out = true;
                           return Status::ok();
                         }});
    };
    flag("--help", o.help);
    flag("-h", o.help);
    flag("--selftest", o.selfTest);
    flag("--no-verify", o.noVerify);
    flag("--no-bounds", o.noBounds);
    integer("--nodes", o.nodes, 1, 65536);
    integer("--gpus", o.gpus, 1, 65536);
    integer("--ranks-per-gpu", o.ranksPerGpu, 1, 64);
    integer("--grid", o.grid, 1, 65534);
    integer("--seed", o.seed, 0, INT64_MAX);
    integer("--launches", launches, 1, 1000000000);
    integer("--graph", replays, 1, 1000000000);
    integer("--pause-proxy", o.pauseProxy, 0, 65535);
    files("--in", o.inputs);
    files("--out", o.outputs);
    once("--loopback", o.loopback);
    once("--transport", transport);
    text("--job", o.job.source);
    text("--node", o.job.node);
    text("--store", o.job.store);
    text("--timeline", o.timeline);
    text("--kernel", o.kernel);
    text("--tuning", o.tuning);
    text("--target", o.target);
    text("--cpu", o.cpu);
    text("--jit-lib", o.jitLibrary);
    entries.push_back({"--random", Entry::Value,
                       [this](const std::string &v) { return random(v); }});
    entries.push_back({"--bind", Entry::Value,
                       [this](const std::string &v) { return bind(v); }});
    entries.push_back({"--set", Entry::Value,
                       [this](const std::string &v) { return set(v); }});
    entries.push_back({"--check", Entry::Optional,
                       [this](const std::string &v) { return check(v); }});
    entries.push_back({"--stats", Entry::Optional,
                       [this](const std::string &v) { return stats(v); }});
    duration("--deadline", o.deadline);
    duration("--compute-deadline", o.computeDeadline);
    duration("--delay", o.delay);
    duration("--join-timeout", o.job.timeout);
    entries.push_back({"--corrupt", Entry::Value,
                       [this](const std::string &v) { return corrupt(v); }});
    entries.push_back({"--tolerance", Entry::Value,
                       [this](const std::string &v) { return tolerance(v); }});
    entries.push_back({"--internal-rank", Entry::Value,
                       [this](const std::string &v) { return rank(v); }});
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
        if (!n || *n < 0)
          break;
        value.values.push_back(*n);
        from = colon + 1;
      }
      if (value.name.empty() || value.values.empty() || from <= item.size())
        return error(StatusCode::InvalidArgument, "--bind ", item,
                     ": NAME=VALUE is needed, or NAME=VALUE:VALUE:... with one "
                     "value for each rank");
      for (const DimValue &other : o.bind)
        if (other.name == value.name)
          return error(StatusCode::InvalidArgument, "--bind gives '",
                       value.name, "' twice");
      o.bind.push_back(std::move(value));
    }
    return Status::ok();
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
        return Status::ok();
      }
    }
    return error(StatusCode::InvalidArgument, "--random ", v,
                 ": ARGUMENT=A:B with integers A <= B is needed");
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
      for (const auto &other : o.params)
        if (other.first == item.substr(0, equals))
          return error(StatusCode::InvalidArgument, "--set gives '",
                       other.first, "' twice");
      o.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    }
    return Status::ok();
  }

  Status check(const std::string &v) {
    if (!v.empty() && v != "each" && v != "last" && v != "races" &&
        v != "accesses")
      return error(StatusCode::InvalidArgument, "--check=", v,
                   ": each, last, races or accesses is possible");
    if (v == "races" || v == "accesses") {
      o.races = true;
      o.accesses |= v == "accesses";
      return Status::ok();
    }
    o.check = true;
    o.checkEach = v == "each";
    return Status::ok();
  }

  Status stats(const std::string &v) {
    if (!v.empty() && v != "json" && v != "text")
      return error(StatusCode::InvalidArgument, "--stats=", v,
                   ": json or text is possible");
    o.stats = v == "json" ? Options::Stats::Json : Options::Stats::Text;
    return Status::ok();
  }

  Status corrupt(const std::string &v) {
    size_t colon = v.find(':');
    o.corrupt = v.substr(0, colon);
    if (colon == std::string::npos)
      return Status::ok();
    auto n = env::parseInt(v.substr(colon + 1));
    if (!n || *n < 0)
      return error(StatusCode::InvalidArgument, "--corrupt ", v,
                   ": NAME or NAME:ELEMENT is needed");
    o.corruptIndex = *n;
    return Status::ok();
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
    return Status::ok();
  }

  Status rank(const std::string &v) {
    RankOptions &r = o.rank.emplace();
    if (std::sscanf(v.c_str(), "%u:%d:%d", &r.rank, &r.packageFd, &r.jobFd) !=
        3)
      return error(StatusCode::InvalidArgument,
                   "--internal-rank is for mk-run's own processes");
    return Status::ok();
  }

  Status chooseTransport() {
    bool given = !transport.empty();
    if (!given)
      transport = env::get("MK_TRANSPORT").value_or("loopback");
    size_t comma = std::min(transport.find(','), transport.size());
    o.transportGiven = given;
    o.transport = transport.substr(0, comma);
    o.transportOptions = transport.substr(std::min(comma + 1, transport.size()));
    std::string_view what = given ? "--transport " : "MK_TRANSPORT=";
    if (o.transport != "loopback" && o.transport != "verbs" && o.transport != "efa")
      return error(StatusCode::InvalidArgument, what, transport,
                   ": loopback, verbs or efa is needed, with options behind a "
                   "comma, like verbs,qps=2");
    if (o.loopback.empty())
      return checkTransport(o.transport, o.transportOptions).withContext(str(what, transport));
    if (o.transport != "loopback" || !o.transportOptions.empty())
      return error(StatusCode::InvalidArgument, "--loopback ", o.loopback,
                   ": it changes the emulated network, and ", what, transport,
                   " is given: put all options behind the transport's name");
    o.transportOptions = o.loopback;
    return checkTransport(o.transport, o.loopback).withContext(str("--loopback ", o.loopback));
  }

  Status unknown(const std::string &name) {
    std::vector<std::string_view> names;
    for (const Entry &e : entries)
      if (e.name != "--internal-rank")
        names.push_back(e.name);
    std::string near = env::nearest(name, names);
    return error(StatusCode::InvalidArgument, "there is no option ", name,
                 near.empty() ? "" : "; did you mean " + near + "?");
  }

  Status parse(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
      std::string arg = argv[i], value;
      if (arg.size() < 2 || arg[0] != '-') {
        if (!o.file.empty())
          return error(StatusCode::InvalidArgument, "two files given: '",
                       o.file, "' and '", arg, "'");
        o.file = arg;
        continue;
      }
      size_t equals = arg.find('=');
      bool attached = equals != std::string::npos;
      if (attached) {
        value = arg.substr(equals + 1);
        arg.resize(equals);
      }
      const Entry *entry = nullptr;
      for (const Entry &e : entries)
        if (e.name == arg)
          entry = &e;
      if (!entry)
        return unknown(arg);
      if (attached && entry->kind == Entry::Flag)
        return error(StatusCode::InvalidArgument, arg, " takes no value");
      if (!attached && entry->kind == Entry::Value) {
        if (i + 1 == argc)
          return error(StatusCode::InvalidArgument, arg, " needs a value");
        value = argv[++i];
      }
      MK_TRY(entry->handle(value));
    }
    if (o.selfTest) {
      o.check = true;
      if (o.file.empty()) {
        MK_ASSIGN(o.file, selfTestKernel());
      }
      if (o.bind.empty())
        o.bind.push_back({"M", {4099}});
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
      if (!o.params.empty())
        return error(StatusCode::InvalidArgument, "--set ", o.params[0].first,
                     ": parameters are compiled in: only a .mlir takes them");
      const char *late = !o.tuning.empty() ? "--tuning"
                         : !o.cpu.empty()  ? "--cpu"
                         : o.noVerify      ? "--no-verify"
                         : o.noBounds      ? "--no-bounds"
                                           : nullptr;
      if (late)
        return error(StatusCode::InvalidArgument, late,
                     ": a package has been compiled already: only a .mlir "
                     "takes it");
    }
    if (!o.corrupt.empty() && !o.check)
      return error(StatusCode::InvalidArgument,
                   "--corrupt is a self-test of --check and needs it");
    return Status::ok();
  }
};

} // namespace

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
  for (const DimValue &b : options.bind) {
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
