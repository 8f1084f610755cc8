//===- Provenance.cpp - What every access has seen ------------------------===//

#include "mkernel/Check/Provenance.h"

using namespace mk::check;

// Elements of one box.
static constexpr int64_t kMaxElements = 1 << 20;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

Provenance::Provenance(uint32_t ctas, uint32_t ctasOfRank, bool items)
    : ctasOfRank_(ctasOfRank), linked_(items), items_(ctas) {}

void Provenance::done(uint32_t cta, uint64_t number) {
  if (linked_)
    items_[cta] = mix(items_[cta], number);
}

template <typename Fn>
void Provenance::forElements(uint32_t rank, int32_t buffer,
                             const std::vector<Box> &boxes, Fn each) {
  Buffer &elements = buffers_[{rank, buffer}];
  for (const Box &box : boxes) {
    if (box.empty())
      continue;
    int64_t count = 1;
    for (int d = 0; d < box.rank && count <= kMaxElements; ++d)
      count = box.size[d] > kMaxElements ? kMaxElements + 1 : count * box.size[d];
    if (count > kMaxElements) {
      tooLarge_ = true;
      continue;
    }
    std::array<int64_t, Box::kMaxRank> at{};
    for (int64_t i = 0; i < count; ++i) {
      uint64_t key = 0;
      for (int d = 0; d < box.rank; ++d)
        key = mix(key, static_cast<uint64_t>(box.begin[d] + at[d]));
      // A put moves element i of one box to element i of another.
      each(elements[key], static_cast<uint64_t>(i));
      for (int d = box.rank - 1; d >= 0 && ++at[d] == box.size[d]; --d)
        at[d] = 0;
    }
  }
}

uint64_t Provenance::describe(uint64_t place, uint32_t rank, int32_t buffer,
                              const std::vector<Box> &boxes) const {
  uint64_t hash = mix(mix(place, rank), static_cast<uint64_t>(buffer));
  for (const Box &box : boxes)
    for (int d = 0; d < box.rank; ++d)
      hash = mix(mix(hash, static_cast<uint64_t>(box.begin[d])),
                 static_cast<uint64_t>(box.size[d]));
  return hash;
}

void Provenance::note(uint64_t number, const Event &event, uint32_t rank,
                      int32_t buffer, const std::vector<Box> &boxes, bool write) {
  accesses_.push_back({number, event.site, buffer, rank, write,
                       boxes.empty() ? Box() : boxes.front()});
}

uint64_t Provenance::read(uint32_t cta, const Event &event, uint64_t place,
                          int32_t buffer, const std::vector<Box> &boxes) {
  uint32_t rank = cta / ctasOfRank_;
  uint64_t seen = 0;
  forElements(rank, buffer, boxes, [&](Element &element, uint64_t i) {
    seen += mix(mix(i, element.value), element.adds);
  });
  uint64_t number = mix(mix(describe(place, rank, buffer, boxes), items_[cta]), seen);
  // In any order: readers do not see one another.
  forElements(rank, buffer, boxes,
              [&](Element &element, uint64_t i) { element.readers += mix(number, i); });
  note(number, event, rank, buffer, boxes, false);
  done(cta, number);
  return number;
}

void Provenance::write(uint32_t cta, const Event &event, uint64_t place, uint32_t rank,
                       int32_t buffer, const std::vector<Box> &boxes, uint64_t from) {
  uint64_t over = 0;
  forElements(rank, buffer, boxes, [&](Element &element, uint64_t i) {
    // Neither do adds.
    over += mix(mix(mix(i, element.value), element.readers), event.add ? 0 : element.adds);
  });
  uint64_t number = mix(mix(describe(place, rank, buffer, boxes), items_[cta]), over);
  number = mix(mix(number, from), event.add);
  forElements(rank, buffer, boxes, [&](Element &element, uint64_t i) {
    if (event.add)
      element.adds += mix(number, i);
    else
      element = {mix(number, i), 0, 0};
  });
  note(number, event, rank, buffer, boxes, true);
  done(cta, number);
}

void Provenance::add(uint32_t cta, const Event &event, uint64_t place) {
  uint32_t own = cta / ctasOfRank_;
  switch (event.kind) {
  case Event::Load:
    read(cta, event, place, event.buffer, event.boxes);
    return;
  case Event::Store:
    if (event.buffer >= 0)
      write(cta, event, place, own, event.buffer, event.boxes, 0);
    return;
  case Event::Put: {
    uint64_t from = 0;
    if (event.buffer >= 0)
      from = read(cta, event, place, event.buffer, event.boxes);
    if (event.dstBuffer >= 0)
      write(cta, event, place, event.peer, event.dstBuffer, event.dstBoxes, from);
    return;
  }
  default:
    return;
  }
}
