//===- CtaTimeline.cpp - When a CTA of the host target does what ----------===//

#include "device/host/Cta.h"

#include <algorithm>

using namespace mk::rt;
using namespace mk::rt::host;

void Cta::span(int32_t kind, int64_t begin, int64_t value, int32_t object) {
  if (!grid_.timing)
    return;
  if (track.records.size() >= grid_.metadata.timeline->records) {
    ++track.dropped;
    return;
  }
  Timeline::Record &record = track.records.emplace_back();
  record.kind = kind;
  record.begin = begin;
  record.end = steadyNow();
  record.value = value;
  record.object = static_cast<int16_t>(object);
  record.role = preparing_ ? int16_t(-1) : static_cast<int16_t>(cta_.role);
  // Calls say where they are, and what has ended by then is elsewhere.
  bool isCall = kind != MK_TIMELINE_PLACE && kind != MK_TIMELINE_ROLE;
  record.site = isCall ? line_ : 0;
}

void Cta::openItem() {
  itemBegin_ = grid_.timing ? steadyNow() : 0;
}

// Coordinates beyond 16 bits are cut: they are for the eye.
void Cta::closeItem() {
  if (!itemBegin_)
    return;
  uint64_t place = 0;
  for (int d = 0; d < 4; ++d)
    place |= uint64_t(uint16_t(std::min<int64_t>(item_[d], INT16_MAX))) << 16 * d;
  span(MK_TIMELINE_PLACE, itemBegin_, static_cast<int64_t>(place), loop_);
  itemBegin_ = 0;
}
