//===- RdmaHarness.cpp - verbs and efa over NICs in software --------------===//

#include "TransportHarness.h"

#ifdef MK_SOFTRDMA
#include "Knobs.h"

#include <dlfcn.h>
#endif

namespace mk::rt::test {

#ifndef MK_SOFTRDMA

const std::vector<const TransportHarness *> &rdmaHarnesses() {
  static const std::vector<const TransportHarness *> none;
  return none;
}

#else

namespace {

class RdmaHarness final : public TransportHarness {
public:
  RdmaHarness(const char *name, const char *transport, std::string nics,
              std::string options)
      : name_(name), transport_(transport), nics_(std::move(nics)),
        options_(std::move(options)) {}

private:
  const char *name() const override { return name_; }

  Result<std::unique_ptr<Transport>> make(Heap &heap, const Conditions &c,
                                          uint8_t generation) const override {
    // Once a cluster: its contexts are to be of one job.
    if (heap.rank() == 0) {
      std::vector<std::pair<std::string, std::string>> knobs;
      knobs.emplace_back("NICS", nics_);
      // What nobody asks for is not there, so that tests are fast.
      if (c.reorder)
        knobs.emplace_back("SEED", str(*c.reorder));
      else
        knobs.emplace_back("JITTER", "0");
      if (c.mtu)
        knobs.emplace_back("MTU", str(c.mtu));
      if (c.delay.count())
        knobs.emplace_back("DELAY", str(c.delay.count()));
      if (c.fail)
        knobs.emplace_back("FAIL_NTH", str(c.fail));
      setKnobs(knobs);
    }
    TransportConfig config;
    config.heap = &heap;
    config.generation = generation;
    config.options = options_;
    // With another NIC the transport would go on.
    if (c.fail)
      config.options = str("nics=soft0", config.options.starts_with("nics=")
                                             ? config.options.substr(config.options.find(','))
                                             : "," + config.options);
    config.options += ",linger=300ms";
    // Within one queue pair RC keeps the order.
    if (c.reorder && transport_ == "verbs")
      config.options += ",qps=4";
    return createTransport(transport_, config);
  }
  void connected(const Conditions &c) const override {
    if (c.pause)
      function<void(int, int)>("softrdma_pause")(-1, 1);
  }
  void resume(Transport &) const override {
    function<void(int, int)>("softrdma_pause")(-1, 0);
  }
  /// Of whichever NIC has posted one: ranks open theirs in any order.
  bool deliverPacket(Transport &, uint64_t n) const override {
    if (nics_ != "soft0:efa" || !options_.empty())
      return false; // RC has one order; several NICs number their own
    int contexts = function<int()>("softrdma_contexts")();
    for (int i = 0; i < contexts; ++i)
      if (function<int(int, uint64_t)>("softrdma_deliver")(i, n))
        return true;
    return false;
  }
  bool readsLate() const override { return options_.find("staged") == std::string::npos; }
  bool limitsRate() const override { return false; }
  bool isReproducible() const override { return false; }

  template <typename Signature> static Signature *function(const char *name) {
    void *library = ::dlopen(MK_SOFTRDMA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Signature *>(::dlsym(library, name));
  }

  const char *name_;
  std::string transport_, nics_, options_;
};

} // namespace

const std::vector<const TransportHarness *> &rdmaHarnesses() {
  static const RdmaHarness verbs("verbs", "verbs", "soft0:roce", "");
  static const RdmaHarness efa("efa", "efa", "soft0:efa", "");
  // Everything that can be cut is cut: several NICs, requests and windows.
  static const RdmaHarness verbsStriped(
      "verbsStriped", "verbs", "soft0:ib:100,soft1:ib:200",
      "nics=soft0+soft1,stripe=4K,request=4K,signals=16,depth=16");
  static const RdmaHarness efaStriped(
      "efaStriped", "efa", "soft0:efa:100,soft1:efa:100,soft2:efa:100",
      "nics=soft0+soft1+soft2,stripe=4K,request=4K,signals=16,depth=16,"
      "unsolicited=0");
  // Through memory of the host, as for GPUs.
  static const RdmaHarness efaStaged("efaStaged", "efa", "soft0:efa", "path=staged");
  static const std::vector<const TransportHarness *> all = {
      &verbs, &efa, &verbsStriped, &efaStriped, &efaStaged};
  return all;
}

#endif

} // namespace mk::rt::test
