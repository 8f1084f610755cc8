//===- Layouts.cpp - Which thread holds which element ---------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void Lowering::enterPlaces(bool here) {
  Value number = readNumber(here);
  placeLane = and_(number, 31);
  placeThread = isOneWarp()                ? placeLane
                : partition.getTeams() > 1 ? and_(number, partition.getNumThreads() - 1)
                                           : sub(number, 128);
  placeWarp = shr(number, 5);
  placeGroup = sub(shr(number, 7), 1);
}

//===----------------------------------------------------------------------===//
// Broadcasts and masks
//===----------------------------------------------------------------------===//

LogicalResult Lowering::emitBroadcast(BroadcastOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  // One value is the same everywhere.
  if (from.getRank() == 0 || matchPattern(op.getSource(), m_Constant())) {
    set(op, SmallVector<Value>(count(to), scalar(op.getSource())));
    return success();
  }
  auto slice = dyn_cast_or_null<SliceAttr>(from.getEncoding());
  ArrayRef<int64_t> dims = op.getDims();
  if (!slice || slice.getOf() != to.getEncoding() || dims.size() != 1 ||
      dims[0] != slice.getAxis())
    return exchange(op.getSource(), op.getResult(), dims);
  SmallVector<unsigned> map = getSliceElements(to, dims[0]);
  if (op->hasAttr(kDeferredAttr))
    return defer(op.getResult());
  SmallVector<Value> source(elements(op.getSource()));
  SmallVector<Value> result;
  for (unsigned i : map)
    result.push_back(source[i]);
  set(op, result);
  return success();
}

LogicalResult Lowering::emitMask(MaskOp op) {
  SmallVector<Value> source = allElements(op.getSource()), symbols = scalars(op.getSymbols());
  enterPlaces();
  auto masked = create<mk_thread::MaskElementsOp>(TypeRange(ValueRange(source)), source, op.getType(), op.getSet(),
                                                  symbols, scalar(op.getOtherwise()), placeThread);
  set(op, SmallVector<Value>(masked.getResults()));
  return success();
}
