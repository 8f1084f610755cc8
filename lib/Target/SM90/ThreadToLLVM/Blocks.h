//===- Blocks.h - Code with branches --------------------------*- C++ -*-===//
//
// What takes several instructions and branches is a function of the module, a routine: its blocks
// stand there once, and ops that need it call it. LLVM sees a call that it can neither move nor
// look into; the code of the routine comes into the kernel when both are PTX
// (lib/Target/SM90/Routines.h).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_BLOCKS_H
#define MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_BLOCKS_H

#include "Ptx.h"

namespace mlir::mk::thread {

/// What a call gives to a routine.
class Arguments {
public:
  /// The number by which the routine knows it.
  int64_t add(Value value) {
    values.push_back(value);
    return values.size() - 1;
  }
  std::optional<int64_t> addIf(Value value) {
    return value ? std::optional(add(value)) : std::nullopt;
  }
  ValueRange get() const { return values; }

private:
  SmallVector<Value> values;
};

/// Calls the routine of that name. `make` fills it in where the module does not have it yet, from
/// its arguments, and gives its results, of which there is one at most.
using MakeRoutine = llvm::function_ref<SmallVector<Value>(Ptx &, ValueRange)>;
SmallVector<Value> callRoutine(Ptx &ptx, const Frame &frame, const Twine &name,
                               const Arguments &arguments, TypeRange results, MakeRoutine make);

/// The blocks of a routine.
class Blocks {
public:
  /// They end with `end`, whose arguments are the results.
  explicit Blocks(Ptx &ptx, TypeRange results = {});

  Block *add(TypeRange arguments = {});
  /// Code goes on in this block.
  void enter(Block *block);
  /// Ends the block. With a condition code goes on in a new one, where it does not hold.
  void jump(Block *to, ValueRange arguments = {});
  void jumpIf(Value condition, Block *to, ValueRange arguments = {});
  /// The branch back of a loop that is not to be unrolled.
  void repeat(Block *header, ValueRange arguments);
  /// Code that has not jumped goes on in `end`: the results.
  SmallVector<Value> finish(ValueRange results = {});

  Block *end;

private:
  Ptx &ptx;
  Region *region;
};

} // namespace mlir::mk::thread

#endif // MKERNEL_LIB_TARGET_SM90_THREADTOLLVM_BLOCKS_H
