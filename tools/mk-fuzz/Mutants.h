//===- Mutants.h - Wrong kernels made of right ones -------------*- C++ -*-===//
//
// Each edit makes one mistake that a person could make in a kernel's
// communication or in its index arithmetic. The checkers have to find it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TOOLS_MKFUZZ_MUTANTS_H
#define MKERNEL_TOOLS_MKFUZZ_MUTANTS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::mk::fuzz {

enum class MutantKind : uint32_t {
  WaitRemoved,
  WaitLowered,
  WaitLate,
  CountLowered,
  SignalBeforePut,
  SignalSplit,
  StrengthExchanged,
  ReleaseEarly,
  IndexSwapped,
  IndexChanged,
  OffsetSwapped,
  OffsetChanged,
  PeerChanged,
  SlotShared,
  SettleRemoved,
  FenceExchanged,
  PrepareLate,
  ArrivalsChanged,
  ArrivalDropped,
  ArrivalDoubled,
  Count
};
inline constexpr size_t kMutantKinds = static_cast<size_t>(MutantKind::Count);

/// "wait-removed", as options and tables name it.
StringRef toString(MutantKind kind);
/// A sentence for help texts.
StringRef describe(MutantKind kind);

/// One mistake. `apply` may be called once, and makes all other edits of the
/// same module invalid.
struct Edit {
  Operation *site;
  std::string what; // "operand 2 becomes %k"
  std::function<void()> apply;
};

/// A module with one kernel, and the ops that belong to it: its own and those of
/// the functions that it calls.
class MutantScope {
public:
  /// A copy of `file` with this kernel alone. Functions that the reference calls
  /// as well are doubled, so that no edit changes what is expected.
  MutantScope(ModuleOp file, StringRef kernel);

  ModuleOp getModule() const { return *module; }
  KernelOp getKernel() const { return kernel; }
  ArrayRef<Operation *> getOps() const { return ops; }
  /// In textual order; the same for each copy of a file.
  std::vector<Edit> collect(MutantKind kind);

  /// What an op does, whatever it contains or calls.
  struct Summary {
    bool accesses = false, waits = false, releases = false;
  };
  Summary summarize(Operation *op);
  /// All values that are the same as one of kernel scope: arguments of functions
  /// that are called with it, and choices between it and another.
  SmallVector<Value> aliasesOf(Value value);
  /// Values of type index that can be used at an op and are an index, offset or
  /// rank somewhere in this kernel.
  SmallVector<Value> indicesAt(Operation *op);

private:
  void separateFromReference();
  func::FuncOp calleeOf(func::CallOp call);

  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
  SmallVector<Operation *> ops;
  SmallVector<func::FuncOp> functions;
  llvm::DenseMap<Operation *, Summary> summaries; // of functions
};

/// Operands of an op that form one list: indices of a signal, offsets.
struct IndexList {
  unsigned first, size;
  const char *name;
  bool memory; // of a buffer; else of signals, counters or queues
};
SmallVector<IndexList> indexListsOf(Operation *op);

// By file.
std::vector<Edit> collectOrderEdits(MutantScope &scope, MutantKind kind);
std::vector<Edit> collectPlaceEdits(MutantScope &scope, MutantKind kind);
std::vector<Edit> collectArrivalEdits(MutantScope &scope, MutantKind kind);

} // namespace mlir::mk::fuzz

#endif // MKERNEL_TOOLS_MKFUZZ_MUTANTS_H
