//===- CtaRecord.cpp - What a CTA does, for the race check ----------------===//
//
// Compiled code says which accesses it makes (mkrt_access) and which line it is
// at (mkrt_line) when it was compiled for that; the rest passes through here anyway.
//
//===----------------------------------------------------------------------===//

#include "device/Device.h"
#include "device/host/Cta.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::host;
using mk::check::Box;
using mk::check::Event;

void Cta::setLine(int32_t line) { line_ = line; }

Event *Cta::note(Event::Kind kind) {
  if (!grid_.recording)
    return nullptr;
  check::Site site;
  site.role = preparing_ ? -1 : static_cast<int32_t>(cta_.role);
  site.line = line_;
  site.loop = loop_;
  std::copy(item_, item_ + 4, site.item.begin());
  if (log.sites.empty() || !(log.sites.back() == site))
    log.sites.push_back(site);
  Event &event = log.events.emplace_back();
  event.kind = kind;
  event.site = static_cast<int32_t>(log.sites.size() - 1);
  event.draw = draw_;
  return &event;
}

void Cta::enterItem() {
  if (grid_.recording && ticketLoop_ >= 0 && grid_.isShared(cta_.role))
    draw_ = (static_cast<int64_t>(ticketLoop_) << 48) + ticket_;
}

std::optional<std::pair<int32_t, Box>>
Cta::boxAt(const std::byte *at, int ndims, const int64_t *sizes) const {
  for (size_t i = 0; i < grid_.metadata.args.size(); ++i) {
    const auto &arg = grid_.metadata.args[i];
    const Shard &shard = grid_.plan.shard(i, grid_.rank());
    auto elementBytes = static_cast<int64_t>(byteSize(arg.type));
    // Of a symmetric argument the largest shard: this may be a peer's.
    int64_t bytes = arg.symmetric
                        ? static_cast<int64_t>(grid_.plan.symmetricBytes(i))
                        : shard.elements() * elementBytes;
    const std::byte *begin = grid_.argument(i);
    int rank = static_cast<int>(shard.sizes.size());
    if (at < begin || at >= begin + bytes || ndims > rank ||
        rank > Box::kMaxRank)
      continue;
    Box box;
    box.rank = rank;
    int64_t offset = (at - begin) / elementBytes;
    std::vector<int64_t> strides = tightStrides(shard.sizes);
    for (int d = 0; d < rank; ++d) {
      int64_t stride = std::max<int64_t>(strides[d], 1);
      box.begin[d] = offset / stride;
      offset %= stride;
      box.size[d] = d < rank - ndims ? 1 : sizes[d - (rank - ndims)];
    }
    return std::pair(static_cast<int32_t>(i), box);
  }
  return std::nullopt;
}

void Cta::noteAccess(const void *at, int ndims, const int64_t *sizes,
                     bool write) {
  if (!grid_.recording || std::any_of(sizes, sizes + ndims,
                                      [](int64_t size) { return size <= 0; }))
    return;
  auto box = boxAt(static_cast<const std::byte *>(at), ndims, sizes);
  if (!box)
    return;
  // Nobody writes what is only read and not symmetric.
  const auto &arg = grid_.metadata.args[box->first];
  if (arg.kind == Metadata::ArgKind::In && !arg.symmetric)
    return;
  Event *event = note(write ? Event::Store : Event::Load);
  event->buffer = box->first;
  event->boxes.push_back(box->second);
}

void Cta::noteTransfer(const Pending &pending) {
  bool own = isOwnStore(pending);
  Event *event = note(own ? Event::Store : Event::Put);
  if (!event)
    return;
  event->ofTile = pending.isStore && !own;
  event->peer = pending.peer;
  event->object = pending.signal;
  event->element = pending.index;
  event->strong = pending.flags & MK_PUT_STRONG;
  event->add = pending.flags & MK_PUT_ADD;
  const Region &r = pending.region;
  auto add = [&](const std::byte *at, const int64_t *sizes, bool source) {
    auto box = boxAt(at, r.ndims, sizes);
    if (!box || box->second.empty())
      return;
    (source || own ? event->buffer : event->dstBuffer) = box->first;
    (source || own ? event->boxes : event->dstBoxes).push_back(box->second);
  };
  if (!r.listed) {
    if (r.elements() == 0)
      return;
    add(r.dst, r.sizes.data(), false);
    if (!pending.isStore)
      add(r.src, r.sizes.data(), true);
    return;
  }
  int64_t row[] = {1, r.sizes[1]};
  auto bytes = static_cast<int64_t>(byteSize(r.type));
  for (int64_t i = 0; i < r.sizes[0]; ++i)
    if (r.rows[i] >= 0 && r.sizes[1] > 0) {
      add(r.dst + i * r.dstStrides[0] * bytes, row, false);
      add(r.src + r.rows[i] * r.srcStrides[0] * bytes, row, true);
    }
}

void Cta::noteObject(Event::Kind kind, int32_t object, int64_t element,
                     int64_t amount, int64_t order) {
  Event *event = note(kind);
  if (!event)
    return;
  event->object = object;
  event->element = element;
  event->amount = amount;
  event->order = order;
}
