//===- SmallIntegers.h - Two integers of up to 8 bits in a word -*- C++ -*-===//
//
// What is done with bytes, or with a few bits of a word, before they become floats: masks, shifts,
// constants that are added. Instructions have 32 bits, so two numbers are computed at once.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_SMALLINTEGERS_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_SMALLINTEGERS_H

#include "Expand.h"

namespace mlir::mk_thread {

/// How an integer follows from a byte or a word: `steps` make a number of it, from 0 to `most`;
/// with `offset` that is the integer.
struct SmallInteger {
  enum class Step { And, Xor, Or, Shl, Shr };

  Value source;
  int64_t byte = 0; // of the source, from its low end
  SmallVector<std::pair<Step, int64_t>, 4> steps;
  int64_t most = 255, offset = 0;
  bool isSigned = false; // without steps: the source's highest bit is a sign

  /// Whether both are computed alike.
  bool isLike(const SmallInteger &other) const {
    return source.getType() == other.source.getType() && byte == other.byte &&
           steps == other.steps && most == other.most && offset == other.offset &&
           isSigned == other.isSigned;
  }
};

/// How the value, taken for a signed number or not, follows from a byte or a word; nothing if it
/// does not, or by steps that two numbers in a word cannot take.
std::optional<SmallInteger> findSmallInteger(Value value, bool isSigned);

/// Two bytes as an i16, the first one below.
Value joinBytes(Emitter &e, Value low, Value high);

/// Two numbers without their offset: the halves of an i32, as far as `mask` has their bits.
struct MaskedPair {
  Value word;
  int64_t mask = 0xffffffff;
};

/// `low` and `high` are alike.
MaskedPair computePair(Emitter &e, const SmallInteger &low, const SmallInteger &high);

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_SMALLINTEGERS_H
