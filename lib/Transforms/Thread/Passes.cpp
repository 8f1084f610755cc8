//===- Passes.cpp - Classes of passes that are functions -----------------===//
#include "mkernel/Transforms/Thread/Passes.h"
#include "Expand.h"
#include "mkernel/Transforms/FunctionPass.h"

namespace mlir::mk_thread {
#define GEN_PASS_DEF_DISPATCHWARPSPASS
#define GEN_PASS_DEF_EXPANDACCESSESPASS
#define GEN_PASS_DEF_EXPANDBOUNDSPASS
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
#define GEN_PASS_DEF_EXPANDPADDINGPASS
#define GEN_PASS_DEF_EXPANDTURNSPASS
#define GEN_PASS_DEF_MERGECHECKSPASS
#define GEN_PASS_DEF_MERGEELECTEDPASS
#define GEN_PASS_DEF_PAIRCONVERSIONSPASS
#define GEN_PASS_DEF_PROMOTEVARIABLESPASS
#define GEN_PASS_DEF_STAGEFRAGMENTSPASS
#define GEN_PASS_DEF_STAGEROWSPASS
#define GEN_PASS_DEF_VERIFYEXPANDEDPASS
#include "mkernel/Transforms/Thread/Passes.h.inc"
} // namespace mlir::mk_thread

namespace mlir::mk {
template struct FunctionPass<mk_thread::impl::DispatchWarpsPassBase, mk_thread::dispatchWarps>;
template struct FunctionPass<mk_thread::impl::ExpandAccessesPassBase, mk_thread::expandAccesses>;
template struct FunctionPass<mk_thread::impl::ExpandBoundsPassBase, mk_thread::expandBounds>;
template struct FunctionPass<mk_thread::impl::ExpandChannelsPassBase, mk_thread::expandChannels>;
template struct FunctionPass<mk_thread::impl::ExpandCommandsPassBase, mk_thread::expandCommands>;
template struct FunctionPass<mk_thread::impl::ExpandCopiersPassBase, mk_thread::expandCopiers>;
template struct FunctionPass<mk_thread::impl::ExpandCopiesPassBase, mk_thread::expandCopies>;
template struct FunctionPass<mk_thread::impl::ExpandElementsPassBase, mk_thread::expandElements>;
template struct FunctionPass<mk_thread::impl::ExpandExchangesPassBase, mk_thread::expandExchanges>;
template struct FunctionPass<mk_thread::impl::ExpandLaunchPassBase, mk_thread::expandLaunch>;
template struct FunctionPass<mk_thread::impl::ExpandMathPassBase, mk_thread::expandMath>;
template struct FunctionPass<mk_thread::impl::ExpandProductsPassBase, mk_thread::expandProducts>;
template struct FunctionPass<mk_thread::impl::ExpandQueuesPassBase, mk_thread::expandQueues>;
template struct FunctionPass<mk_thread::impl::ExpandReductionsPassBase,
                             mk_thread::expandReductions>;
template struct FunctionPass<mk_thread::impl::ExpandRunsPassBase, mk_thread::expandRuns>;
template struct FunctionPass<mk_thread::impl::ExpandSenderPassBase, mk_thread::expandSender>;
template struct FunctionPass<mk_thread::impl::ExpandSignalsPassBase, mk_thread::expandSignals>;
template struct FunctionPass<mk_thread::impl::ExpandStoresPassBase, mk_thread::expandStores>;
template struct FunctionPass<mk_thread::impl::ExpandPaddingPassBase, mk_thread::expandPadding>;
template struct FunctionPass<mk_thread::impl::ExpandTurnsPassBase, mk_thread::expandTurns>;
template struct FunctionPass<mk_thread::impl::MergeChecksPassBase, mk_thread::mergeChecks>;
template struct FunctionPass<mk_thread::impl::MergeElectedPassBase, mk_thread::mergeElected>;
template struct FunctionPass<mk_thread::impl::PairConversionsPassBase, mk_thread::pairConversions>;
template struct FunctionPass<mk_thread::impl::PromoteVariablesPassBase,
                             mk_thread::promoteVariables>;
template struct FunctionPass<mk_thread::impl::StageFragmentsPassBase, mk_thread::stageFragments>;
template struct FunctionPass<mk_thread::impl::StageRowsPassBase, mk_thread::stageRows>;
template struct FunctionPass<mk_thread::impl::VerifyExpandedPassBase, mk_thread::verifyExpanded>;
} // namespace mlir::mk
