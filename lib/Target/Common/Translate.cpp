//===- Translate.cpp - To optimised LLVM IR -------------------------------===//
#include "mkernel/Target/Common.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, StringRef passes) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // Leaves out functions that are marked so.
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation optNone(/*DebugLogging=*/false);
  optNone.registerCallbacks(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  // Targets write it, not users.
  llvm::cantFail(builder.parsePassPipeline(pipeline, passes));
  pipeline.run(module, modules);
}

void mk::collectProblems(llvm::LLVMContext &context, std::string &problems) {
  auto note = [](const llvm::DiagnosticInfo *info, void *problems) {
    if (info->getSeverity() != llvm::DS_Error)
      return;
    llvm::raw_string_ostream os(*static_cast<std::string *>(problems));
    llvm::DiagnosticPrinterRawOStream printer(os);
    os << (os.tell() ? "; " : "");
    info->print(printer);
  };
  context.setDiagnosticHandlerCallBack(note, &problems);
}

FailureOr<std::unique_ptr<llvm::Module>>
mk::translateModule(ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context,
                    StringRef passes, llvm::function_ref<void(llvm::Module &)> adjust) {
  // Known before the translation, which writes the alignment of each access.
  llvm::DataLayout layout = machine.createDataLayout();
  module->setAttr("llvm.data_layout",
                  StringAttr::get(module.getContext(), layout.getStringRepresentation()));
  // The name of the file is not part of the code. What it verifies it tells standard error.
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "mkernel", /*disableVerification=*/true);
  if (!translated)
    return module.emitError("cannot be translated to LLVM IR");
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(layout);
  adjust(*translated);
  std::string problems;
  llvm::raw_string_ostream os(problems);
  if (llvm::verifyModule(*translated, &os))
    return module.emitError("gives invalid LLVM IR: ") << problems;
  optimize(*translated, machine, passes);
  return translated;
}
