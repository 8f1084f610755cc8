//===- TransportHarness.cpp - Plugging a transport into the suite ---------===//

#include "TransportHarness.h"

#include "transport/loopback/Loopback.h"
#include "transport/staged/Staged.h"

namespace mk::rt::test {
namespace {

class LoopbackHarness : public TransportHarness {
public:
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
      o += "pause,";
    o += more();
    return createTransport("loopback", config);
  }
  void resume(Transport &t) const override {
    static_cast<Loopback &>(t).pause(false);
  }
  bool deliverPacket(Transport &t, uint64_t n) const override {
    return static_cast<Loopback &>(t).deliverPacket(n);
  }

protected:
  virtual std::string more() const { return ""; }
};

/// Through chunks that most puts need several of, over the same wire.
class StagedHarness final : public LoopbackHarness {
  const char *name() const override { return "staged"; }
  std::string more() const override { return "path=staged,chunk=640,chunks=48"; }
  bool readsLate() const override { return false; }
  void resume(Transport &t) const override {
    auto &staged = static_cast<Staged &>(t);
    // What order there is depends on what waits for the wire.
    EXPECT_TRUE(eventually([&] { return staged.handedOver(); }));
    LoopbackHarness::resume(*staged.inner());
  }
  bool deliverPacket(Transport &, uint64_t) const override { return false; }
};

} // namespace

const std::vector<const TransportHarness *> &harnesses() {
  static const LoopbackHarness loopback;
  static const StagedHarness staged;
  static const std::vector<const TransportHarness *> all = [] {
    std::vector<const TransportHarness *> list = {&loopback, &staged};
    list.insert(list.end(), rdmaHarnesses().begin(), rdmaHarnesses().end());
    if (const TransportHarness *real = libibverbsHarness())
      list.push_back(real);
    return list;
  }();
  return all;
}

} // namespace mk::rt::test
