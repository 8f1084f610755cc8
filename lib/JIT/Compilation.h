//===- Compilation.h - One file on its way to a package --------*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_COMPILATION_H
#define MKERNEL_LIB_JIT_COMPILATION_H

#include "Model.h"
#include "Versions.h"
#include "mkernel/Compiler/Compiler.h"
#include "mkernel/Target/Backend.h"
#include "mkernel/Target/Host/Emit.h"
#include "mkernel/Target/Host/Metadata.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::mk {

struct Compilation {
  const CompileOptions &options;
  const TargetBackend &backend;
  MLIRContext &context;
  ModuleOp module;
  llvm::raw_ostream &output;
  /// Parameters are those of other sizes, which a tuning file has, or the model's.
  bool choseParams = false;
  /// Other parameters that the model would take, the best ones first.
  std::vector<NamedNumbers> nextParams = {};
  /// Parameters that are extents of tiles, as messages name them.
  std::string tileParams = {};
  /// What else to change where registers do not reach: of a role beside another one.
  std::string moverAdvice = {};

  /// From what the module holds to what is asked for.
  LogicalResult compile();

  /// What options.variants asks for, checked (ReadVersions.cpp). Of other kernels the module
  /// holds nothing any more.
  FailureOr<VersionRequests> readVersions();

private:
  //===--- From the tile level (CompileTile.cpp) --------------------------===//

  LogicalResult compileTile();
  FailureOr<ParamChoice> chooseParams(KernelOp kernel, Binding &binding);
  void warnOfDefaults(KernelOp kernel, const Binding &binding, const ParamChoice &choice);
  FailureOr<KernelOp> selectKernel();
  bool hasParams();
  std::string listTileParams();

  //===--- From a kernel with sizes bound (LowerKernel.cpp) ---------------===//

  /// Roles become a part of the host's code.
  LogicalResult compileHost(KernelOp kernel, const MetadataOptions &about,
                            const LoweringOptions &lowering, const HostCpu &cpu);
  /// Roles become a module beside it. The kernel is at the tile or at the SM level.
  LogicalResult compileDevice(KernelOp kernel, const MetadataOptions &about,
                              LoweringOptions lowering, const HostCpu &cpu);
  FailureOr<OwningOpRef<ModuleOp>> lowerHostPart(KernelOp kernel, const MetadataOptions &about,
                                                 const LoweringOptions &lowering,
                                                 llvm::json::Object &metadata);
  FailureOr<OwningOpRef<ModuleOp>> lowerReference(func::FuncOp reference, KernelOp kernel);
  /// Text that shows the code of one variant for a device, and nothing else.
  bool emitsText() const {
    return options.emit == "llvmir" || options.emit == backend.getTextPhase();
  }
  FailureOr<SmallVector<KernelVariant>> chooseVariants();

  //===--- From code (EmitCode.cpp) ---------------------------------------===//

  LogicalResult checkLowered(ModuleOp host);
  LogicalResult checkSpills(ModuleOp device, StringRef text);
  /// From a module that holds its metadata and, where the target has one, device modules, at the
  /// thread level or in the LLVM dialect.
  LogicalResult emitCode(ModuleOp host, const HostCpu &cpu);
  LogicalResult emitLLVM(ModuleOp host, const HostCpu &cpu);

  /// Where sizes and parameters get values, verifiers of ops say what is wrong with these: behind
  /// each pass. Behind that there are dozens of passes, and in the end tens of thousands of ops,
  /// which are verified at the end of each level: behind each pass that takes a third of the time.
  /// Builds with assertions do it anyway, and mk-opt if it is given -verify-each.
  enum class Verify { Each, Last };

  LogicalResult run(ModuleOp target, llvm::function_ref<void(OpPassManager &)> build,
                    Verify when = Verify::Each) {
    PassManager pm(&context, ModuleOp::getOperationName());
#ifdef NDEBUG
    pm.enableVerifier(when == Verify::Each);
#endif
    if (options.setup && failed(options.setup(pm)))
      return failure();
    build(pm);
    if (failed(pm.run(target)))
      return failure();
    return when == Verify::Each ? success() : verify(target);
  }

  /// A failure that changing the options would mend.
  LogicalResult misuse() {
    if (options.misused)
      *options.misused = true;
    return failure();
  }
};

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_COMPILATION_H
