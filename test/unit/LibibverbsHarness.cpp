//===- LibibverbsHarness.cpp - verbs over the real libibverbs -------------===//

#include "TransportHarness.h"

#include <cstdlib>

namespace mk::rt::test {
namespace {

/// Rank r has the device rxe<r>: on the emulated wire no device reaches itself.
class LibibverbsHarness final : public TransportHarness {
  const char *name() const override { return "libibverbs"; }

  Result<std::unique_ptr<Transport>> make(Heap &heap, const Conditions &c,
                                          uint8_t generation) const override {
    TransportConfig config;
    config.heap = &heap;
    config.generation = generation;
    config.options = str("nics=rxe", heap.rank(), ",linger=300ms");
    if (c.mtu)
      config.options += ",mtu=256,request=4K";
    return createTransport("verbs", config);
  }
  void resume(Transport &) const override {}
  bool deliverPacket(Transport &, uint64_t) const override { return false; }
  bool makesWeather() const override { return false; }
  bool limitsRate() const override { return false; }
  bool isReproducible() const override { return false; }
};

} // namespace

const TransportHarness *libibverbsHarness() {
  static const LibibverbsHarness harness;
  return std::getenv("MK_TEST_LIBIBVERBS") ? &harness : nullptr;
}

} // namespace mk::rt::test
