//===- History.cpp - What was written lately ------------------------------===//

#include "History.h"

using namespace mk::ptx;

void History::write(uint8_t *to, const void *from, size_t bytes,
                    Writer writer) {
  uint64_t begin = reinterpret_cast<uint64_t>(to), end = begin + bytes;
  for (uint64_t s = begin / kSector; s * kSector < end; ++s) {
    std::vector<Entry> &entries = sectors_[s];
    if (entries.empty() || entries.back().writer.time != writer.time ||
        entries.back().writer.cta != writer.cta) {
      if (entries.size() >= kDepth)
        entries.erase(entries.begin());
      entries.emplace_back();
      entries.back().writer = writer;
    }
    Entry &entry = entries.back();
    for (uint64_t at = std::max(begin, s * kSector);
         at < std::min(end, (s + 1) * kSector); ++at) {
      uint64_t b = at - s * kSector;
      if (entry.bytes >> b & 1)
        continue; // written twice at a time
      entry.bytes |= 1u << b;
      entry.old[b] = *reinterpret_cast<const uint8_t *>(at);
    }
  }
  std::memcpy(to, from, bytes);
  if (onWrite)
    onWrite(to, bytes, writer);
}
