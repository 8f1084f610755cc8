//===- Functions.h - Passes of the SM level -------------------*- C++ -*-===//
//
// What each pass without options does with a module, or with each op of a kind in it; the file has
// its name.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_FUNCTIONS_H
#define MKERNEL_LIB_TRANSFORMS_SM_FUNCTIONS_H

#include "mkernel/Dialect/SM/SM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mk {
struct KernelResources;
}

namespace mlir::mk_sm {

void advanceItems(ItemsOp items);
void advanceLoads(ModuleOp module);
void advanceWaits(ModuleOp module);
LogicalResult alternateItems(PartitionOp partition);
void assignStages(PartitionOp partition);
LogicalResult assignWarps(mk::KernelOp kernel);
void chooseStores(PartitionOp partition);
void deferElements(mk::KernelOp kernel);
void deferReductions(scf::ForOp loop);
void deferWaits(ModuleOp module);
void dropLimits(mk::LoadOp load);
void forwardScalars(mk::RoleOp role);
void hoistLoads(DeferOp deferral);
void stageLoads(mk::KernelOp kernel, const mk::KernelResources &resources);
void keepWords(PartitionOp partition);
void mergePuts(scf::ForOp loop);
void mergeSignals(scf::ForOp loop);
void orderAccesses(PartitionOp partition);
LogicalResult orderTiles(mk::KernelOp kernel);
void overlapDots(ModuleOp module);
void pairDots(ModuleOp module);
void postStores(ModuleOp module);
void rematerializeScalars(PartitionOp partition);
void reverseFolds(mk::FoldOp fold);
void selectRows(CopyOp copy);
LogicalResult shareCopies(mk::KernelOp kernel);
void skipRescaling(arith::MulFOp op);
void spillFragments(mk::KernelOp kernel);
void skipHidden(ModuleOp module);
void splitMasks(ModuleOp module);
void spreadLoads(mk::BroadcastOp broadcast);
void spreadWaits(PartitionOp partition);
void takeTurns(ModuleOp module);

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_FUNCTIONS_H
