//===- SelfTest.cpp - mk-run --selftest -----------------------------------===//
//
// Posts to the transport itself, without kernel and proxy, so that a fault of the network is
// told from one of a kernel.
//
//===----------------------------------------------------------------------===//

#include "SelfTest.h"

#include "mkernel/Runtime/HeapCopies.h"
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
constexpr uint64_t kPlaceBytes = 1 << 20;   // of the largest put
constexpr uint32_t kOrderRounds = 24;       // of kPlaces puts
constexpr uint32_t kPings = 200;
constexpr uint64_t kMostPuts = 512;         // of the bandwidth test, or
constexpr auto kMostTime = std::chrono::milliseconds(400);
// Slots of signals.
constexpr uint32_t kDone = kPlaces, kPing = kPlaces + 1;

struct Measured {
  double latencyUs = 0, forthGBs = 0, backGBs = 0; // of rank a: a to b, and b to a
  std::string wrong;                               // what was; empty: nothing
};

/// One rank's side of the tests with all of its peers.
class Links {
public:
  Links(Context &context, std::chrono::nanoseconds deadline)
      : context_(context), transport_(*context.transport()), deadline_(deadline) {}

  Status open() {
    MK_ASSIGN(std::byte *memory,
              context_.allocate(2 * kPlaces * kPlaceBytes, "memory of the self-test"));
    out_ = *context_.heap().offsetOf(memory);
    in_ = out_ + kPlaces * kPlaceBytes;
    memory_ = memory;
    MK_ASSIGN(copies_, context_.heap().openCopies());
    host_.resize(kPlaceBytes);
    return copies_->pin(host_.data(), host_.size());
  }
  Status close() {
    copies_.reset();
    return context_.free(memory_);
  }

  /// Both ranks of a pair at the same time.
  Result<Measured> test(uint32_t peer) {
    peer_ = peer;
    arrived_.assign(kPlaces + 2, 0);
    completed_ = posted_ = answers_ = 0;
    bool first = context_.rank() < peer;
    Measured result;
    MK_TRY(testOrder(first, result.wrong));
    MK_TRY(testOrder(!first, result.wrong));
    MK_ASSIGN(result.latencyUs, measureLatency(first));
    MK_ASSIGN(double forth, measureBandwidth(first));
    MK_ASSIGN(double back, measureBandwidth(!first));
    // Whoever sends has measured.
    result.forthGBs = first ? forth : 0;
    result.backGBs = first ? 0 : back;
    return result;
  }

private:
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

  /// Half the median of a way there and back, us.
  Result<double> measureLatency(bool begins) {
    std::vector<double> times;
    for (uint32_t i = 0; i < kPings; ++i) {
      auto begin = Clock::now();
      if (begins)
        MK_TRY(put(0, 8, kPing));
      MK_TRY(await(kPing, i + 1));
      if (!begins)
        MK_TRY(put(0, 8, kPing));
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    MK_TRY(drain());
    std::nth_element(times.begin(), times.begin() + kPings / 2, times.end());
    return times[kPings / 2] / 2;
  }

  /// GB/s of this rank's puts; 0 on the other side.
  Result<double> measureBandwidth(bool sends) {
    if (!sends) {
      MK_TRY(await(kDone, ++answers_));
      return 0.0;
    }
    MK_TRY(drain());
    auto begin = Clock::now();
    uint64_t first = completed_, puts = 0;
    while (puts < kMostPuts && Clock::now() - begin < kMostTime) {
      MK_TRY(until("puts to complete at rank",
                   [&] { return posted_ - completed_ < kPlaces; }));
      MK_TRY(put(puts++ % kPlaces, kPlaceBytes, std::nullopt));
    }
    MK_TRY(drain());
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    double bytes = static_cast<double>(completed_ - first) * kPlaceBytes;
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
      posted = transport_.post(request);
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
      Status status = transport_.poll(news);
      completed_ += news.local.size();
      for (const Arrival &a : news.arrivals)
        if (a.peer == peer_ && a.slot < arrived_.size())
          arrived_[a.slot] += a.amount;
      MK_TRY(status);
      MK_TRY(context_.abort().status());
      if (Clock::now() > end) {
        std::string stuck = transport_.stuck();
        return error(StatusCode::DeadlineExceeded, "waited ",
                     std::chrono::duration<double>(deadline_).count(), " s for ", what, " ",
                     peer_, " over ", transport_.name(), stuck.empty() ? "" : ": ", stuck,
                     "; look at the link between the two, or allow more time (--deadline)");
      }
      if (news.empty())
        transport_.wait(std::chrono::microseconds(50));
    }
    return Status::ok();
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
        return Status::ok();
      if (Clock::now() > end)
        return error(StatusCode::DeadlineExceeded, "the copies of rank ", context_.rank(),
                     "'s device do not end");
    }
  }

  Context &context_;
  Transport &transport_;
  std::chrono::nanoseconds deadline_;
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

struct Line {
  uint32_t a = 0, b = 0;
  Measured m;
};

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// A line for each pair, with a verdict. The first thing that was wrong.
std::string print(std::vector<Line> &lines, const std::string &network) {
  std::sort(lines.begin(), lines.end(), [](const Line &x, const Line &y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  std::vector<double> latencies, rates;
  for (const Line &line : lines) {
    latencies.push_back(line.m.latencyUs);
    rates.push_back(std::min(line.m.forthGBs, line.m.backGBs));
  }
  double latency = medianOf(latencies), rate = medianOf(rates);
  std::string wrong;
  std::printf("network: %s\n", network.c_str());
  for (const Line &line : lines) {
    const Measured &m = line.m;
    const char *verdict = "good";
    if (!m.wrong.empty())
      verdict = "WRONG";
    else if (std::min(m.forthGBs, m.backGBs) < rate / 2)
      verdict = "SLOW: less than half of the others' bandwidth";
    else if (m.latencyUs > 3 * latency + 5)
      verdict = "SLOW: more than three times the others' latency";
    std::printf("%u <-> %u: latency %.1f us, %.2f GB/s there, %.2f GB/s back, order %s: %s\n",
                line.a, line.b, m.latencyUs, m.forthGBs, m.backGBs,
                m.wrong.empty() ? "kept" : "broken", verdict);
    if (wrong.empty())
      wrong = m.wrong;
  }
  std::fflush(stdout);
  return wrong;
}

std::string encode(const Measured &m) {
  char text[128];
  std::snprintf(text, sizeof(text), "%.9g %.9g %.9g ", m.latencyUs, m.forthGBs, m.backGBs);
  return text + m.wrong;
}
Measured decode(const std::string &text) {
  Measured m;
  int at = 0;
  std::sscanf(text.c_str(), "%lf %lf %lf %n", &m.latencyUs, &m.forthGBs, &m.backGBs, &at);
  m.wrong = text.substr(static_cast<size_t>(at));
  return m;
}

/// All pairs of a round at the same time; every rank gets what all have measured.
Status testRound(Context &context, Links &links, uint32_t round, std::vector<Line> &lines) {
  uint32_t rank = context.rank(), world = context.world(), peer = opponent(rank, round, world);
  std::string own;
  if (peer != rank && !context.mesh().reachable(rank, peer)) {
    MK_ASSIGN(Measured measured, links.test(peer));
    own = encode(measured);
  }
  MK_ASSIGN(std::vector<std::string> all, context.allGather("self-test", own));
  for (uint32_t a = 0; a < world; ++a) {
    uint32_t b = opponent(a, round, world);
    if (a >= b || all[a].empty())
      continue;
    Measured there = decode(all[a]), back = decode(all[b]);
    there.backGBs = back.backGBs;
    if (there.wrong.empty())
      there.wrong = back.wrong;
    lines.push_back({a, b, there});
  }
  return Status::ok();
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
  Transport *transport = context.transport();
  uint32_t rank = context.rank(), world = context.world();
  // All have a network, or none.
  if (!transport) {
    if (rank == 0)
      std::printf("network: none: no axis of this mesh is via net; only a kernel is tried\n");
    return Status::ok();
  }
  context.proxy()->pause(true);
  Links links(context, deadline);
  MK_TRY(links.open());
  std::vector<Line> lines;
  uint32_t rounds = world + world % 2 - 1, round = 0;
  Status tested;
  for (; round < rounds && tested; ++round)
    tested = testRound(context, links, round, lines);
  std::string wrong, network = str(transport->name(), ", ", transport->path());
  if (!tested) {
    // What was measured before helps to find the link that failed.
    if (rank == 0 && !lines.empty()) {
      (void)print(lines, network);
      std::printf("round %u of %u of the pairs failed; the others were not tried\n", round,
                  rounds);
      std::fflush(stdout);
    }
    return tested;
  }
  MK_TRY(links.close());
  context.proxy()->pause(false);
  if (rank == 0)
    wrong = print(lines, network);
  MK_ASSIGN(std::vector<std::string> all, context.allGather("verdict of the self-test", wrong));
  return all[0].empty() ? Status::ok() : error(StatusCode::Internal, all[0]);
}
