//===- MutantCheck.cpp - Who finds a mutant -------------------------------===//
#include "MutantCheck.h"
#include "MutantJob.h"
#include "mkernel/Verify/Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

// Meshes of the first look of the compiler.
static constexpr size_t kCompiled = 6;
// CTAs of a rank; orders of CTAs in which a mutant has to do what the original does.
static constexpr int64_t kGrid = 16;
static constexpr uint64_t kOrders = 2;

StringRef fuzz::toString(Verdict verdict) {
  const char *names[] = {"running", "same",       "compiler", "values",
                         "races",   "equivalent", "SURVIVOR", "BROKEN"};
  return names[static_cast<size_t>(verdict)];
}

static std::string firstError(StringRef messages) {
  StringRef from = messages.substr(std::min(messages.find("error: "), messages.size()));
  return from.split('\n').first.str();
}

static std::string firstLine(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().skipRegions().assumeVerified());
  return StringRef(text).split('\n').first.str();
}

static std::string lineOf(Location loc) {
  auto at = loc->findInstanceOf<FileLineColLoc>();
  return at ? std::to_string(at.getLine()) : "?";
}

namespace {
struct Checker {
  const MutantCase &kase;
  const Mutant &mutant;
  const MutantOptions &options;
  MutantShared &shared;
  std::string path, text, original;
  bool inputsAlone = false; // the change may be one of what is read alone

  template <size_t n> static void copy(char (&to)[n], StringRef from) {
    std::snprintf(to, n, "%s", from.str().c_str());
  }
  void doing(const Twine &what) { copy(shared.doing, what.str()); }
  void end(Verdict verdict, StringRef message) {
    copy(shared.text, message);
    shared.verdict = verdict;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    // Lines of the original are what messages name.
    module.print(os, OpPrintingFlags().enableDebugInfo());
    return text;
  }

  /// The tile level without sizes, for comparing.
  std::string canonical(const std::string &source) {
    CompileOptions compile;
    compile.kernel = kase.kernel;
    compile.emit = "tile";
    compile.tuning = "none";
    compile.verify = false;
    std::string output, messages;
    return mk::compile(source, "kernel.mlir", compile, output, messages)
               ? output
               : std::string();
  }

  /// Whether the module could be made and is valid.
  bool make() {
    doing("making the mutant");
    MutantScope scope(kase.module, kase.kernel);
    original = print(scope.getModule());
    std::vector<Edit> edits = scope.collect(mutant.kind);
    Edit &edit = edits[mutant.edit];
    copy(shared.site, (edit.site->getName().getStringRef() + ", line " +
                       lineOf(edit.site->getLoc()) + ": " + edit.what)
                          .str());
    std::string line =
        isa<KernelOp>(edit.site) ? std::string() : firstLine(edit.site);
    copy(shared.name, kase.kernel + " " + toString(mutant.kind).str() + ": " + edit.what +
                          " | " + line);
    inputsAlone = isa<LoadOp, memref::LoadOp>(edit.site);
    edit.apply();
    std::string messages;
    ScopedDiagnosticHandler handler(
        ModuleOp(kase.module).getContext(), [&](Diagnostic &diagnostic) {
          if (messages.empty())
            messages = "error: " + diagnostic.str();
        });
    doing("verifying the mutant");
    if (failed(verify(scope.getModule()))) {
      end(Verdict::Compiler, messages);
      return false;
    }
    text = print(scope.getModule());
    std::error_code problem;
    llvm::raw_fd_ostream os(path, problem);
    os << "// " << kase.file << ", kernel '" << kase.kernel << "', "
       << toString(mutant.kind) << ": " << shared.site << "\n// "
       << line << "\n" << text;
    os.close();
    if (problem) {
      end(Verdict::Broken, path + ": " + problem.message());
      return false;
    }
    doing("parsing the mutant");
    if (!parseSourceString<ModuleOp>(text, ModuleOp(kase.module).getContext())) {
      end(Verdict::Broken, "what was printed cannot be parsed: " + messages);
      return false;
    }
    doing("comparing with the original");
    std::string before = canonical(original);
    if (!before.empty() && before == canonical(text)) {
      end(Verdict::Same, "");
      return false;
    }
    copy(shared.text, line);
    return true;
  }

  /// Whether the compiler refuses it.
  bool refused(size_t mesh) {
    CompileOptions compile = kase.options(kase.meshes()[mesh], kase.sizesOf(mesh));
    compile.emit = "tile";
    doing("compiling for " + kase.meshes()[mesh].toString());
    std::string output, messages;
    if (mk::compile(text, path, compile, output, messages))
      return false;
    end(Verdict::Compiler, kase.meshes()[mesh].toString() + ": " + firstError(messages));
    return true;
  }

  /// What a kernel does to memory on a mesh, in an order of CTAs that the seed says.
  std::optional<AccessTrace> trace(const std::string &source, size_t mesh, uint64_t seed,
                                   std::string &messages) const {
    const Sizes &sizes = kase.sizesOf(mesh);
    CompileOptions compile = kase.options(kase.meshes()[mesh], sizes);
    compile.emit = "tile";
    compile.verify = options.blind == Blind::No;
    std::string output;
    if (!mk::compile(source, path, compile, output, messages))
      return std::nullopt;
    auto module = parseSourceString<ModuleOp>(output, ModuleOp(kase.module).getContext());
    std::vector<std::string> dims;
    for (const auto &[name, value] : sizes.bind)
      dims.push_back(name + "=" + value);
    return traceAccesses(*module->getOps<KernelOp>().begin(), dims, kGrid, seed);
  }

  /// What is compiled is printed with the lines of the kernel's file from here on.
  static void keepLines() {
    llvm::cl::Option *option =
        llvm::cl::getRegisteredOptions().lookup("mlir-print-debuginfo");
    (void)option->addOccurrence(0, "", "true");
  }

  /// By records of runs with the same inputs, where control depends on data. `why` it does.
  void compareRuns(const std::string &line, const std::string &why) {
    auto survives = [&](const Twine &text) {
      end(Verdict::Survivor, line + "\n    " + text.str());
    };
    // Records have no loads of what nothing writes.
    if (inputsAlone)
      return survives("not compared: " + why);
    std::string first = path + ".original.mlir";
    std::error_code problem;
    llvm::raw_fd_ostream(first, problem) << original;
    for (size_t mesh = 0; mesh < kase.meshes().size(); ++mesh) {
      std::string name = kase.meshes()[mesh].toString();
      doing("comparing runs on " + name);
      auto run = [&](const std::string &file) {
        return runForAccesses(kase, mesh, mutant.random, file, options);
      };
      std::string before = run(first), after = run(path);
      if (!before.empty() && before == after)
        continue;
      std::remove(first.c_str());
      return survives(name + (before.empty() ? ": not compared: the original does not run; "
                                             : ": a run differs (or each does); ") +
                      why);
    }
    std::remove(first.c_str());
    end(Verdict::Equivalent, line + "\n    the same accesses in the same order in runs on " +
                                 std::to_string(kase.meshes().size()) + " meshes");
  }

  /// Whether it does the same as the original on all meshes; else why that cannot be
  /// said is left as the message.
  void compare() {
    keepLines();
    std::string line = shared.text, messages;
    bool same = true; // in accesses that no result depends on, too
    for (size_t mesh = 0; mesh < kase.meshes().size(); ++mesh) {
      std::string name = kase.meshes()[mesh].toString();
      auto survives = [&](const Twine &why) {
        end(Verdict::Survivor, line + "\n    " + name + ": " + why.str());
      };
      doing("comparing on " + name);
      std::optional<AccessTrace> before = trace(original, mesh, mutant.random, messages);
      if (!before)
        return end(Verdict::Broken, name + ": the original is refused: " + firstError(messages));
      if (!before->problem.empty())
        return compareRuns(line, before->problem);
      for (uint64_t order = 1; order <= kOrders; ++order) {
        std::optional<AccessTrace> after =
            trace(text, mesh, mutant.random + order, messages);
        if (!after)
          return end(Verdict::Compiler, name + ": " + firstError(messages));
        if (!after->problem.empty())
          return survives("differs: " + after->problem);
        if (std::string what = after->difference(*before, /*outputs=*/true); !what.empty())
          return survives("differs: " + what);
        same &= after->difference(*before).empty();
      }
    }
    end(Verdict::Equivalent,
        line + (same ? "\n    the same accesses in the same order on "
                     : "\n    results are made of the same accesses in the same order, "
                       "without a race, on ") +
            std::to_string(kase.meshes().size()) + " meshes");
  }

  /// Whether a run finds it.
  bool foundByRun(unsigned i) {
    doing("run " + Twine(i));
    JobResult result = runJob(kase, i, mutant.random, path, options);
    if (result.verdict == Verdict::Survivor)
      return false;
    end(result.verdict, result.message + "\n    " + result.command);
    return true;
  }

  void run() {
    if (!make())
      return;
    if (options.blind == Blind::All) {
      shared.verdict = Verdict::Survivor;
      return;
    }
    if (options.blind == Blind::No) {
      for (size_t mesh = 0; mesh < kCompiled; ++mesh)
        if (refused(mesh))
          return;
      for (unsigned i = 0; i < kJobs; ++i)
        if (foundByRun(i))
          return;
      if (options.proven.count(shared.name))
        return end(Verdict::Equivalent, shared.text + Twine("\n    proven").str());
    }
    compare();
  }

  /// All meshes; a kernel that cannot be compared with itself is no alarm.
  void runOriginal() {
    MutantScope scope(kase.module, kase.kernel);
    original = text = print(scope.getModule());
    std::error_code problem;
    llvm::raw_fd_ostream(path, problem) << text;
    for (size_t mesh = 0; mesh < kase.meshes().size(); ++mesh)
      if (refused(mesh))
        return;
    for (unsigned i = 0; i < options.originalRuns; ++i)
      if (foundByRun(i))
        return;
    keepLines();
    for (size_t mesh = 0; mesh < kase.meshes().size(); ++mesh) {
      doing("following it on " + kase.meshes()[mesh].toString());
      std::string messages;
      auto one = trace(text, mesh, mutant.random, messages);
      auto other = trace(text, mesh, mutant.random + 1, messages);
      std::string what = !one || !other         ? "is refused"
                         : !one->problem.empty() ? std::string()
                                                 : other->difference(*one);
      if (one && other && one->problem.empty() != other->problem.empty())
        what = one->problem + other->problem;
      if (!what.empty())
        return end(Verdict::Broken, kase.meshes()[mesh].toString() +
                                        ": differs from itself: " + what);
    }
    shared.verdict = Verdict::Survivor;
  }
};
} // namespace

std::set<std::string> fuzz::readProofs(StringRef path, std::string &problem) {
  std::set<std::string> proven;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    problem = path.str() + ": " + buffer.getError().message();
    return proven;
  }
  std::string open; // without a proof so far
  size_t openLine = 0;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  lines.push_back("end");
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.trim().empty() || line.starts_with("#"))
      continue;
    if (line.starts_with(" ")) {
      open.clear();
      continue;
    }
    if (!open.empty()) {
      problem = path.str() + ":" + std::to_string(openLine) + ": '" + open +
                "' has no proof: write it below, indented";
      return proven;
    }
    open = line.str();
    openLine = number + 1;
    proven.insert(open);
  }
  proven.erase("end");
  return proven;
}

static std::string pathOf(const std::string &name, const MutantOptions &options) {
  return options.folder + "/" + name + ".mlir";
}

void fuzz::checkMutant(const MutantCase &kase, const Mutant &mutant,
                       const std::string &name, const MutantOptions &options,
                       MutantShared &shared) {
  Checker checker{kase, mutant, options, shared, pathOf(name, options), {}, {}, false};
  checker.run();
  // What was found needs no file.
  if (shared.verdict < Verdict::Survivor)
    std::remove(checker.path.c_str());
}

void fuzz::checkOriginal(const MutantCase &kase, const std::string &name, uint64_t random,
                         const MutantOptions &options, MutantShared &shared) {
  Mutant none{0, MutantKind::Count, 0, random};
  Checker checker{kase, none, options, shared, pathOf(name, options), {}, {}, false};
  checker.runOriginal();
  std::remove(checker.path.c_str());
}
