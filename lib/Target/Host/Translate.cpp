//===- Translate.cpp - To optimised LLVM IR -------------------------------===//
#include "HostMachine.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Target/Common.h"
#include "mkernel/Target/Host/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace mlir;

static const llvm::Target *getNativeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Tiles give blocks of thousands of instructions. How the scheduler tracks their memory
    // takes time that grows with the square, up to this many.
    mk::setLlvmOption("dag-maps-huge-region", "100");
  });
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(llvm::sys::getDefaultTargetTriple()), error);
  assert(target && "it has just been registered");
  return target;
}

FailureOr<mk::HostCpu> mk::resolveCpu(StringRef name, bool optimizes, Location loc) {
  HostCpu cpu;
  cpu.optimizes = optimizes;
  const llvm::Target *target = getNativeTarget();
  if (name.empty() || name == "native") {
    cpu.name = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures features;
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    cpu.features = features.getString();
  } else {
    cpu.name = name.str();
  }
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  // Asked without a CPU first: asking with an unknown one prints a warning.
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, "", ""));
  if (!info || !info->isCPUStringValid(cpu.name))
    return emitError(loc) << "there is no CPU '" << cpu.name << "' for " << triple.getArchName()
                          << "; use 'native' or a name that 'llc -mcpu=help' lists";
  info.reset(target->createMCSubtargetInfo(triple, cpu.name, cpu.features));
  cpu.vectorBits = 128;
  if (triple.isX86())
    cpu.vectorBits = info->checkFeatures("+avx512f") ? 512
                     : info->checkFeatures("+avx")   ? 256
                                                     : 128;
  if (triple.isX86()) {
#define MK_NAME(name) name,
    static constexpr StringRef known[] = {MK_CPU_FEATURES(MK_NAME)};
#undef MK_NAME
    for (const llvm::SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
      if (const auto *name = llvm::find(known, StringRef(feature.Key)); name != std::end(known))
        cpu.needs.push_back(*name);
  }
  return cpu;
}

std::unique_ptr<llvm::TargetMachine> mk::makeHostMachine(const HostCpu &cpu) {
  const llvm::Target *target = getNativeTarget();
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(llvm::sys::getDefaultTargetTriple()), cpu.name, cpu.features,
      llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      cpu.optimizes ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None));
}

/// What the loader of a package looks up.
static bool isEntryPoint(StringRef name) {
  return name == "mk_plan" || name == "mk_select" || name == "mk_prepare" ||
         name == "mk_reference" || name.starts_with("mk_role_");
}

/// What the loader looks up besides: code for a GPU, which travels with its host
/// part, and whose metadata this is.
static bool isData(StringRef name) {
  return name.starts_with("mk_device_code_") || name.starts_with("mk_device_bytes_") ||
         name == "mk_metadata_digest";
}

static void setAttributes(llvm::Module &module, const mk::HostCpu &cpu) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (!isEntryPoint(function.getName()))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr("target-cpu", cpu.name);
    if (!cpu.features.empty())
      function.addFnAttr("target-features", cpu.features);
    // A runtime call that cannot succeed unwinds through these frames.
    function.setUWTableKind(llvm::UWTableKind::Sync);
  }
  for (llvm::GlobalVariable &global : module.globals())
    if (!global.isDeclaration() && !isData(global.getName()))
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
}

FailureOr<std::unique_ptr<llvm::Module>>
mk::translateHostModule(ModuleOp module, const HostCpu &cpu, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::TargetMachine> machine = mk::makeHostMachine(cpu);
  // -O3 takes twice as long for large kernels, whose code is not faster.
  return translateModule(module, *machine, context,
                         cpu.optimizes ? "default<O2>" : "default<O0>", [&](llvm::Module &translated) {
                           translated.setPICLevel(llvm::PICLevel::BigPIC);
                           setAttributes(translated, cpu);
                         });
}
