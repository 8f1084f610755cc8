//===- Backend.cpp - The target `host` ------------------------------------===//
#include "mkernel/Target/Backend.h"
#include "mkernel/Pipelines/Host.h"
#include "mkernel/Target/Host/Emit.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Native code, in which each CTA is a thread.
class HostBackend : public TargetBackend {
public:
  StringRef getName() const override { return "host"; }

  TargetAttr describe(MLIRContext *context) const override {
    return TargetAttr::get(context, getName(), getName(), /*grid=*/16, SmAttr(), RatesAttr(),
                           LinksAttr());
  }

  LogicalResult verify(TargetAttr target, Location loc) const override {
    if (target.getSm())
      return emitError(loc) << "target '" << target.getName()
                            << "' of backend 'host' has SMs, which a CPU has not: leave 'sm' out";
    return success();
  }

  void registerPipelines() const override { registerHostPipelines(); }

  bool hasDeviceModule() const override { return false; }

  void buildCodePipeline(OpPassManager &pm, const LoweringOptions &options) const override {
    buildHostLoweringPipeline(pm, options);
  }

  FailureOr<std::unique_ptr<llvm::Module>> translate(ModuleOp module, const HostCpu &cpu,
                                                     llvm::LLVMContext &context) const override {
    return translateHostModule(module, cpu, context);
  }
};
} // namespace

namespace mlir::mk {
const TargetBackend &getHostBackend() {
  static const HostBackend backend;
  return backend;
}
} // namespace mlir::mk
