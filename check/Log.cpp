//===- Log.cpp - What the CTAs of a run did -------------------------------===//

#include "mkernel/Check/Log.h"

#include <cstring>

using namespace mk::check;

namespace {

struct Writer {
  std::string &bytes;
  template <typename T> void put(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  void boxes(const std::vector<Box> &list) {
    put(uint32_t(list.size()));
    for (const Box &box : list) {
      put(box.rank);
      for (int d = 0; d < box.rank; ++d)
        put(box.begin[d]), put(box.size[d]);
    }
  }
};

struct Reader {
  std::string_view bytes;
  bool ok = true;
  template <typename T> void get(T &value) {
    if (bytes.size() < sizeof(T)) {
      ok = false;
      return;
    }
    std::memcpy(&value, bytes.data(), sizeof(T));
    bytes.remove_prefix(sizeof(T));
  }
  /// Of things that take at least a byte each.
  uint32_t count() {
    uint32_t n = 0;
    get(n);
    ok &= n <= bytes.size();
    return ok ? n : 0;
  }
  void boxes(std::vector<Box> &list) {
    list.resize(count());
    for (Box &box : list) {
      get(box.rank);
      if (!ok || box.rank < 0 || box.rank > Box::kMaxRank) {
        ok = false;
        return;
      }
      for (int d = 0; d < box.rank; ++d)
        get(box.begin[d]), get(box.size[d]);
    }
  }
};

/// Everything of an event but its lists.
template <typename Stream, typename E, typename Fn>
void forScalars(Stream &, E &event, Fn each) {
  each(event.kind), each(event.strong), each(event.add), each(event.ofTile);
  each(event.site), each(event.buffer), each(event.dstBuffer);
  each(event.peer), each(event.object), each(event.element);
  each(event.amount), each(event.order), each(event.draw);
}

} // namespace

void mk::check::encode(const RankLog &log, std::string &bytes) {
  Writer out{bytes};
  out.put(uint32_t(log.ctas.size()));
  for (const RankLog::Cta &cta : log.ctas) {
    out.put(uint32_t(cta.sites.size()));
    for (const Site &site : cta.sites)
      out.put(site);
    out.put(uint32_t(cta.events.size()));
    for (const Event &event : cta.events) {
      forScalars(out, event, [&](const auto &value) { out.put(value); });
      out.boxes(event.boxes);
      out.boxes(event.dstBoxes);
    }
  }
}

bool mk::check::decode(std::string_view bytes, std::vector<RankLog> &launches) {
  Reader in{bytes};
  while (in.ok && !in.bytes.empty()) {
    RankLog &log = launches.emplace_back();
    log.ctas.resize(in.count());
    for (RankLog::Cta &cta : log.ctas) {
      cta.sites.resize(in.count());
      for (Site &site : cta.sites)
        in.get(site);
      cta.events.resize(in.count());
      for (Event &event : cta.events) {
        forScalars(in, event, [&](auto &value) { in.get(value); });
        in.boxes(event.boxes);
        in.boxes(event.dstBoxes);
        if (!in.ok)
          return false;
      }
    }
  }
  return in.ok;
}
