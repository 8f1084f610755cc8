//===- Blocks.h - Code with branches --------------------------*- C++ -*-===//
//
// In place of an op: blocks in an scf.execute_region, which upstream passes inline.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_CONVERSION_THREADTOLLVM_BLOCKS_H
#define MKERNEL_LIB_CONVERSION_THREADTOLLVM_BLOCKS_H

#include "Ptx.h"

namespace mlir::mk::thread {

class Blocks {
public:
  /// Code begins in a first block, and ends with `end`, whose arguments are the results.
  explicit Blocks(Ptx &ptx, TypeRange results = {});

  Block *add(TypeRange arguments = {});
  /// Code goes on in this block.
  void enter(Block *block);
  /// Ends the block. With a condition code goes on in a new one, where it does not hold.
  void jump(Block *to, ValueRange arguments = {});
  void jumpIf(Value condition, Block *to, ValueRange arguments = {});
  /// The branch back of a loop that is not to be unrolled.
  void repeat(Block *header, ValueRange arguments);
  /// Code that has not jumped goes on in `end`, and behind it: the results.
  SmallVector<Value> finish(ValueRange results = {});

  Block *end;

private:
  Ptx &ptx;
  Operation *op;
};

} // namespace mlir::mk::thread

#endif // MKERNEL_LIB_CONVERSION_THREADTOLLVM_BLOCKS_H
