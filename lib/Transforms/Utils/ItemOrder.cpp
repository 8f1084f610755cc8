//===- ItemOrder.cpp - The items of a loop in its order -------------------===//
#include "mkernel/Transforms/ItemOrder.h"
#include "mkernel/Transforms/IndexMath.h"

using namespace mlir;
using namespace mlir::mk;

SmallVector<Value> mk::clampBounds(OpBuilder &b, Location loc, ValueRange bounds) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> clamped;
  for (Value bound : bounds)
    clamped.push_back(arith::MaxSIOp::create(b, loc, bound, zero));
  return clamped;
}

Value mk::countItems(OpBuilder &b, Location loc, ValueRange bounds) {
  Value total = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value bound : bounds)
    total = arith::MulIOp::create(b, loc, total, bound);
  return total;
}

namespace {
struct ItemBuilder : IndexMath {
  const ItemSpace &space;
  SmallVector<Value> indices;

  ItemBuilder(OpBuilder &b, Location loc, const ItemSpace &space)
      : IndexMath{b, loc}, space(space), indices(space.bounds.size()) {}

  void rowMajor(Value t);
  void raster(Value t);
  void longestFirst(Value t);
  Value ownPlace(Value p);
  /// The first of the own rows and how many there are, in the loop's bounds.
  std::pair<Value, Value> ownRows() {
    Value first = clamp(space.own[0], space.bounds[0]);
    return {first, clamp(space.own[1], sub(space.bounds[0], first))};
  }
  Value spread(Value p, Value first, Value count);
  Value sections(Value position, Value first, Value count, Value ownBefore, Value otherBefore,
                 bool ownFirst);
};
} // namespace

void ItemBuilder::rowMajor(Value t) {
  for (unsigned d = indices.size(); d-- > 1;) {
    indices[d] = rem(t, space.bounds[d]);
    t = div(t, space.bounds[d]);
  }
  indices[0] = t;
}

/// Groups of rows of dimension 0 are walked along dimension 1. None has own rows and others where
/// those are two sections: the first wave of CTAs would come to the second section, which may wait
/// for other ranks.
void ItemBuilder::raster(Value t) {
  Value inner = countItems(b, loc, ArrayRef(space.bounds).drop_front(2));
  Value rest = rem(t, inner), tile = div(t, inner);
  Value begin, end = space.bounds[0]; // of the section
  OwnPlace place = space.order.getOwn();
  if (!space.order.getStagger() && (place == OwnPlace::First || place == OwnPlace::Last)) {
    Value count = ownRows().second;
    Value leading = place == OwnPlace::First ? count : sub(space.bounds[0], count);
    Value before = mul(leading, space.bounds[1]), isLeading = less(tile, before);
    begin = select(isLeading, index(0), leading);
    end = select(isLeading, leading, end);
    tile = sub(tile, select(isLeading, index(0), before));
  }
  // (Groups that are as even as they can be were tried: 1 % slower than whole ones and a last one
  // of few rows.)
  Value rows = index(space.order.getRaster());
  Value perGroup = mul(rows, space.bounds[1]);
  Value first = mul(div(tile, perGroup), rows);
  if (begin)
    first = add(begin, first);
  Value inGroup = min(sub(end, first), rows);
  Value r = rem(tile, perGroup);
  indices[0] = add(first, rem(r, inGroup));
  indices[1] = div(r, inGroup);
  for (unsigned d = indices.size(); d-- > 2;) {
    indices[d] = rem(rest, space.bounds[d]);
    rest = div(rest, space.bounds[d]);
  }
}

/// The last dimension descends and is the slowest, the first is the fastest; with
/// groups of the first dimension, that in each group, in sequence.
void ItemBuilder::longestFirst(Value t) {
  unsigned last = indices.size() - 1;
  Value size = space.bounds[0], begin;
  if (int64_t group = space.order.getLongestFirst(); group > 1 && last > 0) {
    Value others = countItems(b, loc, ArrayRef(space.bounds).drop_front());
    Value perGroup = mul(index(group), others);
    begin = mul(div(t, perGroup), index(group));
    size = min(sub(space.bounds[0], begin), index(group));
    t = rem(t, perGroup);
  }
  for (unsigned d = 0; d != last; ++d) {
    Value bound = d ? space.bounds[d] : size;
    indices[d] = rem(t, bound);
    t = div(t, bound);
  }
  if (begin)
    indices[0] = add(begin, indices[0]);
  indices[last] = sub(sub(space.bounds[last], index(1)), t);
}

/// Place `position` of own items from `ownBefore` on and others from
/// `otherBefore` on, one kind behind the other.
Value ItemBuilder::sections(Value position, Value first, Value count, Value ownBefore,
                            Value otherBefore, bool ownFirst) {
  Value others = sub(space.bounds[0], count);
  auto own = [&](Value q) { return add(first, q); };
  auto other = [&](Value q) { return select(less(q, first), q, add(q, count)); };
  Value leading = ownFirst ? sub(count, ownBefore) : sub(others, otherBefore);
  Value isLeading = less(position, leading);
  Value behind = sub(position, leading);
  if (ownFirst)
    return select(isLeading, own(add(ownBefore, position)), other(add(otherBefore, behind)));
  return select(isLeading, other(add(otherBefore, position)), own(add(ownBefore, behind)));
}

/// One own item after every n others while both last.
Value ItemBuilder::spread(Value p, Value first, Value count) {
  Value n = index(space.order.getSpread());
  Value period = index(space.order.getSpread() + 1);
  Value others = sub(space.bounds[0], count);
  Value groups = min(count, div(others, n));
  Value group = div(p, period), place = rem(p, period);
  Value isOwn = equal(place, n);
  Value q = add(mul(group, n), place);
  Value other = select(less(q, first), q, add(q, count));
  Value mixed = select(isOwn, add(first, group), other);
  Value behind = sub(p, mul(groups, period));
  Value tail = sections(behind, first, count, groups, mul(groups, n),
                        /*ownFirst=*/false);
  return select(less(behind, index(0)), mixed, tail);
}

Value ItemBuilder::ownPlace(Value p) {
  OwnPlace place = space.order.getOwn();
  if (place == OwnPlace::Any)
    return p;
  auto [first, count] = ownRows();
  if (place == OwnPlace::Spread)
    return spread(p, first, count);
  return sections(p, first, count, index(0), index(0),
                  /*ownFirst=*/place == OwnPlace::First);
}

SmallVector<Value> mk::getItemIndices(OpBuilder &b, Location loc, Value t, const ItemSpace &space) {
  ItemBuilder items(b, loc, space);
  OrderAttr order = space.order;
  if (order && order.getRaster())
    items.raster(t);
  else if (order && order.getLongestFirst())
    items.longestFirst(t);
  else
    items.rowMajor(t);
  if (!order)
    return items.indices;
  Value p = items.indices[0];
  if (order.getStagger())
    p = items.rem(items.add(items.add(p, space.rank), items.index(1)), space.bounds[0]);
  items.indices[0] = items.ownPlace(p);
  return items.indices;
}
