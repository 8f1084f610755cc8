//===- mk-fuzz.cpp - Random changes of kernels, compiled ------------------===//
//
// Each input is a kernel file with a few random changes of its ops, operands,
// types and attributes, and goes through parser, verifiers and the pipelines of
// both targets, in a process of its own. What does not end with success or
// diagnostics is a failure, and written to a file with as few changes as needed.
//
//===----------------------------------------------------------------------===//
#include "Mutate.h"
#include "mkernel/JIT/Compiler.h"
#include "mkernel/JIT/Registration.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mk::fuzz;
namespace cl = llvm::cl;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("<kernel files>"));
static cl::opt<uint64_t> seed("seed", cl::desc("of all choices"), cl::init(0));
static cl::opt<double> seconds("seconds", cl::desc("how long (default 20)"),
                               cl::init(20));
static cl::opt<uint64_t> runs("runs", cl::desc("inputs at most"),
                              cl::init(~uint64_t(0)));
static cl::opt<uint64_t> first("first", cl::desc("number of the first input"),
                               cl::init(0));
static cl::opt<unsigned> limit("limit", cl::desc("seconds for an input"),
                               cl::init(30));
static cl::opt<std::string> folder("out", cl::desc("folder of reproducers"),
                                   cl::init("."));

namespace {

constexpr size_t kMaxText = 8u << 20;
constexpr unsigned kMaxMutations = 4;

/// How far an input came.
enum Stage : uint32_t { Made, Parsed, Reached, Compiled, kStages };

/// What a child leaves behind, also when it crashes.
struct Shared {
  std::atomic<uint32_t> stage;
  uint32_t kinds[kMaxMutations];
  uint32_t target;
  std::atomic<uint32_t> size;
  char text[kMaxText];
};

struct Input {
  uint64_t number;
  size_t file;
  unsigned mutations;
  uint32_t mask; // of those that are applied
  bool sm90a;
  const char *emit;
};

struct Outcome {
  int status;
  bool late;
  bool failed() const {
    return late || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
};

Input makeInput(uint64_t number) {
  std::seed_seq sequence{uint32_t(seed), uint32_t(seed >> 32), uint32_t(number),
                         uint32_t(number >> 32)};
  std::mt19937_64 random(sequence);
  Input input{number, random() % files.size(), 1, ~0u, random() % 2 == 0, ""};
  while (input.mutations < kMaxMutations && random() % 3 == 0)
    ++input.mutations;
  const char *host[] = {"tile", "llvm", "llvm", "llvmir"};
  const char *gpu[] = {"sm", "sm", "llvm", "ptx"};
  input.emit = input.sm90a ? gpu[random() % 4] : host[random() % 4];
  return input;
}

/// In the child: makes the input and compiles it. Messages are not looked at.
void runInput(const Input &input, StringRef source, Shared &shared) {
  DialectRegistry registry;
  mk::registerEverything(registry);
  std::string text;
  {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    auto module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return;
    for (unsigned i = 0; i < input.mutations; ++i)
      if (input.mask & 1u << i)
        shared.kinds[i] = static_cast<uint32_t>(
            mutate(*module, input.number * kMaxMutations + i + seed * 7919));
    llvm::raw_string_ostream os(text);
    // Printers of ops may rely on what verifiers have checked.
    module->print(os, OpPrintingFlags().printGenericOpForm());
    if (text.size() > kMaxText)
      return;
    std::memcpy(shared.text, text.data(), text.size());
    shared.size = text.size();
  }
  mk::CompileOptions options;
  std::string kernel;
  {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    shared.stage = Parsed;
    module->walk([&](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>("sym_name");
      if (op->getName().getStringRef() == "mk.kernel" && name &&
          (kernel.empty() || input.number % 3 == 0))
        kernel = name.str();
    });
  }
  if (kernel.empty())
    return;
  // Called before the first pass runs, and before later ones.
  options.setup = [&](PassManager &) {
    shared.stage = Reached;
    return success();
  };
  options.kernel = kernel;
  options.target = input.sm90a ? "sm_90a" : "host";
  options.emit = input.emit;
  options.nodes = input.sm90a ? 1 : 1 + input.number % 2;
  options.gpus = input.sm90a ? 1 : 1 + input.number / 2 % 2;
  options.completeMesh = true;
  std::string output, messages;
  if (mk::compile(text, "input.mlir", options, output, messages))
    shared.stage = Compiled;
}

Outcome runChild(const Input &input, StringRef source, Shared &shared) {
  shared.stage = Made;
  shared.size = 0;
  shared.target = input.sm90a;
  std::fill(std::begin(shared.kinds), std::end(shared.kinds),
            static_cast<uint32_t>(Mutation::Count));
  pid_t pid = fork();
  if (pid == 0) {
    rlimit core{0, 0}, memory{8ull << 30, 8ull << 30};
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_AS, &memory);
    if (!freopen("/dev/null", "w", stderr))
      _exit(1);
    runInput(input, source, shared);
    _exit(0);
  }
  Outcome outcome{0, false};
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit);
  while (waitpid(pid, &outcome.status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      outcome.late = true;
      kill(pid, SIGKILL);
      waitpid(pid, &outcome.status, 0);
      break;
    }
    usleep(2000);
  }
  return outcome;
}

std::string describe(const Outcome &outcome) {
  if (outcome.late)
    return llvm::formatv("did not end within {0} s", limit.getValue());
  if (WIFSIGNALED(outcome.status))
    return llvm::formatv("ended by signal {0} ({1})", WTERMSIG(outcome.status),
                         strsignal(WTERMSIG(outcome.status)));
  return llvm::formatv("ended with status {0}", WEXITSTATUS(outcome.status));
}

/// Leaves out changes that the failure does not need, and writes the file.
void report(Input input, StringRef source, Shared &shared, Outcome outcome) {
  for (unsigned i = 0; i < input.mutations; ++i) {
    Input less = input;
    less.mask &= ~(1u << i);
    Outcome again = runChild(less, source, shared);
    if (again.failed()) {
      input = less;
      outcome = again;
    }
  }
  runChild(input, source, shared);
  std::string path = llvm::formatv("{0}/fuzz-{1}-{2}.mlir", folder.getValue(),
                                   seed.getValue(), input.number);
  std::error_code problem;
  llvm::raw_fd_ostream os(path, problem);
  if (problem) {
    llvm::errs() << "mk-fuzz: " << path << ": " << problem.message() << "\n";
    return;
  }
  os << "// mk-opt --target=" << (input.sm90a ? "sm_90a" : "host")
     << " --emit=" << input.emit << "\n// changes of " << files[input.file]
     << ":";
  for (unsigned i = 0; i < input.mutations; ++i)
    if (input.mask & 1u << i)
      os << " " << toString(static_cast<Mutation>(shared.kinds[i])) << ";";
  os << "\n" << StringRef(shared.text, shared.size);
  llvm::outs() << "FAILED: input " << input.number << " of "
               << files[input.file] << ", " << (input.sm90a ? "sm_90a" : "host")
               << " to " << input.emit << ": " << describe(outcome) << ": "
               << path << "\n";
  llvm::outs().flush();
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Fuzzes the compiler.\n");
  if (std::error_code problem =
          llvm::sys::fs::create_directories(folder.getValue())) {
    llvm::errs() << "mk-fuzz: --out " << folder << ": " << problem.message()
                 << "\n";
    return 2;
  }
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> sources;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer) {
      llvm::errs() << "mk-fuzz: " << file << ": "
                   << buffer.getError().message() << "\n";
      return 2;
    }
    sources.push_back(std::move(*buffer));
  }
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    llvm::errs() << "mk-fuzz: there is no memory for an input\n";
    return 1;
  }
  Shared &shared = *new (memory) Shared;
  llvm::outs() << "seed " << seed.getValue() << "\n";
  llvm::outs().flush(); // nothing may follow if the time was too short
  constexpr size_t kinds = static_cast<size_t>(Mutation::Count) + 1;
  uint64_t histogram[kinds][kStages] = {}, stages[kStages] = {}, made = 0,
           failures = 0;
  auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = first; made < runs; ++i, ++made) {
    std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - begin;
    if (spent.count() > seconds)
      break;
    Input input = makeInput(i);
    StringRef source = sources[input.file]->getBuffer();
    Outcome outcome = runChild(input, source, shared);
    for (uint32_t s = 0; s <= shared.stage; ++s) {
      ++stages[s];
      for (unsigned m = 0; m < input.mutations; ++m)
        ++histogram[shared.kinds[m]][s];
    }
    if (outcome.failed()) {
      ++failures;
      report(input, source, shared, outcome);
    }
  }
  llvm::outs() << llvm::formatv("{0,-20} {1,8} {2,8} {3,8} {4,8}\n", "change",
                                "inputs", "parse", "pipeline", "compile");
  for (size_t kind = 0; kind < kinds; ++kind)
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
      "{0} inputs, {1:F1} % parse, {2:F1} % reach the pipeline, {3:F1} % "
      "compile, {4} failures, seed {5}\n",
      made, percent(Parsed), percent(Reached), percent(Compiled), failures,
      seed.getValue());
  if (failures)
    return 1;
  if (made >= 50 && (percent(Parsed) < 30 || percent(Reached) < 10)) {
    llvm::outs() << "FAILED: too few inputs get far enough\n";
    return 1;
  }
  return 0;
}
