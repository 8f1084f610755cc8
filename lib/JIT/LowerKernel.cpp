//===- LowerKernel.cpp - From a kernel with sizes bound to code -----------===//
#include "Compilation.h"
#include "DeviceModule.h"
#include "Merge.h"
#include "mkernel/ABI/Timeline.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Target/Common.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mk;

/// What is not called any more can go.
static void hideHelpers(ModuleOp module, func::FuncOp reference) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function != reference)
      function.setPrivate();
}

/// The reference in the LLVM dialect, in a module of its own; null if there
/// is none. It leaves `module`, whose passes are for kernels.
FailureOr<OwningOpRef<ModuleOp>> Compilation::lowerReference(func::FuncOp reference,
                                                             KernelOp kernel) {
  hideHelpers(module, reference);
  if (!reference)
    return OwningOpRef<ModuleOp>();
  FailureOr<OwningOpRef<ModuleOp>> extracted = extractReference(reference, kernel.getMeshOp());
  if (failed(extracted))
    return failure();
  bool destinations = hasDestinations(kernel, reference);
  (*extracted)->lookupSymbol<func::FuncOp>(reference.getSymName()).setName("reference");
  reference.erase();
  if (failed(run(**extracted,
                 [&](OpPassManager &pm) { pm.addPass(createLowerReferencePass(destinations)); })))
    return failure();
  return extracted;
}

/// What launches record, and which roles do what.
static void addTimeline(KernelOp kernel, llvm::json::Object &metadata, int64_t records,
                        int64_t tracks) {
  llvm::json::Array communicates, computes;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
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

/// Moves the list of ops that host code checks into the metadata, if there is one, as `key`.
static LogicalResult takeSites(ModuleOp host, llvm::json::Object &metadata,
                               StringRef key = "sites") {
  if (!host.lookupSymbol("mk_sites"))
    return success();
  FailureOr<llvm::json::Object> object =
      takeJsonConstant(host, "mk_sites", "lists ops that are checked");
  if (failed(object))
    return failure();
  metadata[key] = std::move(*object->get("sites"));
  return success();
}

LogicalResult Compilation::compileHost(KernelOp kernel, const MetadataOptions &about,
                                       const LoweringOptions &lowering, const HostCpu &cpu) {
  FailureOr<llvm::json::Object> metadata = buildMetadata(kernel, about);
  if (failed(metadata))
    return failure();
  if (options.timeline) // a CTA is a thread
    addTimeline(kernel, *metadata, MK_TIMELINE_HOST_RECORDS, 1);
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerReference(about.reference, kernel);
  if (failed(lowered))
    return failure();
  if (failed(run(module, [&](OpPassManager &pm) {
        pm.addPass(createSymbolDCEPass());
        backend.buildKernelPipeline(pm, lowering);
        backend.buildCodePipeline(pm, lowering);
      })))
    return failure();
  if (failed(takeSites(module, *metadata)))
    return failure();
  if (*lowered)
    mergeModule(module, **lowered);
  setMetadata(module, llvm::json::Value(std::move(*metadata)));
  return emitLLVM(module, cpu);
}

/// Those of the kernel at its lowest level, or the one that is asked for.
FailureOr<SmallVector<KernelVariant>> Compilation::chooseVariants() {
  KernelOp kernel = *module.getOps<KernelOp>().begin();
  SmallVector<KernelVariant> variants = backend.listVariants(kernel);
  if (options.variant.empty()) {
    if (emitsText())
      variants.truncate(1);
    return variants;
  }
  for (const KernelVariant &variant : variants)
    if (variant.name == options.variant)
      return SmallVector<KernelVariant>{variant};
  InFlightDiagnostic diag = kernel.emitError()
                            << "kernel '" << kernel.getSymName() << "' has no variant '"
                            << options.variant << "'; it has ";
  llvm::interleaveComma(variants, diag,
                        [&](const KernelVariant &variant) { diag << variant.name; });
  return misuse();
}

/// What the host does for a kernel that runs beside it. Text has nothing of it: then it is empty.
FailureOr<OwningOpRef<ModuleOp>> Compilation::lowerHostPart(KernelOp kernel,
                                                            const MetadataOptions &about,
                                                            const LoweringOptions &lowering,
                                                            llvm::json::Object &metadata) {
  if (emitsText()) {
    hideHelpers(module, about.reference);
    if (func::FuncOp reference = about.reference)
      reference.erase();
    OwningOpRef<ModuleOp> empty = ModuleOp::create(module.getLoc());
    (*empty)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
    return empty;
  }
  FailureOr<OwningOpRef<ModuleOp>> reference = lowerReference(about.reference, kernel);
  if (failed(reference))
    return failure();
  OwningOpRef<ModuleOp> host = module.clone();
  if (failed(run(*host,
                 [&](OpPassManager &pm) {
                   pm.addPass(createSymbolDCEPass());
                   buildHostPartPipeline(pm, lowering, kernel.hasEngines());
                 })) ||
      failed(takeSites(*host, metadata, "engine_sites")))
    return failure();
  if (*reference)
    mergeModule(*host, **reference);
  return host;
}

LogicalResult Compilation::compileDevice(KernelOp kernel, const MetadataOptions &about,
                                         LoweringOptions lowering, const HostCpu &cpu) {
  bool isTile = !hasPartitions(kernel);
  auto lowerKernel = [&](OpPassManager &pm) {
    if (isTile)
      backend.buildKernelPipeline(pm, lowering);
  };
  if (options.emit == backend.getKernelPhase()) {
    if (failed(run(module, lowerKernel, Verify::Last)))
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
  FailureOr<OwningOpRef<ModuleOp>> host = lowerHostPart(kernel, about, lowering, *metadata);
  if (failed(host))
    return failure();
  lowering.loops = metadata->getArray("loops")->size();
  if (failed(run(module, lowerKernel, Verify::Last)))
    return failure();
  FailureOr<SmallVector<KernelVariant>> variants = chooseVariants();
  if (failed(variants))
    return failure();
  for (const KernelVariant &variant : *variants) {
    lowering.variant = variant.name.str();
    OwningOpRef<ModuleOp> device = module.clone();
    if (failed(run(
            *device, [&](OpPassManager &pm) { backend.buildCodePipeline(pm, lowering); },
            Verify::Last)))
      return failure();
    nestDeviceModule(**host, *device);
  }
  setMetadata(**host, llvm::json::Value(std::move(*metadata)));
  return emitCode(**host, cpu);
}
