//===- Compiler.cpp - From a file to a package in one step ----------------===//
#include "mkernel/Compiler/Compiler.h"
#include "mkernel/Compiler/Guarded.h"
#include "Binding.h"
#include "DeviceModule.h"
#include "Merge.h"
#include "Tuning.h"
#include "VerifyFile.h"
#include "mkernel/ABI/Timeline.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Compiler/Registration.h"
#include "mkernel/Compiler/Remarks.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Target/Backend.h"
#include "mkernel/Target/Common.h"
#include "mkernel/Target/Host/Emit.h"
#include "mkernel/Transforms/Passes.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
struct Compilation {
  const CompileOptions &options;
  const TargetBackend &backend;
  MLIRContext &context;
  ModuleOp module;
  llvm::raw_ostream &output;
  /// Parameters are those of other sizes, which a tuning file has.
  bool tunedNearby = false;
  /// Parameters that are extents of tiles, as messages name them.
  std::string tileParams;

  LogicalResult run(ModuleOp target,
                    llvm::function_ref<void(OpPassManager &)> build) {
    PassManager pm(&context, ModuleOp::getOperationName());
    if (options.setup && failed(options.setup(pm)))
      return failure();
    build(pm);
    return pm.run(target);
  }

  /// The kernel that is meant; the others are erased.
  FailureOr<KernelOp> selectKernel() {
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    std::string names;
    llvm::raw_string_ostream os(names);
    llvm::interleaveComma(kernels, os, [&](KernelOp kernel) {
      os << '\'' << kernel.getSymName() << '\'';
    });
    if (kernels.empty())
      return module.emitError("there is no mk.kernel in the file");
    if (options.kernel.empty() && kernels.size() > 1)
      return module.emitError("the file has several kernels, ")
             << names << "; say which by --kernel";
    KernelOp chosen;
    for (KernelOp kernel : kernels) {
      if (options.kernel.empty() || kernel.getSymName() == options.kernel)
        chosen = kernel;
      else
        kernel.erase();
    }
    if (!chosen)
      return module.emitError("there is no kernel '")
             << options.kernel << "'; the file has " << names;
    return chosen;
  }

  /// The reference in the LLVM dialect, in a module of its own; null if there
  /// is none. It leaves `module`, whose passes are for kernels.
  FailureOr<OwningOpRef<ModuleOp>> lowerReference(func::FuncOp reference,
                                                  KernelOp kernel) {
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != reference)
        function.setPrivate();
    if (!reference)
      return OwningOpRef<ModuleOp>();
    FailureOr<OwningOpRef<ModuleOp>> extracted =
        extractReference(reference, kernel.getMeshOp());
    if (failed(extracted))
      return failure();
    bool destinations = hasDestinations(kernel, reference);
    (*extracted)->lookupSymbol<func::FuncOp>(reference.getSymName()).setName(
        "reference");
    reference.erase();
    if (failed(run(**extracted, [&](OpPassManager &pm) {
          pm.addPass(createLowerReferencePass(destinations));
        })))
      return failure();
    return extracted;
  }

  /// A failure that changing the options would mend.
  LogicalResult misuse() {
    if (options.misused)
      *options.misused = true;
    return failure();
  }

  /// Whether the file has all parameters that options name.
  bool hasParams() {
    llvm::StringSet<> names;
    module.walk([&](ParamOp param) { names.insert(param.getName()); });
    return llvm::all_of(options.params, [&](const auto &param) {
      return names.contains(param.first);
    });
  }

  std::string listTileParams() {
    llvm::SetVector<StringRef> names;
    module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<RankedTensorType>(type))
          if (auto extents = dyn_cast_or_null<ExtentsAttr>(tile.getEncoding()))
            for (StringAttr name : extents.getNames())
              names.insert(name.getValue());
    });
    return llvm::join(names, ", ");
  }

  /// Warns where the assembler keeps registers in memory.
  LogicalResult checkSpills(ModuleOp device, StringRef text) {
    if (options.assembler.empty())
      return success();
    Location loc = device.getLoc();
    FailureOr<int64_t> bytes = backend.measureSpills(text, options.assembler, loc);
    if (failed(bytes))
      return failure();
    if (*bytes) {
      InFlightDiagnostic warning = emitWarning(loc);
      warning << "the kernel spills: " << *bytes
              << " bytes of each thread are in memory instead of registers, which makes it "
                 "slower: compile it with smaller tiles";
      if (!tileParams.empty())
        warning << " (parameters " << tileParams << ')';
    }
    return success();
  }

  LoweringOptions getLowering() const {
    LoweringOptions lowering;
    lowering.grid = options.grid;
    lowering.bounds = options.bounds;
    lowering.record = options.record;
    lowering.timeline = options.timeline;
    return lowering;
  }

  LogicalResult compileTile() {
    if (failed(verifyFile(module)))
      return failure();
    FailureOr<KernelOp> selected = selectKernel();
    if (failed(selected))
      return misuse();
    FailureOr<Binding> binding = resolveBinding(*selected, options);
    if (failed(binding))
      return misuse();
    tileParams = listTileParams();
    FailureOr<TuningChoice> tuning = applyTuning(*selected, options, *binding);
    if (failed(tuning))
      return misuse();
    tunedNearby = tuning->found && !tuning->exact;
    if (!hasParams())
      (void)misuse(); // mk-bind says which
    if (options.emit == "params") {
      // Defaults may follow what is bound.
      BindPassOptions bind;
      bind.sizes.assign(binding->sizes.begin(), binding->sizes.end());
      bind.params.assign(binding->params.begin(), binding->params.end());
      if (failed(run(module, [&](OpPassManager &pm) {
            pm.addPass(createBindPass(bind));
            pm.addPass(createInlineCallsPass());
          })))
        return failure();
      output << llvm::formatv(
          "{0:2}\n", describeParams(*selected, options, *binding, *tuning));
      return success();
    }
    FailureOr<HostCpu> cpu = resolveCpu(options.cpu, module.getLoc());
    if (failed(cpu))
      return misuse();
    HostOptions host;
    host.sizes = ArrayRef<std::string>(binding->sizes);
    host.params = ArrayRef<std::string>(binding->params);
    host.grid = options.grid;
    host.verify = options.verify;
    SmallVector<std::string> rankSizes = binding->rankSizes();
    host.rankSizes = ArrayRef<std::string>(rankSizes);
    if (failed(run(module, [&](OpPassManager &pm) {
          buildTilePipeline(pm, host);
        })))
      return failure();
    if (options.emit == "tile") {
      module.print(output);
      return success();
    }
    KernelOp kernel = *module.getOps<KernelOp>().begin();
    func::FuncOp reference = findReference(kernel);
    MetadataOptions about{options.target, cpu->name, options.grid,
                          std::move(binding->dims), reference};
    about.roundings = !hasPartitions(kernel);
    about.fp8Sums = backend.getFp8Sums();
    if (backend.hasDeviceModule())
      return compileDevice(kernel, about, *cpu);
    FailureOr<llvm::json::Object> metadata = buildMetadata(kernel, about);
    if (failed(metadata))
      return failure();
    if (options.timeline) // a CTA is a thread
      addTimeline(kernel, *metadata, MK_TIMELINE_HOST_RECORDS, 1);
    FailureOr<OwningOpRef<ModuleOp>> lowered =
        lowerReference(reference, kernel);
    if (failed(lowered))
      return failure();
    if (failed(run(module, [&](OpPassManager &pm) {
          pm.addPass(createSymbolDCEPass());
          LoweringOptions lowering = getLowering();
          lowering.vectorBits = cpu->vectorBits;
          backend.buildKernelPipeline(pm, lowering);
          backend.buildCodePipeline(pm, lowering);
        })))
      return failure();
    if (failed(takeSites(module, *metadata)) ||
        (*lowered && failed(mergeModule(module, **lowered))))
      return failure();
    setMetadata(module, llvm::json::Value(std::move(*metadata)));
    return emitLLVM(module, *cpu);
  }

  /// What launches record, and which roles do what.
  static void addTimeline(KernelOp kernel, llvm::json::Object &metadata, int64_t records,
                          int64_t tracks) {
    llvm::json::Array communicates, computes;
    for (RoleOp role : getKernelResources(kernel).roles) {
      bool sends = false, multiplies = false;
      role.walk([&](Operation *op) {
        sends |= isa<PutOp>(op);
        if (auto store = dyn_cast<mk::StoreOp>(op))
          sends |= static_cast<bool>(store.getPeer());
        if (auto store = dyn_cast<mk_sm::StoreOp>(op))
          sends |= static_cast<bool>(store.getPeer());
        multiplies |= isa<DotOp, mk_sm::MmaOp>(op);
      });
      communicates.push_back(sends);
      computes.push_back(multiplies);
    }
    metadata["timeline"] = llvm::json::Object{{"records", records},
                                              {"tracks", tracks},
                                              {"communicates", std::move(communicates)},
                                              {"computes", std::move(computes)}};
  }

  /// Moves the list of ops that host code checks into the metadata, if there is one.
  LogicalResult takeSites(ModuleOp host, llvm::json::Object &metadata) {
    if (!host.lookupSymbol("mk_sites"))
      return success();
    FailureOr<llvm::json::Object> object =
        takeJsonConstant(host, "mk_sites", "lists ops that are checked");
    if (failed(object))
      return failure();
    metadata["sites"] = std::move(*object->get("sites"));
    return success();
  }

  /// Those of the kernel at its lowest level, or the one that is asked for.
  FailureOr<SmallVector<KernelVariant>> chooseVariants() {
    KernelOp kernel = *module.getOps<KernelOp>().begin();
    SmallVector<KernelVariant> variants = backend.listVariants(kernel);
    if (options.variant.empty())
      return variants;
    for (const KernelVariant &variant : variants)
      if (variant.name == options.variant)
        return SmallVector<KernelVariant>{variant};
    InFlightDiagnostic diag = kernel.emitError("has no variant '") << options.variant << "'; it has ";
    llvm::interleaveComma(variants, diag,
                          [&](const KernelVariant &variant) { diag << variant.name; });
    return misuse();
  }

  /// From a module at the tile or the SM level with sizes bound, for targets whose roles become a
  /// module beside the host part.
  LogicalResult compileDevice(KernelOp kernel, const MetadataOptions &about,
                          const HostCpu &cpu) {
    bool isTile = !hasPartitions(kernel);
    LoweringOptions lowering = getLowering();
    auto lowerKernel = [&](OpPassManager &pm) {
      if (isTile)
        backend.buildKernelPipeline(pm, lowering);
    };
    if (options.emit == backend.getKernelPhase()) {
      if (failed(run(module, lowerKernel)))
        return failure();
      module.print(output);
      return success();
    }
    FailureOr<llvm::json::Object> metadata = buildMetadata(kernel, about);
    if (failed(metadata))
      return failure();
    if (!isTile)
      listTickets(kernel, *metadata);
    if (options.timeline)
      addTimeline(kernel, *metadata, 0, 0);
    FailureOr<OwningOpRef<ModuleOp>> lowered =
        lowerReference(about.reference, kernel);
    if (failed(lowered))
      return failure();
    OwningOpRef<ModuleOp> host = module.clone();
    if (failed(run(*host, [&](OpPassManager &pm) {
          pm.addPass(createSymbolDCEPass());
          buildHostPlanPipeline(pm);
        })))
      return failure();
    if (*lowered && failed(mergeModule(*host, **lowered)))
      return failure();
    lowering.loops = metadata->getArray("loops")->size();
    if (failed(run(module, lowerKernel)))
      return failure();
    FailureOr<SmallVector<KernelVariant>> variants = chooseVariants();
    if (failed(variants))
      return failure();
    for (const KernelVariant &variant : *variants) {
      lowering.variant = variant.name;
      OwningOpRef<ModuleOp> device = module.clone();
      if (failed(run(*device, [&](OpPassManager &pm) { backend.buildCodePipeline(pm, lowering); })))
        return failure();
      nestDeviceModule(*host, *device);
    }
    setMetadata(*host, llvm::json::Value(std::move(*metadata)));
    return emitCode(*host, cpu);
  }

  /// Refuses options that ask a module with metadata for what it no longer has.
  LogicalResult checkLowered(ModuleOp host) {
    SmallVector<ModuleOp> devices = findDeviceModules(host);
    if (devices.empty() == backend.hasDeviceModule())
      return host.emitError("has been lowered for another target than ") << options.target;
    StringRef level = hasThreadLevel(devices) ? "at the thread level" : "in the LLVM dialect";
    auto refuse = [&](const Twine &why) {
      return host.emitError("is ") << level << " already: " << why
                                   << "; use the file that it was made from";
    };
    if (!options.bind.empty())
      return refuse("nothing can be bound");
    if (options.emit == "params")
      return refuse("it has no parameters left");
    if (options.emit == "tile" || options.emit == backend.getKernelPhase() ||
        (options.emit == backend.getCodePhase() && !hasThreadLevel(devices)))
      return refuse("there is no phase '" + Twine(options.emit) + "' left");
    return success();
  }

  /// From a module that holds its metadata and, where the target has one, a device module at the
  /// thread level or in the LLVM dialect.
  LogicalResult emitCode(ModuleOp host, const HostCpu &cpu) {
    if (options.emit == backend.getCodePhase()) {
      host.print(output);
      return success();
    }
    for (ModuleOp device : findDeviceModules(host))
      if (failed(run(device, [&](OpPassManager &pm) { backend.buildLLVMPipeline(pm); })))
        return failure();
    return emitLLVM(host, cpu);
  }

  /// From a module in the LLVM dialect that holds its metadata and, where the target has one, a
  /// device module.
  LogicalResult emitLLVM(ModuleOp host, const HostCpu &cpu) {
    if (options.emit == "llvm") {
      host.print(output);
      return success();
    }
    FailureOr<llvm::json::Object> metadata = takeMetadata(host);
    if (failed(metadata))
      return failure();
    SmallVector<ModuleOp> devices = findDeviceModules(host);
    llvm::LLVMContext llvmContext;
    if (options.emit == "llvmir") {
      auto translated = backend.translate(devices.empty() ? host : devices.front(), cpu, llvmContext);
      if (failed(translated))
        return failure();
      (*translated)->print(output, nullptr);
      return success();
    }
    llvm::json::Array variants;
    for (ModuleOp device : devices) {
      FailureOr<DeviceCode> code = backend.emitDevice(device);
      // The assembler takes its time: only the preferred variant's code.
      if (failed(code) || (variants.empty() && failed(checkSpills(device, code->text))))
        return failure();
      if (options.emit == backend.getTextPhase()) {
        output << code->text;
        return success();
      }
      llvm::json::Object &gpu = code->metadata;
      if (llvm::json::Value *sites = gpu.get("sites")) {
        // Ops that are checked are the same in all variants.
        (*metadata)["sites"] = std::move(*sites);
        gpu.erase("sites");
      }
      if (llvm::json::Value *timeline = gpu.get("timeline")) {
        // Known when there is code.
        llvm::json::Object &whole = *metadata->getObject("timeline");
        for (StringRef key : {"records", "tracks"})
          whole[key] = *timeline->getAsObject()->getInteger(key);
        gpu.erase("timeline");
      }
      device.erase();
      backend.addDevice(host, variants.size(), code->text);
      variants.push_back(std::move(gpu));
    }
    if (!devices.empty())
      (*metadata)["gpu"] = llvm::json::Object{{"variants", std::move(variants)}};
    SmallVector<char, 0> package;
    if (failed(emitPackage(host, cpu, std::move(*metadata), package)))
      return failure();
    output << StringRef(package.data(), package.size());
    return success();
  }

  LogicalResult compile() {
    if (options.emit == "signature") {
      output << llvm::formatv("{0:2}\n", buildSignature(module));
      return success();
    }
    if (!hasMetadata(module))
      return compileTile();
    if (failed(checkLowered(module)))
      return failure();
    FailureOr<HostCpu> cpu = resolveCpu(options.cpu, module.getLoc());
    return failed(cpu) ? failure() : emitCode(module, *cpu);
  }
};
} // namespace

/// A message about the options themselves; empty if they are fine.
static std::string checkOptions(const CompileOptions &options, const TargetBackend &backend) {
  SmallVector<StringRef> phases{"signature", "params", "tile", backend.getKernelPhase(),
                                backend.getCodePhase(), "llvm", "llvmir", backend.getTextPhase(),
                                "package"};
  llvm::erase(phases, StringRef());
  if (!llvm::is_contained(phases, options.emit))
    return "error: --emit=" + options.emit + " is not one of " +
           llvm::join(phases, ", ") + " for --target=" + options.target;
  std::string problem;
  auto check = [&](const mkernel::options::Option &option, const auto &field) {
    if constexpr (std::is_same_v<decltype(field), const int64_t &>)
      if (field < 0 || field > option.most())
        problem = "error: " + option.outOfRange(field);
  };
  mkernel::options::forEachCompileOption(check, options);
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
  // What was measured is for the machines of names.
  if (!isNamed && options.tuning.empty())
    options.tuning = "none";
  if (own && own.getBackend() == target.getBackend() && isNamed) {
    if (failed(findTargetBackend(own.getBackend())->verify(own, module.getLoc())))
      return failure();
    target = own;
  } else if (own && isLowered && own.getBackend() != target.getBackend()) {
    return module.emitError("has been lowered for another target than ")
           << target.getName() << ": for " << own.getName();
  } else if (own && isLowered && own.getSm() != target.getSm()) {
    return module.emitError("has been lowered for target '")
           << own.getName() << "', not for '" << target.getName()
           << "': say --target=" << own.getBackend() << ", or begin with the tile level";
  }
  if (!options.grid)
    options.grid = target.getGrid();
  options.target = target.getBackend().str();
  module->setAttr(kTargetAttr, TargetAttr::get(module.getContext(), target.getName(),
                                               target.getBackend(), options.grid, target.getSm()));
  return success();
}

bool mk::compile(StringRef source, StringRef name, const CompileOptions &given,
                 std::string &output, std::string &messages) {
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
  if (std::string problem = checkNesting(source, name); !problem.empty()) {
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
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name),
                             llvm::SMLoc());
  llvm::raw_string_ostream diagnostics(messages);
  SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || failed(setTarget(*module, options, target)))
    return false;
  llvm::raw_string_ostream os(output);
  Compilation compilation{options, *findTargetBackend(options.target), context, *module, os, false, {}};
  size_t said = messages.size(), written = output.size();
  bool ok = succeeded(compilation.compile());
  if (!ok && compilation.tunedNearby) {
    // What is best for other sizes may not fit these; the file's defaults may.
    CompileOptions plain = given;
    plain.tuning = "none";
    std::string result, remarks;
    if (compile(source, name, plain, result, remarks)) {
      output.replace(written, std::string::npos, result);
      messages.replace(said, std::string::npos, remarks);
      return true;
    }
  }
  if (!ok && messages.empty())
    diagnostics << "error: " << name << " could not be compiled\n";
  return ok;
}
