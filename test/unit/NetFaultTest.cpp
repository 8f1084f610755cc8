//===- NetFaultTest.cpp - Faults of a network, as all ranks see them ------===//
//
// Jobs of two nodes of two ranks, which launch a kernel while something fails: the
// results are right, or every rank's own call returns one error with the cause, also
// on ranks that had nothing to do with what failed; in time, and with nothing left of
// descriptors, threads, memory and registrations. NICs are in software
// (test/softrdma/Knobs.h). docs/network.md has the list.
//
//===----------------------------------------------------------------------===//

#include "Holdings.h"
#include "Knobs.h"
#include "Ranks.h"

#include "mkernel/Runtime/Job.h"

#include <regex>

namespace mk::rt::test {
namespace {

constexpr uint32_t kWorld = 4;
constexpr int64_t kRows = 23, kColumns = 9;
constexpr auto kDeadline = 2s; // of a wait of a launch
// From the start of a job to its end, on a machine with other work.
constexpr auto kInTime = kDeadline + 8s;

struct Row {
  const char *name, *transport, *options;
  std::vector<std::pair<std::string, std::string>> knobs;
  const char *error = nullptr; // expression that every rank's has; null: all is right
  /// Before the context of a rank is made.
  void (*prepare)(uint32_t rank, ContextOptions &) = nullptr;
  /// Before launch n of a rank, counted from 0. False: the rank goes without a word.
  bool (*disturb)(uint32_t rank, int n, Context &) = nullptr;
  const char *commands = nullptr; // MK_COMMANDS
};
std::ostream &operator<<(std::ostream &out, const Row &row) { return out << row.name; }

Status launchAll(const Row &row, uint32_t rank, Context &context, bool &gone) {
  static const Package gather = package("allgather");
  MK_ASSIGN(auto kernel, Kernel::load(context, gather));
  MK_ASSIGN(auto bound, kernel->bind({{"M", {kRows}}, {"N", {kColumns}}}));
  std::vector<float> c(kRows * kColumns);
  MK_TRY(bound->attach("c", c.data()));
  for (int n = 0; n < 8; ++n) {
    if (row.disturb && !row.disturb(rank, n, context)) {
      gone = true;
      return {};
    }
    MK_TRY(gatherOnce(*bound, kRows, kColumns, n, {.deadline = kDeadline}, c));
  }
  return {};
}

/// All that a rank's process does. `gone`: it has left without a word.
Status runRank(const Row &row, uint32_t rank, const std::string &id, bool &gone) {
  JobPlace place;
  place.source = "mpirun";
  place.id = id;
  place.rank = rank;
  place.world = kWorld;
  place.oneHost = true;
  JobOptions options;
  options.timeout = 10s;
  options.node = str(rank / 2);
  MK_ASSIGN(auto job, rt::Job::join(place, options));
  MK_ASSIGN(Mesh mesh, Mesh::create({{"node", 2, LinkKind::Net}, {"gpu", 2, LinkKind::Link}}));
  ContextOptions own = ContextOptions::of(*job, mesh);
  own.heapBytes = 1 << 20;
  own.slots = 4096;
  own.timeout = 10s;
  own.transport = row.transport;
  own.transportOptions = row.options;
  if (row.prepare)
    row.prepare(rank, own);
  Result<std::unique_ptr<Context>> context = Context::create(own);
  Status status = context.status();
  if (context) {
    status = launchAll(row, rank, **context, gone);
    if (gone)
      return {};
    Status closed = (*context)->close();
    if (status)
      status = closed;
  }
  job->fail(status);
  context->reset();
  Status left = job->leave();
  return status ? left : status;
}

class NetFault : public testing::TestWithParam<Row> {};

TEST_P(NetFault, IsRightOrOneErrorOnEveryRank) {
  const Row &row = GetParam();
  QuietLog quiet;
  if (row.commands)
    ::setenv("MK_COMMANDS", row.commands, 1);
  auto run = [&](std::vector<Status> &statuses, std::vector<char> &gone) {
    setKnobs(row.knobs);
    std::string id = randomToken();
    statuses.assign(kWorld, {});
    gone.assign(kWorld, 0);
    rt::test::Job::parallel(kWorld, [&](uint32_t r) {
      bool left = false;
      statuses[r] = runRank(row, r, id, left);
      gone[r] = left;
    });
  };
  std::vector<Status> statuses;
  std::vector<char> gone;
  run(statuses, gone); // what is made once and kept
  Holdings before;
  size_t memory = allocatedBytes();
  for (int round = 0; round < 2; ++round) {
    auto begin = std::chrono::steady_clock::now();
    run(statuses, gone);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kInTime);
    for (uint32_t r = 0; r < kWorld; ++r) {
      if (gone[r])
        continue;
      SCOPED_TRACE(str("rank ", r));
      if (!row.error) {
        EXPECT_OK(statuses[r]);
        continue;
      }
      EXPECT_FALSE(statuses[r].isOk());
      EXPECT_TRUE(std::regex_search(statuses[r].message(), std::regex(row.error)))
          << statuses[r].toString();
      EXPECT_EQ(statuses[r].message().find('\n'), std::string::npos);
    }
  }
  EXPECT_TRUE(before.areBack());
  // A context alone has more.
  EXPECT_LT(double(allocatedBytes()), double(memory) + (64 << 10));
  ::unsetenv("MK_COMMANDS");
  unsetKnobs();
}

//===----------------------------------------------------------------------===//
// What is done to jobs
//===----------------------------------------------------------------------===//

/// One node's second rank and the other's first by turns: each has two that send to it.
bool stallByTurns(uint32_t rank, int n, Context &context) {
  if (n >= 1 && n <= 4 && rank % 2 == uint32_t(n % 2)) {
    context.proxy()->pause(true);
    // Until the launches of the others wait for this one.
    std::this_thread::sleep_for(60ms);
    context.proxy()->pause(false);
  }
  return true;
}

bool dieInTheThird(uint32_t rank, int n, Context &) { return rank != 3 || n != 2; }

bool leaveTheWindow(uint32_t rank, int n, Context &context) {
  if (rank == 1 && n == 2) {
    Command command;
    command.peer = 2;
    command.src = context.heap().dataOffset();
    command.dst = context.heap().bytes();
    command.bytes = 8;
    EXPECT_OK(context.proxy()->ring().tryPush(command));
  }
  return true;
}

void pauseRank0(uint32_t rank, ContextOptions &options) { options.proxyPaused = rank == 0; }

void anotherOption(uint32_t rank, ContextOptions &options) {
  if (rank == 3)
    options.transportOptions += ",request=8M,qps=2";
}

// Knobs: of the first NIC that is opened, whosever it is.
const std::pair<std::string, std::string> kOne{"VICTIMS", "1"};
constexpr const char *kVerbs = "timeout=12,retries=1,deadline=1s,linger=300ms";
constexpr const char *kEfa = "deadline=1s,linger=300ms";

INSTANTIATE_TEST_SUITE_P(
    Loopback, NetFault,
    testing::Values(
        Row{"Nothing", "loopback", "", {}},
        Row{"PeerKilled", "loopback", "", {}, "rank 3 was lost", nullptr, dieInTheThird},
        Row{"RequestFails", "loopback", "fail=20", {}, "request 20.* failed"},
        Row{"LinkCut", "loopback", "pause", {}, "waited 2 s for"},
        Row{"RingOfOnePlace", "loopback", "", {}, nullptr, nullptr, nullptr, "1"},
        Row{"RingFullForEver", "loopback", "", {}, "waited 2 s for", pauseRank0, nullptr, "1"},
        Row{"ProxyStalled", "loopback", "", {}, "waited 2 s for", pauseRank0},
        Row{"ProxyStalledForAWhile", "loopback", "", {}, nullptr, nullptr, stallByTurns},
        Row{"OutOfWindow", "loopback", "", {}, "outside the symmetric window", nullptr, leaveTheWindow}),
    testing::PrintToStringParamName());

#ifdef MK_SOFTRDMA
INSTANTIATE_TEST_SUITE_P(
    Verbs, NetFault,
    testing::Values(
        Row{"Nothing", "verbs", kVerbs, {}},
        Row{"PeerKilled", "verbs", kVerbs, {}, "rank 3 was lost", nullptr, dieInTheThird},
        Row{"LinkCut", "verbs", kVerbs, {kOne, {"DEAD_NIC", "20"}},
            "failed on NIC soft_roce0 \\(transport retry counter exceeded, status 12"},
        Row{"PortDown", "verbs", kVerbs, {kOne, {"LINK_DOWN", "20"}},
            "NIC soft_roce0 (reports: port error|\\(transport retry)"},
        Row{"CompletionQueueError", "verbs", kVerbs, {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "event"}},
            "NIC soft_roce0 reports: CQ error: its completion queue of .* run over", nullptr, stallByTurns},
        Row{"CompletionsLost", "verbs", kVerbs, {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "silent"}},
            "has (acknowledged nothing|taken no signal) for 1 s|waited 2 s for", nullptr, stallByTurns},
        Row{"RegistrationRefused", "verbs", kVerbs, {kOne, {"REFUSE_REG", "3"}},
            "NIC soft_roce0 cannot register .* Cannot allocate memory"},
        Row{"OptionsDiffer", "verbs", kVerbs, {}, "has option qps", anotherOption},
        Row{"RingOfOnePlace", "verbs", kVerbs, {}, nullptr, nullptr, nullptr, "1"},
        Row{"ProxyStalled", "verbs", kVerbs, {}, "waited 2 s for|for 1 s", pauseRank0},
        Row{"ProxyStalledForAWhile", "verbs", kVerbs, {}, nullptr, nullptr, stallByTurns},
        Row{"OutOfWindow", "verbs", kVerbs, {}, "outside the symmetric window", nullptr, leaveTheWindow}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Efa, NetFault,
    testing::Values(
        Row{"Nothing", "efa", kEfa, {}},
        Row{"PeerKilled", "efa", kEfa, {}, "rank 3 was lost", nullptr, dieInTheThird},
        Row{"LinkCut", "efa", kEfa, {kOne, {"DEAD_NIC", "20"}, {"TIMEOUT", "100000"}},
            "failed on NIC soft_efa0 \\(response timeout error"},
        Row{"CompletionQueueError", "efa", kEfa, {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "event"}},
            "NIC soft_efa0 reports: CQ error: its completion queue of .* run over", nullptr, stallByTurns},
        Row{"CompletionsLost", "efa", kEfa, {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "silent"}},
            "has (acknowledged nothing|taken no signal) for 1 s|waited 2 s for", nullptr, stallByTurns},
        Row{"RegistrationRefused", "efa", kEfa, {kOne, {"REFUSE_REG", "3"}},
            "NIC soft_efa0 cannot register .* Cannot allocate memory"},
        Row{"RingOfOnePlace", "efa", kEfa, {}, nullptr, nullptr, nullptr, "1"},
        Row{"OutOfWindow", "efa", kEfa, {}, "outside the symmetric window", nullptr, leaveTheWindow}),
    testing::PrintToStringParamName());
#endif

} // namespace
} // namespace mk::rt::test
