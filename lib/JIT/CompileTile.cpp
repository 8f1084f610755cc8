//===- CompileTile.cpp - From a file of the tile level to a kernel --------===//
//
// Sizes and parameters are bound here, and what the options say of the kernel is checked.
//
//===----------------------------------------------------------------------===//
#include "Compilation.h"
#include "DeviceModule.h"
#include "VerifyFile.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Transforms/Passes.h"
#include "mkernel/Transforms/Reference.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mk;

/// The kernel that is meant; the others are erased.
FailureOr<KernelOp> Compilation::selectKernel() {
  SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
  auto getName = [](KernelOp kernel) { return kernel.getSymName(); };
  std::string names = quoted(llvm::map_range(kernels, getName)).str();
  if (kernels.empty())
    return module.emitError("there is no mk.kernel in the file");
  if (options.kernel.empty() && kernels.size() > 1)
    return kernels[1].emitError("the file has several kernels, ")
           << names << "; say which by --kernel";
  auto isMeant = [&](KernelOp kernel) {
    return options.kernel.empty() || kernel.getSymName() == options.kernel;
  };
  if (llvm::none_of(kernels, isMeant))
    return kernels[0].emitError("there is no kernel '")
           << options.kernel << "'; the file has " << names;
  KernelOp chosen;
  for (KernelOp kernel : kernels) {
    if (isMeant(kernel))
      chosen = kernel;
    else
      kernel.erase();
  }
  return chosen;
}

/// Whether the file has all parameters that options name.
bool Compilation::hasParams() {
  llvm::StringSet<> names;
  module.walk([&](ParamOp param) { names.insert(param.getName()); });
  return llvm::all_of(options.params,
                      [&](const auto &param) { return names.contains(param.first); });
}

std::string Compilation::listTileParams() {
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

/// What is given and what was found out of it, for pipelines.
static LoweringOptions lower(const CompileOptions &options, const Binding &binding) {
  LoweringOptions lowering;
  auto copy = [](const auto &, const auto &from, auto &to) {
    if constexpr (std::is_assignable_v<decltype(to), decltype(from)>)
      to = from;
  };
  mkernel::options::forEachCompileOption(copy, options, lowering);
  lowering.bind = binding.sizes;
  lowering.params = binding.params;
  llvm::append_range(lowering.rankSizes, binding.rankSizes());
  return lowering;
}

/// Values for parameters that nobody gave: measured for these very sizes, else the model's, which
/// knows what was measured nearby, else that.
FailureOr<ParamChoice> Compilation::chooseParams(KernelOp kernel, Binding &binding) {
  FailureOr<TuningChoice> tuning = findTuning(kernel, options, binding);
  if (failed(tuning))
    return failure();
  bool mayChoose = options.tuning != kNoTuning && !(tuning->found && tuning->exact);
  ModelChoice model = consultModel(kernel, options, binding, tuning->entry.set, mayChoose);
  choseParams = (tuning->found && !tuning->exact) || !model.set.empty();
  nextParams = model.next;
  // What was measured belongs together.
  setParams(model.set.empty() ? tuning->entry.set : model.set, binding);
  ParamChoice choice{std::move(*tuning), std::move(model), listChoices(kernel)};
  warnOfDefaults(kernel, binding, choice);
  return choice;
}

/// Warns where parameters that are extents of tiles stay at defaults that nobody has measured or
/// compared. Those that are a dimension by default follow from the sizes.
void Compilation::warnOfDefaults(KernelOp kernel, const Binding &binding,
                                 const ParamChoice &choice) {
  TargetAttr target = findTarget(module);
  bool isBound = llvm::all_of(kernel.getDimNames(), [&](Attribute name) {
    StringRef dim = cast<StringAttr>(name).getValue();
    return binding.dims.contains(dim) ||
           llvm::any_of(options.tuneFor, [&](const auto &size) { return size.first == dim; });
  });
  if (options.tuning == kNoTuning || choice.tuning.found || choice.model.compared || !isBound ||
      !target.getSm() || !target.getRates())
    return;
  auto isGiven = [&](StringRef name) {
    return llvm::any_of(binding.params,
                        [&](StringRef pair) { return pair.split('=').first == name; });
  };
  SmallVector<StringRef> names;
  StringRef(tileParams).split(names, ", ", -1, /*KeepEmpty=*/false);
  llvm::erase_if(names, isGiven);
  bool lists = false;
  kernel.walk([&](ParamOp param) {
    if (llvm::is_contained(kernel.getBody().getArguments(), param.getDefaultValue()))
      llvm::erase(names, param.getName());
    lists |= param.getChoices() && !isGiven(param.getName());
  });
  if (names.empty())
    return;
  InFlightDiagnostic warning = kernel.emitWarning();
  warning << "kernel '" << kernel.getSymName() << "' has defaults for " << llvm::join(names, ", ")
          << ", which nobody has measured: no tuning entry serves it, and ";
  if (!choice.model.why.empty())
    warning << "the model cannot compare others, since " << choice.model.why;
  else
    warning << (lists ? "none of the choices fits" : "the file lists no choices");
  warning << "; give values (--set) or measure it (mk-bench --tune)"
          << (lists ? ""
                    : ", or list choices: mk.param \"" + names.front().str() + "\" = ... in [...]");
}

LogicalResult Compilation::compileTile() {
  if (failed(verifyFile(module)))
    return failure();
  FailureOr<KernelOp> selected = selectKernel();
  if (failed(selected))
    return misuse();
  FailureOr<Binding> binding = resolveBinding(*selected, options);
  if (failed(binding))
    return misuse();
  tileParams = listTileParams();
  for (auto role : (*selected).getBody().getOps<RoleOp>())
    if (auto beside = role.getBeside())
      moverAdvice = ("; a role beside another has few registers, which tiles do not change: where "
                     "these are too few, give role '" +
                     role.getSymName() + "' CTAs of its own (ctas(1) then @" + beside.getValue() +
                     ")")
                        .str();
  FailureOr<ParamChoice> choice = chooseParams(*selected, *binding);
  if (failed(choice))
    return misuse();
  if (!hasParams())
    (void)misuse(); // mk-bind says which
  LoweringOptions lowering = lower(options, *binding);
  // Defaults may follow what is bound.
  if (failed(run(module, [&](OpPassManager &pm) { buildBindPipeline(pm, lowering); })))
    return failure();
  llvm::json::Object params = describeParams(*selected, options, *binding, *choice);
  if (options.emit == "params") {
    output << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(params)));
    return success();
  }
  FailureOr<HostCpu> cpu = resolveCpu(options.cpu, options.optimize, module.getLoc());
  if (failed(cpu))
    return misuse();
  lowering.vectorBits = cpu->vectorBits;
  if (options.emit != "tile") // before a copy in the reference is taken for its source
    for (auto function : module.getOps<func::FuncOp>())
      guardExtents(function);
  if (failed(run(module, buildParamsPipeline)) ||
      failed(run(
          module, [&](OpPassManager &pm) { buildBoundPipeline(pm, lowering); }, Verify::Last)))
    return failure();
  if (options.emit == "tile") {
    module.print(output);
    return success();
  }
  // Before anything counts or numbers roles.
  if (failed(run(module, [&](OpPassManager &pm) { pm.addPass(createDropIdleRolesPass()); })))
    return failure();
  KernelOp kernel = *module.getOps<KernelOp>().begin();
  func::FuncOp reference = findReference(kernel);
  MetadataOptions about{options.target, cpu->name, std::move(binding->dims), reference,
                        std::move(*params.getObject("params"))};
  about.roundings = !hasPartitions(kernel);
  about.fp8Sums = backend.getFp8Sums();
  about.runsBeside = backend.hasDeviceModule();
  return backend.hasDeviceModule() ? compileDevice(kernel, about, lowering, *cpu)
                                   : compileHost(kernel, about, lowering, *cpu);
}
