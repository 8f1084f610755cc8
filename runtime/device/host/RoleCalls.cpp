//===- RoleCalls.cpp - Whether what an op names exists --------------------===//

#include "device/host/RoleCalls.h"

#include "mkernel/ABI/Package.h"

using namespace mk::rt;
using namespace mk::rt::host;

std::string RoleCalls::signalName(int32_t signal, int64_t index) const {
  return elementName("signal", about_.signals[signal].name,
                     job_.plan(self_).signals[signal].extents, index);
}

bool RoleCalls::refuse(const char *op) {
  return fail("engines", str("comes to ", op, ", which copy engines cannot do"));
}

void RoleCalls::failFault(int32_t fault, int32_t line) {
  bool division = fault == MK_FAULT_DIVISION;
  fail(division ? "division" : "arithmetic",
       faultText(about_, -1 - (int64_t(fault) << 32 | line), /*inRole=*/true));
}

std::string RoleCalls::noRankText(int64_t rank) const {
  return str("there is no rank ", rank, " in a mesh of ", ranks_, " ranks",
             rank == -1 ? " (a coordinate outside of its axis makes it)" : "");
}

bool RoleCalls::checkTarget(int64_t peer, int32_t signal, int64_t index) {
  if (peer < 0 || peer >= int64_t(ranks_))
    return fail("put", noRankText(peer));
  if (signal == MK_NO_SIGNAL)
    return true;
  if (signal < 0 || size_t(signal) >= about_.signals.size())
    return fail("signal", str("there is no signal ", signal));
  const Plan::Signal &array = job_.plan(self_).signals[signal];
  if (index < 0 || index >= array.elements)
    return fail("signal", str("signal '", about_.signals[signal].name, "' has ", array.elements,
                              " elements (", shapeText(array.extents), "); index ", index,
                              " is out of range"));
  if (!about_.signals[signal].sys && peer != self_)
    return fail("signal",
                str(signalName(signal, index), " has scope gpu and cannot be raised by rank ",
                    self_, " on rank ", peer, ": declare it with scope sys"));
  return true;
}

bool RoleCalls::outside(const Outside &what) { return fail("bounds", outsideText(about_, what)); }

bool RoleCalls::extentOf(int32_t argument, int dim, int64_t rank, int64_t &extent) {
  if (argument < 0 || size_t(argument) >= about_.args.size())
    return fail("bounds", str("there is no argument ", argument));
  if (rank < 0 || rank >= int64_t(ranks_))
    return fail("bounds", noRankText(rank));
  extent = job_.shard(argument, uint32_t(rank)).sizes[dim];
  return true;
}

bool RoleCalls::regionExists(const Place &place, int ndims, const int64_t *offsets,
                             const int64_t *sizes, const int32_t *rows) {
  for (int d = 0; d < ndims; ++d)
    if (sizes[d] <= 0)
      return true;
  auto exists = [&](int d, int64_t begin, int64_t size, int64_t extent) {
    // Without sums, which might overflow.
    if (begin >= 0 && begin <= extent && size <= extent - begin)
      return true;
    return outside({place.site, place.named, place.argument, d, begin, size, extent, place.rank});
  };
  if (place.rank < 0 || place.rank >= int64_t(ranks_))
    return fail("bounds", str(siteText(about_, place.site), " names rank ", place.rank, ", and ",
                              noRankText(place.rank), ": correct the rank"));
  bool some = !rows;
  for (int64_t i = 0; rows && i < sizes[0]; ++i)
    some |= rows[i] >= 0;
  for (int d = 0; some && d < ndims; ++d) {
    int64_t extent = 0;
    if (!extentOf(place.argument, d, place.rank, extent))
      return false;
    if (d > 0 || !rows) {
      if (!exists(d, offsets[d], sizes[d], extent))
        return false;
      continue;
    }
    bool source = place.named == MK_READ_ARGUMENT;
    for (int64_t i = 0; i < sizes[0]; ++i) {
      auto row = uint64_t(offsets[0]) + uint64_t(source ? int64_t(rows[i]) : i);
      if (rows[i] >= 0 && !exists(0, static_cast<int64_t>(row), 1, extent))
        return false;
    }
  }
  return true;
}
