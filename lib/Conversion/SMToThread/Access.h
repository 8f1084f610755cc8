//===- Access.h - Elements of a fragment in memory ---------------*- C++ -*-===//
#ifndef MKERNEL_LIB_CONVERSION_SMTOTHREAD_ACCESS_H
#define MKERNEL_LIB_CONVERSION_SMTOTHREAD_ACCESS_H

#include "Lowering.h"

namespace mlir::mk::sm {

/// The elements of a fragment in memory: where each lies and whether it exists.
class Access {
public:
  Access(Emitter &e, int64_t size, Value start, SmallVector<Value> byteStrides,
         SmallVector<Value> offsets, SmallVector<Value> limits, bool isAligned)
      : e(e), start(start), byteStrides(std::move(byteStrides)),
        offsets(std::move(offsets)), limits(std::move(limits)), size(size), isAligned(isAligned) {}

  int64_t rank() const { return limits.size(); }
  int64_t lead() const { return offsets.size() - limits.size(); }

  /// Address of the element, all but its constant offset in the last dimension.
  Value address(const Place &place, int64_t extra) {
    Value &row = rows[key(place)];
    if (!row) {
      row = start;
      for (int64_t d = 0; d < rank(); ++d) {
        int64_t constant = d + 1 < rank() ? place.offset[d] : 0;
        row = e.add(row, e.mul(e.add(place.base[d], constant), byteStride(d)));
      }
    }
    // A tile of one element has no dimension.
    return rank() ? e.add(row, e.mul(byteStride(rank() - 1), extra)) : row;
  }
  Value byteStride(int64_t d) { return byteStrides[lead() + d]; }

  /// Whether the dimensions [from, to) have the element; null: for certain.
  Value exists(const Place &place, int64_t from, int64_t to) {
    Value all;
    for (int64_t d = from; d < to; ++d) {
      Value &known = inside[{d, key(place), d + 1 < rank() ? 0 : place.offset[d]}];
      if (!known) {
        Value index = e.add(place.base[d], place.offset[d]);
        Value behind = e.add(index, offsets[lead() + d]);
        known = e.and_(e.cmp(arith::CmpIPredicate::slt, index, limits[d]),
                       e.cmp(arith::CmpIPredicate::sge, behind, int64_t(0)));
      }
      all = all ? e.and_(all, known) : known;
    }
    if (place.exists)
      all = all ? e.and_(all, place.exists) : place.exists;
    return all;
  }

  /// What holds for runs of `bytes` bytes to be accessed at once, each whole.
  Value allowsRuns(int64_t bytes, int64_t extent) {
    int64_t last = rank() - 1;
    Value bits = start;
    for (int64_t d = 0; d < last; ++d)
      bits = e.or_(bits, byteStride(d));
    Value ok = isAligned ? e.cbool(true) : e.eq(e.and_(bits, bytes - 1), 0);
    ok = e.and_(ok, e.eq(byteStride(last), size));
    ok = e.and_(ok, e.cmp(arith::CmpIPredicate::sge, limits[last], extent));
    return e.and_(ok, e.cmp(arith::CmpIPredicate::sge, offsets[lead() + last], int64_t(0)));
  }
  void forget() {
    rows.clear();
    inside.clear();
  }

private:
  std::vector<const void *> key(const Place &place) {
    std::vector<const void *> result;
    for (int64_t d = 0; d < rank(); ++d) {
      result.push_back(place.base[d].getAsOpaquePointer());
      if (d + 1 < rank())
        result.push_back(reinterpret_cast<const void *>(place.offset[d]));
    }
    return result;
  }

  Emitter &e;
  Value start;
  SmallVector<Value> byteStrides, offsets, limits;
  int64_t size;
  bool isAligned; // rows, for any access
  std::map<std::vector<const void *>, Value> rows;
  std::map<std::tuple<int64_t, std::vector<const void *>, int64_t>, Value> inside;
};

/// How many elements from each even place on lie one behind the other.
int64_t getRun(RankedTensorType type, int64_t bytes);

} // namespace mlir::mk::sm

#endif // MKERNEL_LIB_CONVERSION_SMTOTHREAD_ACCESS_H
