//===- CtaBounds.cpp - Whether what an op names exists --------------------===//

#include "device/Device.h"
#include "device/host/Cta.h"

using namespace mk::rt;
using namespace mk::rt::host;

bool Cta::outside(const Outside &what) {
  return fail("bounds", outsideText(grid_.metadata, what));
}

bool Cta::extentOf(int32_t argument, int dim, int64_t rank, int64_t &extent) {
  if (argument < 0 || size_t(argument) >= grid_.metadata.args.size())
    return fail("bounds", str("there is no argument ", argument));
  if (rank < 0 || rank >= int64_t(grid_.world()))
    return fail("bounds", noRankText(rank));
  extent = grid_.plan.shard(argument, uint32_t(rank)).sizes[dim];
  return true;
}

bool Cta::regionExists(const Place &place, int ndims, const int64_t *offsets,
                       const int64_t *sizes, const int32_t *rows) {
  for (int d = 0; d < ndims; ++d)
    if (sizes[d] <= 0)
      return true;
  auto exists = [&](int d, int64_t begin, int64_t size, int64_t extent) {
    // Without sums, which might overflow.
    if (begin >= 0 && begin <= extent && size <= extent - begin)
      return true;
    return outside({place.site, place.named, place.argument, d, begin, size, extent,
                    place.rank});
  };
  if (place.rank < 0 || place.rank >= int64_t(grid_.world()))
    return fail("bounds", str(siteText(grid_.metadata, place.site), " names rank ", place.rank,
                              ", and ", noRankText(place.rank), ": correct the rank"));
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
