//===- LoweringTypes.h - What ops are taken apart into -----------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGTYPES_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGTYPES_H

#include "Params.h"
#include "mkernel/Dialect/Thread/Places.h"

namespace mlir::mk::sm {
using namespace mk_sm;
using mk_thread::Addition;
using mk_thread::Emitter;
using mk_thread::MemOrder;
using mk_thread::MemScope;
using mk_thread::Place;
using mk_thread::Places;
using mk_thread::getElementTypes;
using mk_thread::getRegisterType;
using mk_thread::getSliceElements;
using mk_thread::isZero;

/// A memref: an argument, or one of two chosen at run time.
struct Buffer {
  MemRefType type;
  int64_t arg = -1; // or, if it is none of the arguments:
  Value condition;
  std::shared_ptr<Buffer> whenTrue, whenFalse;
  /// At another rank: how much further on it lies there, and its extent of
  /// dimension 0.
  Value away, rows;
};

/// An array of signals among the parameters.
struct SignalArray {
  int64_t param = 0;
  MemScope scope = MemScope::Sys;
};

/// A tile on its way from a buffer to its place in a slot.
struct TileCopy {
  Buffer from;
  RankedTensorType tile;
  Value dest;
  SmallVector<Value> offsets;
  SmallVector<int64_t> box; // of the copy engine
};

/// What an op names, of which an index or a range has to exist (mkernel/ABI/Site.h).
struct CheckedEntity {
  int64_t kind = 0, dim = 0; // mk_named
  int64_t number = 0;        // of the argument, signal, counter or queue,
  Value chosen;              // or which one, an i32
  int64_t param = -1;        // where the parameters have the extent,
  Value extent = {};         // or the extent itself, i64
  Value rank = {};           // whose it is; null: this rank's
};

/// A condition of a check: the number is at least so large.
struct AtLeast {
  Value value;
  int64_t least;
};

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_LOWERINGTYPES_H
