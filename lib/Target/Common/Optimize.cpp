//===- Optimize.cpp - LLVM's own passes -----------------------------------===//
#include "mkernel/Target/Common.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

void mlir::mk::optimizeModule(llvm::Module &module,
                              llvm::TargetMachine &machine,
                              const llvm::PipelineTuningOptions &tuning) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}
