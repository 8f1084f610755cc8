//===- DeviceModule.h - Code for a GPU beside its host part -----*- C++ -*-===//
#ifndef MKERNEL_LIB_JIT_DEVICEMODULE_H
#define MKERNEL_LIB_JIT_DEVICEMODULE_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {

/// Whether a kernel is at the SM level.
bool hasPartitions(KernelOp kernel);

/// Lists the loops that draw tickets in the metadata of a kernel at the SM level,
/// whose loops of the tile level are gone.
void listTickets(KernelOp kernel, llvm::json::Object &metadata);

/// Moves what `device`, the code of a variant, holds into a module of its own in `host`, behind
/// those of other variants.
void nestDeviceModule(ModuleOp host, ModuleOp device);

/// Those modules, the preferred variant first.
SmallVector<ModuleOp> findDeviceModules(ModuleOp host);

/// Whether code is at the thread level; false for none.
bool hasThreadLevel(ArrayRef<ModuleOp> devices);

} // namespace mlir::mk

#endif // MKERNEL_LIB_JIT_DEVICEMODULE_H
