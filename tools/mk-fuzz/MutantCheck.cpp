//===- MutantCheck.cpp - Who finds a mutant -------------------------------===//
#include "MutantCheck.h"
#include "MutantJob.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

// Meshes of the first look of the compiler.
static constexpr size_t kCompiled = 6;

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
  std::string path, text; // of the mutant

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
    std::string original = print(scope.getModule());
    std::vector<Edit> edits = scope.collect(mutant.kind);
    Edit &edit = edits[mutant.edit];
    copy(shared.site, (edit.site->getName().getStringRef() + ", line " +
                       lineOf(edit.site->getLoc()) + ": " + edit.what)
                          .str());
    std::string line =
        isa<KernelOp>(edit.site) ? std::string() : firstLine(edit.site);
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
    if (!options.blind) {
      for (size_t mesh = 0; mesh < kCompiled; ++mesh)
        if (refused(mesh))
          return;
      for (unsigned i = 0; i < kJobs; ++i)
        if (foundByRun(i))
          return;
    }
    shared.verdict = Verdict::Survivor;
  }
};
} // namespace

void fuzz::checkMutant(const MutantCase &kase, const Mutant &mutant,
                       const std::string &name, const MutantOptions &options,
                       MutantShared &shared) {
  Checker checker{kase, mutant, options, shared, options.folder + "/" + name + ".mlir", {}};
  checker.run();
  // What was found needs no file.
  if (shared.verdict < Verdict::Survivor)
    std::remove(checker.path.c_str());
}
