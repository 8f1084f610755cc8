//===- SelfTestWires.h - What carries the puts of --selftest ----*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_SELFTESTWIRES_H
#define MKERNEL_TOOLS_MKRUN_SELFTESTWIRES_H

#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/HeapCopies.h"

#include <array>
#include <atomic>

namespace mk::run {

/// Puts to one peer at a time, and what comes from it. Offsets are from the starts of heaps.
class Wire {
public:
  virtual ~Wire() = default;
  /// For the tests with `peer`, in round `round`, from now on. No put of a test before is under way.
  virtual rt::Status begin(uint32_t peer, uint32_t round) = 0;
  /// As Transport::post, poll and wait.
  virtual rt::Status post(const rt::PutRequest &request) = 0;
  virtual rt::Status poll(rt::Completions &news) = 0;
  virtual void wait() = 0;
  /// Whether a copy has to be large for its beginning not to count.
  virtual bool wantsLargePuts() const = 0;
  /// "verbs"; for messages.
  virtual std::string_view name() const = 0;
  /// What stands still; "" if nothing is known.
  virtual std::string stuck() const = 0;
  /// What to look at when nothing arrives.
  virtual std::string_view remedy() const = 0;
};

/// The transport of a context, whose proxy is paused.
class NetWire final : public Wire {
public:
  explicit NetWire(rt::Transport &transport) : transport_(transport) {}
  rt::Status begin(uint32_t, uint32_t) override { return rt::Status::success(); }
  rt::Status post(const rt::PutRequest &request) override { return transport_.post(request); }
  rt::Status poll(rt::Completions &news) override { return transport_.poll(news); }
  void wait() override { transport_.wait(std::chrono::microseconds(50)); }
  bool wantsLargePuts() const override { return false; }
  std::string_view name() const override { return transport_.name(); }
  std::string stuck() const override { return transport_.stuck(); }
  std::string_view remedy() const override;

private:
  rt::Transport &transport_;
};

/// The memory of a link peer, as it is mapped for kernels. On the host the CPU stores there; on a
/// GPU its copy engine writes, first data, then the signal.
class LinkWire final : public Wire {
public:
  static constexpr uint32_t kSlots = 16;
  static constexpr uint64_t kMostCount = 255; // of a slot's signals in one test
  /// Of symmetric memory: signals that peers raise, and the words to write there.
  static constexpr uint64_t kBytes = (kSlots + kMostCount + 1) * 8;

  /// `offset`: where the kBytes of every rank are, zeroed.
  static rt::Result<std::unique_ptr<LinkWire>> open(rt::Heap &heap, uint64_t offset);

  rt::Status begin(uint32_t peer, uint32_t round) override;
  rt::Status post(const rt::PutRequest &request) override;
  rt::Status poll(rt::Completions &news) override;
  void wait() override;
  bool wantsLargePuts() const override { return true; }
  std::string_view name() const override { return "their link"; }
  std::string stuck() const override { return ""; }
  std::string_view remedy() const override;
  /// "by loads and stores"; for the report.
  std::string describe() const;

private:
  LinkWire(rt::Heap &heap, uint64_t offset) : heap_(heap), offset_(offset) {}
  rt::Status raise(uint32_t slot);
  rt::Status readSignals(rt::Completions &news);
  void add(uint32_t slot, uint64_t word, rt::Completions &news);

  rt::Heap &heap_;
  uint64_t offset_;
  std::unique_ptr<rt::HeapCopies> writer_, reader_; // side by side
  uint32_t peer_ = 0;
  // A word holds the round, and how often its slot was raised in it: none of a round before
  // counts.
  uint64_t stamp_ = 0;
  std::array<uint64_t, kSlots> raised_{}, seen_{}; // in this test
  /// Memory of the host that copies use.
  struct Staging {
    std::array<uint64_t, kMostCount + 1> words{}; // stamp_ and a count, to be written at the peer
    std::array<uint64_t, kSlots> signals{};       // as the device had them last
  } host_;
  uint64_t reading_ = 0;   // mark of the copy to host_.signals; 0: there was none
  uint64_t completed_ = 0; // marks of puts
};

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_SELFTESTWIRES_H
