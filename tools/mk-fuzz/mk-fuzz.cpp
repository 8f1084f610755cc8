//===- mk-fuzz.cpp - Random changes of kernels, compiled ------------------===//
//
// Each input is a kernel with a few random changes of its ops, operands, types
// and attributes, and goes through parser, verifiers and the pipelines of a
// target, on a mesh, in a process of its own. What does not end with success or
// diagnostics is a failure, and written to a file with as few changes as needed.
//
// With --mutants it makes wrong kernels on purpose and tells who finds them.
//
//===----------------------------------------------------------------------===//
#include "../Support/LlvmOutput.h"
#include "MutantRun.h"
#include "Run.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mk::fuzz;
namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("<files of kernels>"));
static cl::opt<uint64_t> seed("seed", cl::desc("of all choices"), cl::init(0));
static cl::opt<double> seconds("seconds", cl::desc("how long (default 20)"),
                               cl::init(20));
static cl::opt<uint64_t> runs("runs", cl::desc("inputs at most"),
                              cl::init(~uint64_t(0)));
static cl::opt<uint64_t> first("first", cl::desc("number of the first input"),
                               cl::init(0));
static cl::opt<unsigned> limit("limit",
                               cl::desc("seconds for an input (default 30)"),
                               cl::init(30));
static cl::opt<std::string> folder("out", cl::desc("folder of reproducers"),
                                   cl::init("."));
static cl::OptionCategory
    mutantCategory("Mutants", "Wrong kernels that the checkers have to find");
static cl::opt<uint64_t> mutants("mutants", cl::cat(mutantCategory),
                                 cl::desc("how many to make, of the kernels of all files; "
                                          "takes mk-run beside this program"),
                                 cl::init(0));
static cl::list<MutantKind> kinds(
    "kinds", cl::cat(mutantCategory), cl::CommaSeparated,
    cl::desc("which mistakes (default all):"));
static cl::opt<std::string>
    sizes("sizes", cl::cat(mutantCategory),
          cl::desc("file of what each kernel is compiled and run with"));
static cl::opt<bool>
    originals("originals", cl::cat(mutantCategory),
              cl::desc("first look whether the kernels as they are raise no alarm"));
static cl::opt<unsigned>
    originalRuns("original-runs", cl::cat(mutantCategory),
                 cl::desc("meshes of the 20 on which they are run as well (default 20)"),
                 cl::init(20));
static cl::opt<std::string>
    proofs("proofs", cl::cat(mutantCategory),
           cl::desc("file of mutants that are proven to be right"));
static cl::opt<unsigned> jobs("j", cl::cat(mutantCategory),
                              cl::desc("mutants at a time (default 1)"), cl::init(1));
static cl::opt<double>
    require("require", cl::cat(mutantCategory),
            cl::desc("per cent that have to be found (default 97)"), cl::init(97));
static cl::opt<bool> keep("keep", cl::desc("write inputs that do not fail, too"));
static cl::opt<std::string>
    selfTest("self-test",
             cl::desc("crash or hang: the first input does, and must be reported; of mutants: "
                      "blind, nothing finds them; unchecked, they are only compared"));

// What is asked of the inputs, and of how many: fewer say nothing.
static constexpr uint64_t kEnough = 25;
static constexpr double kParsed = 30, kReached = 10;

namespace {
constexpr size_t kKinds = static_cast<size_t>(Mutation::Count) + 1;

struct Finding {
  Input input;
  std::string text, command;
  std::vector<Mutation> kinds;

  void read(const Shared &shared);
};

struct Fuzzer {
  Seeds seeds;
  Shared &shared;
  Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(seconds));
  uint64_t histogram[kKinds][kStages] = {}, stages[kStages] = {};
  uint64_t made = 0, failures = 0;

  explicit Fuzzer(Shared &shared) : shared(shared) {}

  bool readSeeds();
  Outcome run(const Input &input) {
    Fault fault = input.number != first ? Fault::None
                  : selfTest == "crash" ? Fault::Crash
                  : selfTest == "hang"  ? Fault::Hang
                                        : Fault::None;
    return runInput(input, seeds, shared, std::chrono::seconds(limit), end, fault);
  }
  std::string write(const Finding &finding);
  void report(Finding finding, Outcome outcome);
  void runAll();
  bool judge();
};
} // namespace

bool Fuzzer::readSeeds() {
  std::string without;
  for (const std::string &file : files) {
    std::string problem;
    std::optional<unsigned> added = seeds.add(file, problem);
    if (!added) {
      llvm::errs() << "mk-fuzz: " << file << ": " << problem << "\n";
      return false;
    }
    if (*added == 0)
      without += " " + file;
  }
  if (!without.empty())
    llvm::outs() << "left out, no valid kernel:" << without << "\n";
  if (seeds.size() == 0)
    llvm::errs() << "mk-fuzz: no file has a valid kernel to change\n";
  return seeds.size() != 0;
}

void Finding::read(const Shared &shared) {
  text = shared.getText();
  command = shared.command;
  kinds.assign(std::begin(shared.kinds), std::end(shared.kinds));
}

/// The file's path; empty, with a message, if it cannot be written.
std::string Fuzzer::write(const Finding &finding) {
  const Input &input = finding.input;
  std::string path = llvm::formatv("{0}/fuzz-{1}-{2}.mlir", folder.getValue(),
                                   seed.getValue(), input.number);
  std::error_code problem;
  llvm::raw_fd_ostream os(path, problem);
  if (problem) {
    llvm::errs() << "mk-fuzz: " << path << ": " << problem.message() << "\n";
    return {};
  }
  os << "// " << finding.command << "\n// " << seeds[input.seed].name << ":";
  for (unsigned i = 0; i < input.mutations; ++i)
    if (input.applies(i))
      os << " " << toString(finding.kinds[i]) << ";";
  os << "\n" << finding.text;
  return path;
}

/// Leaves out changes that the failure does not need.
void Fuzzer::report(Finding finding, Outcome outcome) {
  for (unsigned i = 0; i < finding.input.mutations; ++i) {
    Input less = finding.input;
    less.mask &= ~(1u << i);
    if (Outcome again = run(less); again.failed()) {
      outcome = again;
      finding.input = less;
      finding.read(shared);
    }
  }
  std::string path = write(finding);
  llvm::outs() << "FAILED: input " << finding.input.number << ", a change of "
               << seeds[finding.input.seed].name << ": " << outcome.describe()
               << ": " << path << "\n  " << finding.command << "\n";
  llvm::outs().flush();
}

void Fuzzer::runAll() {
  for (uint64_t i = first; made < runs && Clock::now() < end; ++i) {
    Input input = makeInput(seed, i, seeds.size());
    Outcome outcome = run(input);
    if (outcome.kind == Outcome::Cut)
      break;
    ++made;
    for (uint32_t s = 0; s <= shared.stage; ++s) {
      ++stages[s];
      for (unsigned m = 0; m < input.mutations; ++m)
        ++histogram[static_cast<size_t>(shared.kinds[m])][s];
    }
    if (!outcome.failed() && !keep)
      continue;
    Finding finding{input, {}, {}, {}};
    finding.read(shared);
    if (!outcome.failed()) {
      write(finding);
      continue;
    }
    ++failures;
    report(std::move(finding), outcome);
  }
}

/// Prints what came out; whether all is well.
bool Fuzzer::judge() {
  llvm::outs() << llvm::formatv("{0,-20} {1,8} {2,8} {3,8} {4,8}\n", "change",
                                "inputs", "parse", "pipeline", "compile");
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (histogram[kind][Made])
      llvm::outs() << llvm::formatv(
          "{0,-20} {1,8} {2,8} {3,8} {4,8}\n",
          toString(static_cast<Mutation>(kind)), histogram[kind][Made],
          histogram[kind][Parsed], histogram[kind][Reached],
          histogram[kind][Compiled]);
  auto percent = [&](Stage stage) {
    return made ? 100.0 * double(stages[stage]) / double(made) : 0.0;
  };
  llvm::outs() << llvm::formatv(
      "{0} inputs of {1} seeds, {2:F1} % parse, {3:F1} % reach the pipeline, "
      "{4:F1} % compile, {5} failures, seed {6}\n",
      made, seeds.size(), percent(Parsed), percent(Reached), percent(Compiled),
      failures, seed.getValue());
  if (failures)
    return false;
  // --runs asks for certain inputs, which need not be enough.
  if (made < kEnough && made < runs) {
    llvm::outs() << "FAILED: fewer than " << kEnough << " inputs in "
                 << llvm::formatv("{0:F0}", seconds.getValue())
                 << " s say nothing: give it more --seconds\n";
    return false;
  }
  if (made >= kEnough && (percent(Parsed) < kParsed || percent(Reached) < kReached)) {
    llvm::outs() << llvm::formatv("FAILED: at least {0} % have to parse, and {1} "
                                  "% to reach the pipeline\n",
                                  kParsed, kReached);
    return false;
  }
  return true;
}

/// The exit status.
static int makeMutants(const Seeds &seeds, const char *argv0) {
  std::string problem;
  std::vector<MutantCase> cases = readCases(seeds, sizes, problem);
  if (!problem.empty()) {
    llvm::errs() << "mk-fuzz: --sizes " << problem << "\n";
    return 2;
  }
  MutantRunOptions options;
  options.count = mutants;
  options.seed = seed;
  options.originals = originals;
  options.check.originalRuns = std::min(20u, originalRuns.getValue());
  options.check.blind = selfTest == "unchecked" ? Blind::Checkers
                        : selfTest == "blind"   ? Blind::All
                                                : Blind::No;
  if (!proofs.empty())
    options.check.proven = readProofs(proofs, problem);
  if (!problem.empty()) {
    llvm::errs() << "mk-fuzz: --proofs " << problem << "\n";
    return 2;
  }
  options.jobs = std::max(1u, jobs.getValue());
  options.require = require;
  options.kinds.assign(kinds.begin(), kinds.end());
  for (size_t i = 0; kinds.empty() && i < kMutantKinds; ++i)
    options.kinds.push_back(static_cast<MutantKind>(i));
  options.check.folder = folder;
  SmallString<128> program(llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&makeMutants)));
  llvm::sys::path::remove_filename(program);
  llvm::sys::path::append(program, "mk-run");
  options.check.mkRun = program.str().str();
  return runMutants(cases, options) ? 0 : 1;
}

int main(int argc, char **argv) {
  mkernel::reportLostOutput();
  registerAsmPrinterCLOptions();
  for (size_t i = 0; i < kMutantKinds; ++i) {
    auto kind = static_cast<MutantKind>(i);
    kinds.getParser().addLiteralOption(toString(kind), kind, describe(kind));
  }
  cl::ParseCommandLineOptions(argc, argv, "Fuzzes the compiler.\n");
  if (!selfTest.empty() && selfTest != (mutants ? "blind" : "crash") &&
      selfTest != (mutants ? "unchecked" : "hang")) {
    llvm::errs() << "mk-fuzz: --self-test " << selfTest << ": "
                 << (mutants ? "blind or unchecked" : "crash or hang")
                 << " is possible\n";
    return 2;
  }
  if (mutants && sizes.empty()) {
    llvm::errs() << "mk-fuzz: --mutants needs --sizes FILE, which says what each kernel is "
                    "compiled and run with\n";
    return 2;
  }
  if (std::error_code problem =
          llvm::sys::fs::create_directories(folder.getValue())) {
    llvm::errs() << "mk-fuzz: --out " << folder << ": " << problem.message()
                 << "\n";
    return 2;
  }
  Shared *shared = makeShared();
  if (!shared) {
    llvm::errs() << "mk-fuzz: there is no memory for an input\n";
    return 1;
  }
  Fuzzer fuzzer(*shared);
  if (!fuzzer.readSeeds())
    return 2;
  if (mutants)
    return makeMutants(fuzzer.seeds, argv[0]);
  llvm::outs() << "seed " << seed.getValue() << "\n";
  llvm::outs().flush(); // nothing may follow if the time was too short
  fuzzer.runAll();
  return fuzzer.judge() ? 0 : 1;
}
