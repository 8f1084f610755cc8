//===- Passes.cpp - Classes of passes that are functions -----------------===//
#include "mkernel/Transforms/Passes.h"
#include "Functions.h"
#include "mkernel/Transforms/FunctionPass.h"
#include "mkernel/Transforms/Sizes/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mk {
#define GEN_PASS_DEF_COMPLETEFLOATSPASS
#define GEN_PASS_DEF_DIVIDEITEMSPASS
#define GEN_PASS_DEF_DROPIDLEROLESPASS
#define GEN_PASS_DEF_EXPANDFOLDSPASS
#define GEN_PASS_DEF_EXPANDFP8PASS
#define GEN_PASS_DEF_EXPANDSTREAMKPASS
#define GEN_PASS_DEF_GUARDDIVISIONSPASS
#define GEN_PASS_DEF_HOISTBUFFERSPASS
#define GEN_PASS_DEF_INLINECALLSPASS
#define GEN_PASS_DEF_LOWERASSERTSPASS
#define GEN_PASS_DEF_LOWERCOPIESPASS
#define GEN_PASS_DEF_MARKINNERSTORESPASS
#define GEN_PASS_DEF_MARKOWNREADSPASS
#define GEN_PASS_DEF_MARKSINGLEREADSPASS
#define GEN_PASS_DEF_MARKUNSEENPASS
#define GEN_PASS_DEF_MATERIALIZECARRIESPASS
#define GEN_PASS_DEF_SINKTILESPASS
#define GEN_PASS_DEF_TRANSPOSEDOTSPASS
#include "mkernel/Transforms/Passes.h.inc"
#include "mkernel/Transforms/Sizes/Passes.h.inc"

template struct FunctionPass<impl::DivideItemsPassBase, divideItems>;
template struct FunctionPass<impl::DropIdleRolesPassBase, dropIdleRoles>;
template struct FunctionPass<impl::ExpandFoldsPassBase, expandFolds>;
template struct FunctionPass<impl::ExpandFp8PassBase, expandFp8>;
template struct FunctionPass<impl::CompleteFloatsPassBase, completeFloats>;
template struct FunctionPass<impl::ExpandStreamKPassBase, expandStreamK>;
template struct FunctionPass<impl::GuardDivisionsPassBase, guardDivisions>;
template struct FunctionPass<impl::HoistBuffersPassBase, hoistBuffers>;
template struct FunctionPass<impl::InlineCallsPassBase, inlineCalls>;
template struct FunctionPass<impl::LowerAssertsPassBase, lowerAsserts>;
template struct FunctionPass<impl::LowerCopiesPassBase, lowerCopies>;
template struct FunctionPass<impl::MarkInnerStoresPassBase, markInnerStores>;
template struct FunctionPass<impl::MarkOwnReadsPassBase, markOwnReads>;
template struct FunctionPass<impl::MarkSingleReadsPassBase, markSingleReads>;
template struct FunctionPass<impl::MarkUnseenPassBase, markUnseen>;
template struct FunctionPass<impl::MaterializeCarriesPassBase, materializeCarries>;
template struct FunctionPass<impl::SinkTilesPassBase, sinkTiles>;
template struct FunctionPass<impl::TransposeDotsPassBase, transposeDots>;
} // namespace mlir::mk
