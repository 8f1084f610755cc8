//===- Compiler.cpp - From a file to a package in one step ----------------===//
#include "Compilation.h"
#include "DeviceModule.h"
#include "Merge.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Compiler/Guarded.h"
#include "mkernel/Compiler/Registration.h"
#include "mkernel/Compiler/Remarks.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::mk;

LogicalResult Compilation::compile() {
  if (options.emit == "signature") {
    output << llvm::formatv("{0:2}\n", buildSignature(module));
    return success();
  }
  if (!hasMetadata(module))
    return compileTile();
  if (failed(checkLowered(module)))
    return failure();
  FailureOr<HostCpu> cpu = resolveCpu(options.cpu, options.optimize, module.getLoc());
  return failed(cpu) ? failure() : emitCode(module, *cpu);
}

/// A message about the options themselves; empty if they are fine.
static std::string checkOptions(const CompileOptions &options, const TargetBackend &backend) {
  SmallVector<StringRef> phases{"signature",
                                "params",
                                "tile",
                                backend.getKernelPhase(),
                                backend.getCodePhase(),
                                "llvm",
                                "llvmir",
                                backend.getTextPhase(),
                                "package"};
  llvm::erase(phases, StringRef());
  if (!llvm::is_contained(phases, options.emit))
    return "error: --emit=" + options.emit + " is not one of " + llvm::join(phases, ", ") +
           " for --target=" + options.target;
  std::string problem;
  auto check = [&](const mkernel::options::Option &option, const auto &field) {
    if constexpr (std::is_same_v<decltype(field), const int64_t &>)
      if (field < 0 || field > option.most())
        problem = "error: " + option.outOfRange(field);
  };
  mkernel::options::forEachCompileOption(check, options);
  if (problem.empty() && options.emit == "package" && options.candidates > MK_MAX_CANDIDATES)
    problem = llvm::formatv("error: --candidates={0}: a package has at most {1} of a version: give "
                            "{1} or less; --emit=params lists more",
                            options.candidates, MK_MAX_CANDIDATES);
  if (problem.empty() && options.candidates && options.emit != "package" &&
      options.emit != "params")
    problem = llvm::formatv("error: --candidates={0} is for --emit=package and --emit=params: "
                            "--emit={1} prints the code of one, as --set chooses it",
                            options.candidates, options.emit);
  return problem;
}

/// The machine that options name. Adds to `messages` what is wrong with the options.
static TargetAttr chooseTarget(const CompileOptions &options, MLIRContext &context,
                               std::string &messages) {
  llvm::raw_string_ostream os(messages);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      os << loc.getFilename().getValue() << ':' << loc.getLine() << ": ";
    os << "error: " << diagnostic << '\n';
  });
  FailureOr<TargetAttr> target = resolveTarget(options.target, &context);
  if (failed(target))
    return {};
  std::string problem = checkOptions(options, *findTargetBackend(target->getBackend()));
  if (problem.empty())
    return *target;
  os << problem << '\n';
  return {};
}

/// Writes the target and the grid into the module, and into the options. A file that says which
/// machine of the backend it is for stays with it unless options describe one; when it has been
/// lowered they may not.
static LogicalResult setTarget(ModuleOp module, CompileOptions &options, TargetAttr target) {
  auto own = module->getAttrOfType<TargetAttr>(kTargetAttr);
  bool isLowered = hasMetadata(module) || llvm::any_of(module.getOps<KernelOp>(), hasPartitions);
  bool isNamed = findTargetBackend(options.target);
  // Not the line of the module, which is that of the whole description.
  Location loc = module.getBody()->empty() ? module.getLoc() : module.getBody()->front().getLoc();
  // What was measured is for the machines of names.
  if (!isNamed && options.tuning.empty())
    options.tuning = kModelAlone.str();
  if (own && own.getBackend() == target.getBackend() && isNamed) {
    if (failed(findTargetBackend(own.getBackend())->verify(own, module.getLoc())))
      return failure();
    target = own;
  } else if (own && isLowered && own.getBackend() != target.getBackend()) {
    return emitError(loc, "the file has been lowered for another target than ")
           << target.getName() << ": for " << own.getName();
  } else if (own && isLowered && own.getSm() != target.getSm()) {
    return emitError(loc, "the file has been lowered for target '")
           << own.getName() << "', not for '" << target.getName()
           << "': say --target=" << own.getBackend() << ", or begin with the tile level";
  }
  if (own && isLowered && options.gridOfMachine)
    options.grid = 0;
  if (own && isLowered && options.grid && options.grid != own.getGrid())
    return emitError(loc, "the file has been divided among ")
           << own.getGrid() << " CTAs, not " << options.grid
           << ": leave --grid out, or use the file that it was made from";
  if (!options.grid)
    options.grid = target.getGrid();
  options.target = target.getBackend().str();
  module->setAttr(kTargetAttr, TargetAttr::get(module.getContext(), target.getName(),
                                               target.getBackend(), options.grid, target.getSm(),
                                               target.getRates(), target.getLinks()));
  return success();
}

namespace {
struct SourceFile {
  StringRef text, name;
};
/// What a compilation says and prints.
struct Attempt {
  std::string messages, output;
};
} // namespace

/// Where parameters that nobody gave do not compile: what the model would take next, and then the
/// file's defaults, which may fit where what is best for other sizes does not. `attempt` is what
/// failed, and becomes what a user sees.
static bool compileOthers(const SourceFile &file, const CompileOptions &given,
                          const Compilation &failed, Attempt &attempt) {
  Attempt next;
  auto works = [&](const CompileOptions &options) {
    next = {};
    return compile(file.text, file.name, options, next.output, next.messages);
  };
  auto accept = [&](StringRef what) {
    // The first error says why.
    StringRef why = StringRef(attempt.messages).split("error: ").second.split('\n').first;
    std::string warning = "warning: parameters that were chosen for these sizes do not compile (" +
                          why.str() + "); " + what.str() + ": --set gives others\n";
    attempt = {warning + next.messages, std::move(next.output)};
    return true;
  };
  CompileOptions other = given;
  for (const NamedNumbers &params : failed.nextParams) {
    other.choice = params;
    if (!works(other))
      continue;
    std::string set;
    for (const auto &[name, value] : params)
      set += llvm::formatv("{0}{1}={2}", set.empty() ? "" : ", ", name, value);
    return accept("the next best ones are used (" + set + ")");
  }
  other.choice.clear();
  other.tuning = kNoTuning.str();
  if (!failed.choseParams)
    return false;
  if (works(other))
    return accept("the file's defaults are used");
  if (!StringRef(attempt.messages).starts_with(next.messages))
    attempt.messages +=
        "note: parameters that nobody gave were chosen for these sizes (--emit=params says which "
        "and by what); with the file's defaults it does not compile either:\n" +
        next.messages;
  return false;
}

bool mk::compile(StringRef source, StringRef name, const CompileOptions &given, std::string &output,
                 std::string &messages) {
  CompileOptions options = given;
  DialectRegistry registry;
  registerEverything(registry);
  // A kernel is a handful of functions: threads would cost more than they give.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<MkDialect>();
  TargetAttr target = chooseTarget(options, context, messages);
  if (!target) {
    if (options.misused)
      *options.misused = true;
    return false;
  }
  if (std::string problem = checkSource(source, name); !problem.empty()) {
    messages += problem + "\n";
    return false;
  }
  // The line that a message is about is shown; the op would be a page.
  context.printOpOnDiagnostic(false);
  if (options.remarks)
    if (std::string problem = enableRemarks(context, *options.remarks); !problem.empty()) {
      messages += "error: remarks: " + problem + "\n";
      if (options.misused)
        *options.misused = true;
      return false;
    }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  llvm::raw_string_ostream diagnostics(messages);
  SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || failed(setTarget(*module, options, target)))
    return false;
  llvm::raw_string_ostream os(output);
  Compilation compilation{options, *findTargetBackend(options.target), context, *module, os};
  bool hasCandidates = options.candidates > 1 && options.emit == "package";
  if ((!options.variants.empty() || hasCandidates) && options.emit != "signature") {
    FailureOr<VersionRequests> versions = compilation.readVersions();
    return succeeded(versions) &&
           compileVersions({source, name, given, *versions}, *module, os, messages);
  }
  size_t said = messages.size(), written = output.size();
  bool ok = succeeded(compilation.compile());
  if (!ok && options.choice.empty() &&
      (compilation.choseParams || !compilation.nextParams.empty())) {
    Attempt first{StringRef(messages).substr(said).str(), StringRef(output).substr(written).str()};
    ok = compileOthers({source, name}, given, compilation, first);
    messages.replace(said, std::string::npos, first.messages);
    output.replace(written, std::string::npos, first.output);
  }
  if (!ok && messages.empty())
    diagnostics << "error: " << name << " could not be compiled\n";
  return ok;
}
