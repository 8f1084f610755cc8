//===- Passes.cpp - Passes that change a module in one step ---------------===//
#include "Expand.h"

namespace mlir::mk_thread {
#define GEN_PASS_DEF_DISPATCHWARPSPASS
#define GEN_PASS_DEF_EXPANDACCESSESPASS
#define GEN_PASS_DEF_EXPANDCHANNELSPASS
#define GEN_PASS_DEF_EXPANDCOMMANDSPASS
#define GEN_PASS_DEF_EXPANDCOPIERSPASS
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#define GEN_PASS_DEF_EXPANDELEMENTSPASS
#define GEN_PASS_DEF_EXPANDEXCHANGESPASS
#define GEN_PASS_DEF_EXPANDLAUNCHPASS
#define GEN_PASS_DEF_EXPANDMATHPASS
#define GEN_PASS_DEF_EXPANDPRODUCTSPASS
#define GEN_PASS_DEF_EXPANDQUEUESPASS
#define GEN_PASS_DEF_EXPANDREDUCTIONSPASS
#define GEN_PASS_DEF_EXPANDRUNSPASS
#define GEN_PASS_DEF_EXPANDSENDERPASS
#define GEN_PASS_DEF_EXPANDSIGNALSPASS
#define GEN_PASS_DEF_EXPANDSTORESPASS
#define GEN_PASS_DEF_EXPANDTRIMSPASS
#define GEN_PASS_DEF_EXPANDTURNSPASS
#define GEN_PASS_DEF_PROMOTEVARIABLESPASS
#define GEN_PASS_DEF_STAGEFRAGMENTSPASS
#include "mkernel/Transforms/Thread/Passes.h.inc"

namespace {
#define MK_DEFINE(NAME, FUNCTION)                                                                  \
  struct NAME##Pass : impl::NAME##PassBase<NAME##Pass> {                                           \
    void runOnOperation() override { FUNCTION(getOperation()); }                                   \
  };
MK_THREAD_STEPS(MK_DEFINE)
} // namespace
} // namespace mlir::mk_thread
