//===- TransportHarness.cpp - Plugging a transport into the suite ---------===//

#include "TransportHarness.h"

#include "transport/loopback/Loopback.h"

namespace mk::rt::test {
namespace {

class LoopbackHarness final : public TransportHarness {
  const char *name() const override { return "loopback"; }

  Result<std::unique_ptr<Transport>> make(Heap &heap, const Conditions &c,
                                          uint8_t generation) const override {
    TransportConfig config;
    config.heap = &heap;
    config.generation = generation;
    std::string &o = config.options;
    if (c.reorder)
      o += str("reorder=", *c.reorder, ",");
    if (c.mtu)
      o += str("mtu=", c.mtu, ",");
    if (c.delay.count())
      o += str("delay=", c.delay.count(), "us,");
    if (c.rate > 0)
      o += str("rate=", uint64_t(c.rate), "B/s,");
    if (c.fail)
      o += str("fail=", c.fail, ",");
    if (c.pause)
      o += "pause";
    return createTransport("loopback", config);
  }
  void resume(Transport &t) const override {
    static_cast<Loopback &>(t).pause(false);
  }
  bool deliverPacket(Transport &t, uint64_t n) const override {
    return static_cast<Loopback &>(t).deliverPacket(n);
  }
};

} // namespace

const std::vector<const TransportHarness *> &harnesses() {
  static const LoopbackHarness loopback;
  static const std::vector<const TransportHarness *> all = [] {
    std::vector<const TransportHarness *> list = {&loopback};
    list.insert(list.end(), rdmaHarnesses().begin(), rdmaHarnesses().end());
    if (const TransportHarness *real = libibverbsHarness())
      list.push_back(real);
    return list;
  }();
  return all;
}

} // namespace mk::rt::test
