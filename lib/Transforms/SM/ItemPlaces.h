//===- ItemPlaces.h - Places that differ where items do -------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_SM_ITEMPLACES_H
#define MKERNEL_LIB_TRANSFORMS_SM_ITEMPLACES_H
#include "mkernel/Dialect/Tile/Tile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mk_sm {

/// A sum of values with factors, and a number.
struct LinearForm {
  explicit LinearForm(Value value) { add(value, 1); }
  /// What is left of a difference: nothing if that depends on a value.
  std::optional<int64_t> minus(const LinearForm &other) const;

  llvm::SmallMapVector<Value, int64_t, 4> terms;
  int64_t number = 0;

private:
  void add(Value value, int64_t factor);
};

/// Shows that accesses of different items of a loop have no element in common: what two that meet
/// have in common is collected, and if that is all indices they are of the same item.
class ItemPlaces {
public:
  explicit ItemPlaces(mk::ForeachOp items) : items(items) {}

  /// Takes a place in a dimension: of an earlier item, which reaches `before` elements, and of a
  /// later one, which reaches `behind`.
  void add(Value from, Value to, int64_t before, int64_t behind);
  /// Whether only accesses of the same item meet.
  bool areApart();

private:
  struct Place {
    LinearForm form;
    int64_t reach; // less than this apart, places meet
  };

  bool learn(const Place &place);
  bool isKnown(Value value);
  bool isDetermined(Value value);
  std::optional<int64_t> getTrips(Value value);

  mk::ForeachOp items;
  SmallVector<Place> places;
  llvm::SmallSetVector<Value, 8> known; // the same in accesses that meet
};

} // namespace mlir::mk_sm

#endif // MKERNEL_LIB_TRANSFORMS_SM_ITEMPLACES_H
