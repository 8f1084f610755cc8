//===- Translate.cpp - To optimised LLVM IR and PTX -----------------------===//
#include "Convergent.h"
#include "Divisions.h"
#include "Emit.h"
#include "Routines.h"
#include "mkernel/Target/Common.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>
#include <utility>

using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// What of LLVM's -O3 changes kernels, in the same order. Without the rest (what is between
/// functions, vectorises, or repeats passes for what those have left: a kernel is one function, and a
/// thread has no vectors) optimisation takes half the time, and PTX is the same.
static constexpr StringRef kPasses =
    "nvvm-reflect,"
    "function(nvvm-intr-range,simplifycfg,sroa,early-cse),"
    "ipsccp,"
    "function(instcombine<no-verify-fixpoint>,sroa,early-cse,"
    "speculative-execution<only-if-divergent-target>,correlated-propagation,"
    "instcombine<no-verify-fixpoint>,simplifycfg<switch-range-to-icmp>,reassociate,"
    "loop-mssa(licm<no-allowspeculation>,loop-rotate,licm,simple-loop-unswitch<nontrivial>),"
    "simplifycfg<switch-range-to-icmp>,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-unroll-full),"
    "gvn,sccp,correlated-propagation,adce,dse,"
    "simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>,"
    "loop-unroll<O3>,infer-alignment,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "div-rem-pairs,"
    "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;speculate-unpredictables>)";

namespace {
/// Leaves out passes of the code generator.
class PassGate : public llvm::OptPassGate {
public:
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
    // Straight-line strength reduction takes longer than all other passes together: its time grows
    // with the square of the elements that are accessed one by one, and it changes nothing else.
    if (name == "slsr") {
      cleansUp = true;
      return false;
    }
    // What it would leave twice is looked for behind it; another run comes later.
    if (name == "gvn")
      return !std::exchange(cleansUp, false);
    return true;
  }
  bool isEnabled() const override { return true; }

private:
  mutable bool cleansUp = false; // the next gvn
};
} // namespace

static std::unique_ptr<llvm::TargetMachine> makeMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Addresses in shared memory of 32 bits.
    mk::setLlvmOption("nvptx-short-ptr", "true");
    // CodeGenPrepare goes over all blocks as long as it finds something, here seven times, and
    // parses the constraints of all inline PTX each time. In functions of more blocks than this it
    // comes back to those that it has changed.
    mk::setLlvmOption("cgpp-huge-func", "0");
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(target && "it has just been registered");
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "sm_90a", "+ptx86", llvm::TargetOptions(), std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static FailureOr<std::unique_ptr<llvm::Module>>
translate(ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context) {
  // What scf.for says of its loop arrives as a discardable attribute, which is not translated.
  module.walk([](LLVM::BrOp op) {
    if (auto loop = op->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation"))
      op.setLoopAnnotationAttr(loop);
  });
  auto translated = mk::translateModule(module, machine, context, kPasses,
                                        [](llvm::Module &device) {
                                          mk::markConvergent(device);
                                          mk::hideRoutines(device);
                                        });
  if (succeeded(translated)) {
    mk::showRoutines(**translated);
    mk::shiftQuotients(**translated);
  }
  return translated;
}

FailureOr<std::unique_ptr<llvm::Module>> mk::translateDeviceModule(ModuleOp module,
                                                                   llvm::LLVMContext &context) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine();
  return translate(module, *machine, context);
}

FailureOr<std::string> mk::emitPtx(ModuleOp module) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine();
  std::string problems;
  llvm::LLVMContext context;
  mk::collectProblems(context, problems);
  FailureOr<std::unique_ptr<llvm::Module>> translated = translate(module, *machine, context);
  if (failed(translated))
    return failure();
  PassGate gate;
  context.setOptPassGate(gate);
  SmallVector<char, 0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] bool cannot =
      machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile);
  assert(!cannot && "the target writes text");
  passes.run(**translated);
  if (!problems.empty())
    return module.emitError("LLVM cannot generate code for sm_90a: ")
           << problems << ": run it with --target=host, and report this as a bug";
  FailureOr<std::string> expanded =
      mk::expandRoutines(StringRef(text.data(), text.size()), problems);
  if (failed(expanded))
    return module.emitError("LLVM gives PTX that is not understood: ")
           << problems << "; report this as a bug";
  return expanded;
}
