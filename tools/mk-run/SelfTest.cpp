//===- SelfTest.cpp - mk-run --selftest -----------------------------------===//
//
// Posts to the transport itself, and writes to the memory of link peers, without kernel and
// proxy, so that a fault of the network is told from one of a kernel.
//
//===----------------------------------------------------------------------===//

#include "SelfTest.h"

#include "SelfTestReport.h"
#include "SelfTestWires.h"

#include "mkernel/Runtime/Random.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;
using Clock = std::chrono::steady_clock;

namespace {

constexpr uint32_t kPlaces = 8;             // puts under way at a time
constexpr uint64_t kPlaceBytes = 1 << 20;   // of the largest put over a network
constexpr uint32_t kOrderRounds = 24;       // of kPlaces puts
constexpr uint32_t kPings = 200;
constexpr uint64_t kMostPuts = 512;         // of the bandwidth test, or
constexpr auto kMostTime = std::chrono::milliseconds(400);
// Slots of signals.
constexpr uint32_t kDone = kPlaces, kPing = kPlaces + 1;

static_assert(kPings <= LinkWire::kMostCount && 3 * kOrderRounds <= LinkWire::kMostCount &&
              kPing < LinkWire::kSlots);
static_assert(2 * kPlaces * kPlaceBytes + LinkWire::kBytes <= kSelfTestBytes &&
              kPing < kSelfTestSlots);

/// One rank's side of the tests with all of its peers.
class Links {
public:
  Links(Context &context, std::chrono::nanoseconds deadline)
      : context_(context), deadline_(deadline) {
    if (context.transport())
      net_ = std::make_unique<NetWire>(*context.transport());
  }

  Status open() {
    MK_ASSIGN(std::byte *memory,
              context_.allocate(2 * kPlaces * kPlaceBytes + LinkWire::kBytes,
                                "memory of the self-test"));
    out_ = *context_.heap().offsetOf(memory);
    in_ = out_ + kPlaces * kPlaceBytes;
    memory_ = memory;
    MK_ASSIGN(link_, LinkWire::open(context_.heap(), in_ + kPlaces * kPlaceBytes));
    MK_ASSIGN(copies_, context_.heap().openCopies());
    host_.resize(kPlaceBytes);
    return copies_->pin(host_.data(), host_.size());
  }
  Status close() {
    copies_.reset();
    link_.reset();
    return context_.free(memory_);
  }

  /// Both ranks of a pair at the same time. What fails is in the result.
  Measured test(uint32_t peer, uint32_t round) {
    Measured result;
    if (Status status = measure(peer, round, result); !status.isOk())
      result.failed = status.code() == StatusCode::DeadlineExceeded
                          ? status.message()
                          : str(status.message(), "; check NICs, ports and cables of both ranks "
                                                  "(docs/network.md lists messages)");
    return result;
  }
  /// How links are tried, for the report.
  std::string describeLink() const { return link_->describe(); }

private:
  Status measure(uint32_t peer, uint32_t round, Measured &result) {
    peer_ = peer;
    wire_ = context_.mesh().reachable(context_.rank(), peer) ? static_cast<Wire *>(link_.get())
                                                             : net_.get();
    arrived_.assign(kPlaces + 2, 0);
    completed_ = posted_ = answers_ = 0;
    bool first = context_.rank() < peer;
    MK_TRY(wire_->begin(peer, round));
    MK_TRY(testOrder(first, result.wrong));
    MK_TRY(testOrder(!first, result.wrong));
    MK_ASSIGN(result.latencyUs, measureLatency(first));
    MK_ASSIGN(double forth, measureBandwidth(first));
    MK_ASSIGN(double back, measureBandwidth(!first));
    // Whoever sends has measured.
    result.forthGBs = first ? forth : 0;
    result.backGBs = first ? 0 : back;
    return Status::success();
  }

  /// Sizes and bytes of a put, which both ends draw alike.
  static uint64_t bytesOf(uint32_t round, uint32_t place) {
    // Some large enough to be divided among requests, queue pairs and NICs.
    uint64_t most = round % 4 == 3 ? kPlaceBytes : 64 << 10;
    return 1 + RandomValues::keyOf({round, place}) % most;
  }
  static void fill(std::span<std::byte> data, uint32_t round, uint32_t place) {
    uint64_t state = RandomValues::keyOf({round, place, 7}) | 1;
    for (std::byte &b : data) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      b = std::byte(state >> 56);
    }
  }

  Status testOrder(bool sends, std::string &wrong) {
    std::vector<std::byte> expected;
    for (uint32_t round = 0; round < kOrderRounds; ++round) {
      if (sends) {
        for (uint32_t place = 0; place < kPlaces; ++place) {
          uint64_t bytes = bytesOf(round, place);
          fill({host_.data(), bytes}, round, place);
          MK_TRY(copyIn(out_ + place * kPlaceBytes, bytes));
        }
        for (uint32_t place = 0; place < kPlaces; ++place)
          MK_TRY(put(place, bytesOf(round, place), place));
        MK_TRY(await(kDone, ++answers_));
        continue;
      }
      // In the order in which they come, each at once.
      uint32_t seen = 0;
      for (uint32_t left = kPlaces; left > 0;) {
        MK_TRY(until("the data of rank", [&] {
          for (uint32_t place = 0; place < kPlaces; ++place)
            if (!(seen >> place & 1) && arrived_[place] > round)
              return true;
          return false;
        }));
        for (uint32_t place = 0; place < kPlaces; ++place) {
          if (seen >> place & 1 || arrived_[place] <= round)
            continue;
          uint64_t bytes = bytesOf(round, place);
          expected.resize(bytes);
          fill(expected, round, place);
          MK_TRY(copyOut(in_ + place * kPlaceBytes, bytes));
          auto differs = std::mismatch(expected.begin(), expected.end(), host_.begin()).first;
          if (differs != expected.end() && wrong.empty())
            wrong = str("data of rank ", peer_, " was not in the memory of rank ",
                        context_.rank(), " when its signal was: byte ",
                        differs - expected.begin(), " of ", bytes);
          seen |= 1u << place;
          --left;
        }
      }
      MK_TRY(signal(kDone));
    }
    return drain();
  }

  /// Half the median of a way there and back, us; 0 for the rank that answers. The other one
  /// ends it, on a slow network early.
  Result<double> measureLatency(bool begins) {
    if (!begins) {
      ++answers_;
      for (uint64_t answered = 0; arrived_[kDone] < answers_;) {
        MK_TRY(until("an answer of rank", [&] {
          return arrived_[kPing] > answered || arrived_[kDone] >= answers_;
        }));
        for (; answered < arrived_[kPing]; ++answered)
          MK_TRY(put(0, 8, kPing));
      }
      MK_TRY(drain());
      return 0.0;
    }
    std::vector<double> times;
    auto start = Clock::now();
    while (times.size() < kPings && (times.empty() || Clock::now() - start < kMostTime)) {
      auto begin = Clock::now();
      MK_TRY(put(0, 8, kPing));
      MK_TRY(await(kPing, times.size() + 1));
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    MK_TRY(signal(kDone));
    MK_TRY(drain());
    auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle / 2;
  }

  /// GB/s of this rank's puts; 0 on the other side.
  Result<double> measureBandwidth(bool sends) {
    if (!sends) {
      MK_TRY(await(kDone, ++answers_));
      return 0.0;
    }
    MK_TRY(drain());
    // All places are side by side.
    uint32_t places = wire_->wantsLargePuts() ? kPlaces : 1;
    auto begin = Clock::now();
    uint64_t first = completed_, puts = 0;
    while (puts < kMostPuts && Clock::now() - begin < kMostTime) {
      MK_TRY(until("puts to complete at rank",
                   [&] { return posted_ - completed_ < kPlaces; }));
      MK_TRY(put(places > 1 ? 0 : puts % kPlaces, places * kPlaceBytes, std::nullopt));
      ++puts;
    }
    MK_TRY(drain());
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    double bytes = static_cast<double>((completed_ - first) * places * kPlaceBytes);
    MK_TRY(signal(kDone));
    MK_TRY(drain());
    return bytes / seconds * 1e-9;
  }

  Status put(uint64_t place, uint64_t bytes, std::optional<uint32_t> slot) {
    PutRequest request;
    request.peer = peer_;
    if (bytes)
      request.fragments = {{out_ + place * kPlaceBytes, in_ + place * kPlaceBytes, bytes}};
    if (slot)
      request.signal = SignalAdd{*slot, 1};
    Status posted;
    MK_TRY(until("room for requests to rank", [&] {
      posted = wire_->post(request);
      return posted.code() != StatusCode::Again;
    }));
    posted_ += posted.isOk();
    return posted;
  }
  Status signal(uint32_t slot) { return put(0, 0, slot); }
  Status await(uint32_t slot, uint64_t count) {
    return until("an answer of rank", [&] { return arrived_[slot] >= count; });
  }
  Status drain() {
    return until("puts to complete at rank", [&] { return completed_ == posted_; });
  }

  template <typename Done> Status until(std::string_view what, Done done) {
    auto end = Clock::now() + deadline_;
    while (!done()) {
      Completions news;
      Status status = wire_->poll(news);
      completed_ += news.local.size();
      for (const Arrival &a : news.arrivals)
        if (a.peer == peer_ && a.slot < arrived_.size())
          arrived_[a.slot] += a.amount;
      MK_TRY(status);
      MK_TRY(context_.abort().status());
      if (Clock::now() > end) {
        std::string stuck = wire_->stuck();
        char seconds[32];
        std::snprintf(seconds, sizeof(seconds), "%g",
                      std::chrono::duration<double>(deadline_).count());
        return error(StatusCode::DeadlineExceeded, "waited ", seconds, " s for ", what, " ",
                     peer_, " over ", wire_->name(), stuck.empty() ? "" : ": ", stuck,
                     "; ", wire_->remedy());
      }
      if (news.empty())
        wire_->wait();
    }
    return Status::success();
  }

  Status copyIn(uint64_t offset, uint64_t bytes) {
    MK_TRY(copies_->fromHost(offset, host_.data(), bytes));
    return copied();
  }
  Status copyOut(uint64_t offset, uint64_t bytes) {
    // As before a kernel's signal: the device may see a NIC's data late.
    MK_TRY(context_.heap().flushRemoteWrites());
    MK_TRY(copies_->toHost(host_.data(), offset, bytes));
    return copied();
  }
  Status copied() {
    MK_ASSIGN(uint64_t mark, copies_->mark());
    auto end = Clock::now() + deadline_;
    while (true) {
      MK_ASSIGN(uint64_t reached, copies_->reached());
      if (reached >= mark)
        return Status::success();
      if (Clock::now() > end)
        return error(StatusCode::DeadlineExceeded, "the copies of rank ", context_.rank(),
                     "'s device do not end");
    }
  }

  Context &context_;
  std::chrono::nanoseconds deadline_;
  std::unique_ptr<NetWire> net_; // null without net axes
  std::unique_ptr<LinkWire> link_;
  Wire *wire_ = nullptr; // to the peer
  std::unique_ptr<HeapCopies> copies_;
  std::byte *memory_ = nullptr;
  uint64_t out_ = 0, in_ = 0; // offsets of places
  std::vector<std::byte> host_;
  uint32_t peer_ = 0;
  std::vector<uint64_t> arrived_; // by slot
  uint64_t posted_ = 0, completed_ = 0;
  uint64_t answers_ = 0; // that the peer has to give so far
};

/// The rank that `rank` meets in `round`, of the rounds in which each meets every other one
/// once (a round-robin tournament); itself: nobody.
uint32_t opponent(uint32_t rank, uint32_t round, uint32_t world) {
  uint32_t n = world + world % 2, last = n - 1;
  uint32_t other;
  if (rank == last)
    other = round;
  else if (rank == round)
    other = last;
  else
    other = (2 * round + last - rank) % last;
  return other < world ? other : rank;
}

/// All pairs of a round at the same time; every rank gets what all have measured.
Status testRound(Context &context, Links &links, uint32_t round, std::vector<Pair> &pairs) {
  uint32_t rank = context.rank(), world = context.world(), peer = opponent(rank, round, world);
  auto gather = [&](const Measured &own) -> Result<std::vector<std::string>> {
    return context.allGather("self-test", peer == rank ? "" : own.encode());
  };
  Measured own;
  if (peer != rank)
    own = links.test(peer, round);
  Result<std::vector<std::string>> all = gather(own);
  if (!all) {
    // Of this rank's own pair something is known all the same.
    if (!own.failed.empty())
      pairs.push_back(Pair::of(std::min(rank, peer), std::max(rank, peer),
                               context.mesh().reachable(rank, peer), rank < peer ? own : Measured(),
                               rank < peer ? Measured() : own));
    return all.status();
  }
  for (uint32_t a = 0; a < world; ++a)
    if (uint32_t b = opponent(a, round, world); a < b)
      pairs.push_back(Pair::of(a, b, context.mesh().reachable(a, b), Measured::decode((*all)[a]),
                               Measured::decode((*all)[b])));
  return Status::success();
}

/// `failed`: the round in which a pair failed, from 1; 0: none.
void print(std::vector<Pair> pairs, uint32_t world, const std::string &network,
           const std::string &link, uint32_t failed, uint32_t rounds) {
  std::sort(pairs.begin(), pairs.end(), [](const Pair &x, const Pair &y) {
    return std::tuple(x.link, x.a, x.b) < std::tuple(y.link, y.a, y.b);
  });
  std::printf("network: %s\n", network.c_str());
  std::vector<std::string> lines = describe(pairs);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (pairs[i].link && (i == 0 || !pairs[i - 1].link))
      std::printf("links: %s\n", link.c_str());
    std::printf("%s\n", lines[i].c_str());
  }
  size_t all = size_t(world) * (world - 1) / 2;
  if (failed)
    std::printf("round %u of %u of the pairs failed: %zu of %zu pairs were not tried\n", failed,
                rounds, all - pairs.size(), all);
  std::fflush(stdout);
}

} // namespace

Result<std::string> mk::run::selfTestKernel() {
  char path[4096];
  ssize_t n = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  std::string file = program.substr(0, program.rfind('/') + 1) +
                     "../share/mkernel/selftest.mlir";
  if (::access(file.c_str(), R_OK) == 0)
    return file;
  return error(StatusCode::NotFound, "--selftest: there is no '", file,
               "': give the kernel to run, or a package of it");
}

Status mk::run::testLinks(Context &context, std::chrono::nanoseconds deadline) {
  uint32_t rank = context.rank(), world = context.world();
  if (world == 1) {
    std::printf("network: none: this job has one rank; only a kernel is tried\n");
    return Status::success();
  }
  // All have a network, or none.
  Transport *transport = context.transport();
  if (transport)
    context.proxy()->pause(true);
  Links links(context, deadline);
  MK_TRY(links.open());
  std::vector<Pair> pairs;
  uint32_t rounds = world + world % 2 - 1, round = 0;
  Status tested;
  std::string fault;
  for (; round < rounds && tested && fault.empty(); ++round) {
    size_t before = pairs.size();
    tested = testRound(context, links, round, pairs);
    // What is still under way of a pair that failed would disturb the rounds behind it.
    for (size_t i = before; i < pairs.size() && fault.empty(); ++i)
      if (!pairs[i].measured.failed.empty())
        fault = findFault(std::span(pairs).subspan(i, 1));
  }
  bool complete = tested.isOk() && fault.empty();
  if (rank == 0)
    print(pairs, world,
          transport ? str(transport->name(), ", ", transport->path())
                    : std::string("none: no axis of this mesh is via net"),
          links.describeLink(), complete ? 0 : round, rounds);
  MK_TRY(tested);
  if (fault.empty())
    fault = findFault(pairs);
  if (!complete)
    return error(StatusCode::Unavailable, fault);
  MK_TRY(links.close());
  if (transport)
    context.proxy()->pause(false);
  return fault.empty() ? Status::success() : error(StatusCode::Internal, fault);
}
