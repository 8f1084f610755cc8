//===- Passes.cpp - Classes of passes that are functions -----------------===//
#include "mkernel/Transforms/SM/Passes.h"
#include "Functions.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Transforms/FunctionPass.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace mlir::mk_sm {
#define GEN_PASS_DEF_ADVANCEITEMSPASS
#define GEN_PASS_DEF_ADVANCELOADSPASS
#define GEN_PASS_DEF_ADVANCEWAITSPASS
#define GEN_PASS_DEF_ALTERNATEITEMSPASS
#define GEN_PASS_DEF_ASSIGNSTAGESPASS
#define GEN_PASS_DEF_ASSIGNWARPSPASS
#define GEN_PASS_DEF_CHOOSESTORESPASS
#define GEN_PASS_DEF_DEFERELEMENTSPASS
#define GEN_PASS_DEF_DEFERREDUCTIONSPASS
#define GEN_PASS_DEF_DEFERWAITSPASS
#define GEN_PASS_DEF_DROPLIMITSPASS
#define GEN_PASS_DEF_FORWARDSCALARSPASS
#define GEN_PASS_DEF_HOISTLOADSPASS
#define GEN_PASS_DEF_KEEPWORDSPASS
#define GEN_PASS_DEF_MERGEPUTSPASS
#define GEN_PASS_DEF_MERGESIGNALSPASS
#define GEN_PASS_DEF_ORDERACCESSESPASS
#define GEN_PASS_DEF_ORDERTILESPASS
#define GEN_PASS_DEF_OVERLAPDOTSPASS
#define GEN_PASS_DEF_PAIRDOTSPASS
#define GEN_PASS_DEF_POSTSTORESPASS
#define GEN_PASS_DEF_REMATERIALIZESCALARSPASS
#define GEN_PASS_DEF_REVERSEFOLDSPASS
#define GEN_PASS_DEF_SELECTROWSPASS
#define GEN_PASS_DEF_SHARECOPIESPASS
#define GEN_PASS_DEF_SKIPRESCALINGPASS
#define GEN_PASS_DEF_SPILLFRAGMENTSPASS
#define GEN_PASS_DEF_SKIPHIDDENPASS
#define GEN_PASS_DEF_SPLITMASKSPASS
#define GEN_PASS_DEF_SPREADLOADSPASS
#define GEN_PASS_DEF_SPREADWAITSPASS
#define GEN_PASS_DEF_STAGELOADSPASS
#define GEN_PASS_DEF_TAKETURNSPASS
#include "mkernel/Transforms/SM/Passes.h.inc"
} // namespace mlir::mk_sm

namespace mlir::mk {
template struct FunctionPass<mk_sm::impl::AdvanceItemsPassBase, mk_sm::advanceItems>;
template struct FunctionPass<mk_sm::impl::AdvanceLoadsPassBase, mk_sm::advanceLoads>;
template struct FunctionPass<mk_sm::impl::AdvanceWaitsPassBase, mk_sm::advanceWaits>;
template struct FunctionPass<mk_sm::impl::AlternateItemsPassBase, mk_sm::alternateItems>;
template struct FunctionPass<mk_sm::impl::AssignStagesPassBase, mk_sm::assignStages>;
template struct FunctionPass<mk_sm::impl::AssignWarpsPassBase, mk_sm::assignWarps>;
template struct FunctionPass<mk_sm::impl::ChooseStoresPassBase, mk_sm::chooseStores>;
template struct FunctionPass<mk_sm::impl::DeferElementsPassBase, mk_sm::deferElements>;
template struct FunctionPass<mk_sm::impl::DeferReductionsPassBase, mk_sm::deferReductions>;
template struct FunctionPass<mk_sm::impl::DeferWaitsPassBase, mk_sm::deferWaits>;
template struct FunctionPass<mk_sm::impl::DropLimitsPassBase, mk_sm::dropLimits>;
template struct FunctionPass<mk_sm::impl::ForwardScalarsPassBase, mk_sm::forwardScalars>;
template struct FunctionPass<mk_sm::impl::HoistLoadsPassBase, mk_sm::hoistLoads>;
template struct FunctionPass<mk_sm::impl::KeepWordsPassBase, mk_sm::keepWords>;
template struct FunctionPass<mk_sm::impl::MergePutsPassBase, mk_sm::mergePuts>;
template struct FunctionPass<mk_sm::impl::MergeSignalsPassBase, mk_sm::mergeSignals>;
template struct FunctionPass<mk_sm::impl::OrderAccessesPassBase, mk_sm::orderAccesses>;
template struct FunctionPass<mk_sm::impl::OrderTilesPassBase, mk_sm::orderTiles>;
template struct FunctionPass<mk_sm::impl::OverlapDotsPassBase, mk_sm::overlapDots>;
template struct FunctionPass<mk_sm::impl::PairDotsPassBase, mk_sm::pairDots>;
template struct FunctionPass<mk_sm::impl::PostStoresPassBase, mk_sm::postStores>;
template struct FunctionPass<mk_sm::impl::RematerializeScalarsPassBase,
                             mk_sm::rematerializeScalars>;
template struct FunctionPass<mk_sm::impl::ReverseFoldsPassBase, mk_sm::reverseFolds>;
template struct FunctionPass<mk_sm::impl::SelectRowsPassBase, mk_sm::selectRows>;
template struct FunctionPass<mk_sm::impl::ShareCopiesPassBase, mk_sm::shareCopies>;
template struct FunctionPass<mk_sm::impl::SkipRescalingPassBase, mk_sm::skipRescaling>;
template struct FunctionPass<mk_sm::impl::SpillFragmentsPassBase, mk_sm::spillFragments>;
template struct FunctionPass<mk_sm::impl::SkipHiddenPassBase, mk_sm::skipHidden>;
template struct FunctionPass<mk_sm::impl::SplitMasksPassBase, mk_sm::splitMasks>;
template struct FunctionPass<mk_sm::impl::SpreadLoadsPassBase, mk_sm::spreadLoads>;
template struct FunctionPass<mk_sm::impl::SpreadWaitsPassBase, mk_sm::spreadWaits>;
template struct FunctionPass<mk_sm::impl::StageLoadsPassBase, mk_sm::stageLoads>;
template struct FunctionPass<mk_sm::impl::TakeTurnsPassBase, mk_sm::takeTurns>;
} // namespace mlir::mk
