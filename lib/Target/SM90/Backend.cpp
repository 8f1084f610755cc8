//===- Backend.cpp - The target `sm_90a` ----------------------------------===//
#include "mkernel/Target/Backend.h"
#include "Description.h"
#include "Emit.h"
#include "Pipelines.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// PTX for GPUs of compute capability 9.0, through the SM and the thread level.
class SM90Backend : public TargetBackend {
public:
  StringRef getName() const override { return sm90::kName; }

  TargetAttr describe(MLIRContext *context) const override { return sm90::describe(context); }

  LogicalResult verify(TargetAttr target, Location loc) const override {
    return sm90::verify(target, loc);
  }

  /// Files of the SM level that name no target are for this one.
  void registerDialects(DialectRegistry &registry) const override {
    registry.addExtension(+[](MLIRContext *context, MkDialect *dialect) {
      dialect->setDefaultTarget(sm90::describe(context));
    });
  }

  void registerPipelines() const override { registerSmPipelines(); }

  StringRef getKernelPhase() const override { return "sm"; }
  StringRef getCodePhase() const override { return "thread"; }
  StringRef getTextPhase() const override { return "ptx"; }

  bool hasDeviceModule() const override { return true; }

  double getFp8Sums() const override { return kFp8Sums; }

  void buildKernelPipeline(OpPassManager &pm, const LoweringOptions &options) const override {
    buildSmLoweringPipeline(pm);
  }

  SmallVector<KernelVariant> listVariants(KernelOp kernel) const override {
    return mk::listVariants(kernel);
  }

  void buildCodePipeline(OpPassManager &pm, const LoweringOptions &options) const override {
    buildThreadPipeline(pm, options);
  }

  void buildLLVMPipeline(OpPassManager &pm) const override { buildThreadCodePipeline(pm); }

  FailureOr<std::unique_ptr<llvm::Module>> translate(ModuleOp module, const HostCpu &,
                                                     llvm::LLVMContext &context) const override {
    return translateDeviceModule(module, context);
  }

  FailureOr<DeviceCode> emitDevice(ModuleOp device) const override {
    FailureOr<llvm::json::Object> metadata = takeGpuMetadata(device);
    FailureOr<std::string> text = emitPtx(device);
    if (failed(metadata) || failed(text))
      return failure();
    return DeviceCode{std::move(*text), std::move(*metadata)};
  }

  FailureOr<int64_t> measureSpills(StringRef text, StringRef assembler,
                                   Location loc) const override {
    return mk::measureSpills(text, assembler, loc);
  }

  void addDevice(ModuleOp host, int64_t variant, StringRef text) const override {
    addDeviceCode(host, variant, text);
  }
};
} // namespace

namespace mlir::mk {
const TargetBackend &getSM90Backend() {
  static const SM90Backend backend;
  return backend;
}
} // namespace mlir::mk
