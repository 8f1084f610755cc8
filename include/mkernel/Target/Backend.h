//===- Backend.h - Who makes code for a kind of machine --------*- C++ -*-===//
//
// A backend is a folder of lib/Target with a Backend.cpp that defines
// `const TargetBackend &mk::get<Folder>Backend()`. Nothing else names it: drivers and tools ask
// here. docs/targets.md says what a folder holds.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TARGET_BACKEND_H
#define MKERNEL_TARGET_BACKEND_H

#include "mkernel/Conversion/Variants.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Pipelines/Options.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::mk {

struct HostCpu;

/// What a device module becomes: text for a driver, and what a package says of it (its `gpu` part).
struct DeviceCode {
  std::string text;
  llvm::json::Object metadata;
};

class TargetBackend {
public:
  virtual ~TargetBackend() = default;

  /// As `--target`, `#mk.target<backend = ...>` and packages have it.
  virtual StringRef getName() const = 0;

  /// The machine that it compiles for unless another one is described.
  virtual TargetAttr describe(MLIRContext *context) const = 0;

  /// Whether it can compile for a machine that is described so; says at `loc` why not.
  virtual LogicalResult verify(TargetAttr target, Location loc) const = 0;

  /// What contexts need beside dialects that all targets share.
  virtual void registerDialects(DialectRegistry &registry) const {}
  /// Pipelines by name.
  virtual void registerPipelines() const {}

  /// Phases of `--emit` that others lack, "" where it has none: whole kernels at a level below that
  /// of tiles; code that is not in the LLVM dialect yet; the text of a device module.
  virtual StringRef getKernelPhase() const { return ""; }
  virtual StringRef getCodePhase() const { return ""; }
  virtual StringRef getTextPhase() const { return ""; }

  /// Whether roles become a module beside the host part of a package, which holds the plan and the
  /// reference; else they are a part of it.
  virtual bool hasDeviceModule() const = 0;

  /// What the matrix unit loses of a sum of products of 8-bit floats (Analysis/Roundings.h).
  virtual double getFp8Sums() const { return 0; }

  /// From the tile level, sizes bound, to the kernel phase.
  virtual void buildKernelPipeline(OpPassManager &pm, const LoweringOptions &options) const {}
  /// The variants of a kernel that is there, the preferred one first.
  virtual SmallVector<KernelVariant> listVariants(KernelOp kernel) const { return {}; }
  /// From there to the code phase, or the LLVM dialect where it has none.
  virtual void buildCodePipeline(OpPassManager &pm, const LoweringOptions &options) const = 0;
  /// From the code phase to the LLVM dialect.
  virtual void buildLLVMPipeline(OpPassManager &pm) const {}

  /// To optimised LLVM IR: of the device module, where there is one.
  virtual FailureOr<std::unique_ptr<llvm::Module>>
  translate(ModuleOp module, const HostCpu &cpu, llvm::LLVMContext &context) const = 0;

  //===--------------------------------------------------------------------===//
  // Device modules
  //===--------------------------------------------------------------------===//

  /// The text of a device module in the LLVM dialect, which it changes.
  virtual FailureOr<DeviceCode> emitDevice(ModuleOp device) const { return failure(); }
  /// Bytes of registers that a thread of the code keeps in memory, as the assembler at the path
  /// `assembler` says.
  virtual FailureOr<int64_t> measureSpills(StringRef text, StringRef assembler,
                                           Location loc) const {
    return 0;
  }
  /// Adds the text of a variant, by its number, to the host part of a package.
  virtual void addDevice(ModuleOp host, int64_t variant, StringRef text) const {}
};

/// All of them; that of the host is the first.
ArrayRef<const TargetBackend *> getTargetBackends();
/// Null if there is none of that name.
const TargetBackend *findTargetBackend(StringRef name);
/// Their names, with "or" between them.
std::string listTargetBackends();

/// What `--target` says: the name of a backend, for its own machine, or the path of a file
/// (.mlir) with a module whose `mk.target` describes one. Errors say what there is.
FailureOr<TargetAttr> resolveTarget(StringRef target, MLIRContext *context);

} // namespace mlir::mk

#endif // MKERNEL_TARGET_BACKEND_H
