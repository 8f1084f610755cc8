//===- AnalysesTest.cpp - Analyses from pass to pass ----------------------===//
//
// What one pass has found and the next one needs is not found twice, and is forgotten
// when a pass changes it.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Evaluate.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Compiler/Registration.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Transforms/Passes.h"
#include "mkernel/Transforms/Sizes/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mk;

namespace {

constexpr const char *kText = R"(
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %flags = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @work ctas(4) {
    mk.foreach (%i) in (%M) {
    }
  }
}
)";

/// Looks at the analysis of the kernel: computes it, or only asks whether it is there.
template <typename Analysis>
struct Look : PassWrapper<Look<Analysis>, OperationPass<ModuleOp>> {
  explicit Look(const void **found, bool compute) : found(found), compute(compute) {}

  void runOnOperation() override {
    for (auto kernel : this->getOperation().template getOps<KernelOp>()) {
      if (compute)
        *found = &this->template getChildAnalysis<Analysis>(kernel);
      else if (auto cached = this->template getCachedChildAnalysis<Analysis>(kernel))
        *found = &cached->get();
      else
        *found = nullptr;
    }
    this->markAllAnalysesPreserved();
  }

  const void **found;
  bool compute;
};

/// Whether the analysis that is there in front of a pass is there behind it.
template <typename Analysis> bool isKept(std::unique_ptr<Pass> pass) {
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kText, &context);
  if (!module) {
    ADD_FAILURE() << "the kernel of this test does not parse";
    return false;
  }
  const void *before = nullptr, *behind = nullptr;
  PassManager pm(&context, ModuleOp::getOperationName());
  pm.addPass(std::make_unique<Look<Analysis>>(&before, true));
  pm.addPass(std::move(pass));
  pm.addPass(std::make_unique<Look<Analysis>>(&behind, false));
  EXPECT_TRUE(succeeded(pm.run(*module)));
  EXPECT_NE(before, nullptr);
  return before == behind;
}

TEST(Analyses, ResourcesAreFoundOnce) {
  EXPECT_TRUE(isKept<KernelResources>(createBuildPlanPass()));
  // What it numbers is gone.
  ExpandLoopsPassOptions loops;
  loops.items = true;
  EXPECT_FALSE(isKept<KernelResources>(createExpandLoopsPass(loops)));
}

TEST(Analyses, NumbersAreFoundOnce) {
  EXPECT_TRUE(isKept<IndexEvaluator>(createVerifySizesPass()));
  EXPECT_FALSE(isKept<IndexEvaluator>(createResolveParamsPass()));
}

TEST(Analyses, ResourcesAreThoseOfTheKernel) {
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kText, &context);
  ASSERT_TRUE(module);
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  KernelResources resources(kernel.getOperation());
  EXPECT_EQ(resources.roles.size(), 1u);
  EXPECT_EQ(resources.signals.size(), 1u);
  EXPECT_EQ(resources.loops.size(), 1u);
  EXPECT_EQ(resources.indexOf(resources.loops[0].op), 0u);
}

} // namespace
