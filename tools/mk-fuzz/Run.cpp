//===- Run.cpp - An input in a process of its own -------------------------===//
#include "Run.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

// Of a child; what needs more has found a way to make the compiler use it up.
static constexpr rlim_t kMemory = rlim_t(8) << 30;

/// In the child. Messages are not looked at.
static void changeAndCompile(const Input &input, const Seeds &seeds,
                             Shared &shared) {
  ModuleOp seed = *seeds[input.seed].module;
  MLIRContext &context = *seed.getContext();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  for (unsigned i = 0; i < input.mutations; ++i)
    if (input.applies(i))
      shared.kinds[i] = mutate(seed, input.random + i);
  std::string text;
  llvm::raw_string_ostream os(text);
  // Printers of ops may rely on what verifiers have checked.
  seed.print(os, OpPrintingFlags().printGenericOpForm());
  if (text.size() > Shared::kMaxText)
    return;
  std::memcpy(shared.text, text.data(), text.size());
  shared.size = text.size();

  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return;
  shared.stage = Parsed;
  CompileOptions options;
  if (!chooseOptions(input, *module, options))
    return;
  std::snprintf(shared.command, Shared::kMaxCommand, "%s",
                commandLine(options).c_str());
  // Called before the first pass runs, and before later ones.
  options.setup = [&](PassManager &pm) {
    pm.enableVerifier(true);
    shared.stage = Reached;
    return success();
  };
  std::string output, messages;
  if (compile(text, "input.mlir", options, output, messages))
    shared.stage = Compiled;
}

std::string Outcome::describe() const {
  if (kind == Late)
    return "did not end in time";
  if (WIFSIGNALED(status))
    return llvm::formatv("ended by signal {0} ({1})", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
  return llvm::formatv("ended with status {0}", WEXITSTATUS(status));
}

Shared *fuzz::makeShared() {
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Shared;
}

Outcome fuzz::runInput(const Input &input, const Seeds &seeds, Shared &shared,
                       Clock::duration limit, Clock::time_point end,
                       Fault fault) {
  shared.stage = Made;
  shared.size = 0;
  shared.command[0] = 0;
  std::fill(std::begin(shared.kinds), std::end(shared.kinds), Mutation::Count);
  auto late = Clock::now() + limit;
  pid_t pid = fork();
  if (pid < 0)
    return {Outcome::Cut};
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rlimit core{0, 0}, memory{kMemory, kMemory};
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_AS, &memory);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
      _exit(1);
    changeAndCompile(input, seeds, shared);
    if (fault == Fault::Crash)
      raise(SIGSEGV);
    while (fault == Fault::Hang)
      pause();
    _exit(0);
  }
  Outcome outcome;
  while (waitpid(pid, &outcome.status, WNOHANG) == 0) {
    auto now = Clock::now();
    if (now > late || now > end) {
      outcome.kind = now > late ? Outcome::Late : Outcome::Cut;
      kill(pid, SIGKILL);
      waitpid(pid, &outcome.status, 0);
      return outcome;
    }
    usleep(1000);
  }
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0)
    outcome.kind = Outcome::Failed;
  return outcome;
}
