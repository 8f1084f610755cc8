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
// Of all but waits from a job's start to its end, on a machine with other work.
constexpr auto kRest = 8s;

struct Row {
  const char *name, *transport, *options = "linger=300ms";
  std::vector<std::pair<std::string, std::string>> knobs = {};
  /// Expression that every rank's error has; null: all is right.
  const char *error = nullptr;
  /// Before the context of a rank is made.
  void (*prepare)(uint32_t rank, ContextOptions &) = nullptr;
  /// Before launch n of a rank, counted from 0. False: the rank goes without a word.
  bool (*disturb)(uint32_t rank, int n, Context &) = nullptr;
  const char *commands = nullptr;            // MK_COMMANDS
  std::chrono::milliseconds deadline = 10s; // of a wait of a launch
  const char *oneError = ".";               // what one rank's has at least
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
    MK_TRY(gatherOnce(*bound, kRows, kColumns, n, {.deadline = row.deadline}, c));
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
  if (context)
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
  auto begin = std::chrono::steady_clock::now();
  run(statuses, gone);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, row.deadline + kRest);
  bool oneHas = false;
  for (uint32_t r = 0; r < kWorld; ++r) {
    if (gone[r])
      continue;
    oneHas |= std::regex_search(statuses[r].message(), std::regex(row.oneError));
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
  EXPECT_EQ(oneHas, row.error != nullptr) << statuses[0].toString();
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

constexpr auto kSoon = 300ms; // where waits are given up
constexpr const char *kWaited = "waited 300 ms for";

INSTANTIATE_TEST_SUITE_P(
    Loopback, NetFault,
    testing::Values(
        Row{.name = "Nothing", .transport = "loopback", .options = ""},
        Row{.name = "PeerKilled", .transport = "loopback", .options = "",
            .error = "rank 3 was lost", .disturb = dieInTheThird},
        Row{.name = "RequestFails", .transport = "loopback", .options = "fail=20",
            .error = "failed on the wire \\(loopback option fail=20"},
        Row{.name = "LinkCut", .transport = "loopback", .options = "pause",
            .error = "waited 300 ms for .*; rank [0-3]'s network: [0-9]+ requests to other "
                     "ranks have not completed",
            .deadline = kSoon},
        Row{.name = "RingOfOnePlace", .transport = "loopback", .options = "", .commands = "1"},
        Row{.name = "RingFullForEver", .transport = "loopback", .options = "",
            .error = "the proxy took no command before the deadline|waited 300 ms for", .prepare = pauseRank0,
            .commands = "1", .deadline = kSoon},
        Row{.name = "ProxyStalled", .transport = "loopback", .options = "", .error = kWaited,
            .prepare = pauseRank0, .deadline = kSoon},
        Row{.name = "ProxyStalledForAWhile", .transport = "loopback", .options = "",
            .disturb = stallByTurns},
        Row{.name = "OutOfWindow", .transport = "loopback", .options = "",
            .error = "outside the symmetric window", .disturb = leaveTheWindow}),
    testing::PrintToStringParamName());

#ifdef MK_SOFTRDMA
// Of the first NIC that is opened, whosever it is.
const std::pair<std::string, std::string> kOne{"VICTIMS", "1"};

INSTANTIATE_TEST_SUITE_P(
    Verbs, NetFault,
    testing::Values(
        Row{.name = "Nothing", .transport = "verbs"},
        Row{.name = "PeerKilled", .transport = "verbs", .error = "rank 3 was lost",
            .disturb = dieInTheThird},
        Row{.name = "LinkCut", .transport = "verbs",
            .options = "timeout=12,retries=1,linger=300ms", .knobs = {kOne, {"DEAD_NIC", "20"}},
            .error = "failed on NIC soft_roce0 \\(transport retry counter exceeded, status 12"},
        // The NIC tries for longer than kernels wait: the ranks say what stands still.
        Row{.name = "LinkCutAndImpatient", .transport = "verbs",
            .knobs = {kOne, {"DEAD_NIC", "20"}}, .error = "waited 1.5 s for", .deadline = 1500ms,
            .oneError = "waited 1.5 s for .*; rank [0-3]'s network: rank [0-3] has acknowledged "
                        "nothing for [0-9.]+ m?s \\(NIC soft_roce0, [0-9]+ requests under way"},
        Row{.name = "PortDown", .transport = "verbs", .knobs = {kOne, {"LINK_DOWN", "20"}},
            .error = "NIC soft_roce0 reports: port error"},
        Row{.name = "CompletionQueueError", .transport = "verbs",
            .knobs = {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "event"}},
            .error = "NIC soft_roce0 reports: CQ error: its completion queue of .* run over",
            .disturb = stallByTurns},
        Row{.name = "CompletionsLost", .transport = "verbs",
            .options = "deadline=400ms,linger=300ms",
            .knobs = {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "silent"}},
            .error = "has (acknowledged nothing|taken no signal) for|waited 300 ms for",
            .disturb = stallByTurns, .deadline = kSoon},
        Row{.name = "RegistrationRefused", .transport = "verbs",
            .knobs = {kOne, {"REFUSE_REG", "3"}},
            .error = "NIC soft_roce0 cannot register .* Cannot allocate memory"},
        Row{.name = "OptionsDiffer", .transport = "verbs", .error = "has option qps",
            .prepare = anotherOption},
        Row{.name = "RingOfOnePlace", .transport = "verbs", .commands = "1"},
        Row{.name = "ProxyStalled", .transport = "verbs", .error = kWaited,
            .prepare = pauseRank0, .deadline = kSoon},
        Row{.name = "ProxyStalledForAWhile", .transport = "verbs", .disturb = stallByTurns},
        Row{.name = "OutOfWindow", .transport = "verbs",
            .error = "outside the symmetric window", .disturb = leaveTheWindow}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Efa, NetFault,
    testing::Values(
        Row{.name = "Nothing", .transport = "efa"},
        Row{.name = "PeerKilled", .transport = "efa", .error = "rank 3 was lost",
            .disturb = dieInTheThird},
        Row{.name = "LinkCut", .transport = "efa",
            .knobs = {kOne, {"DEAD_NIC", "20"}, {"TIMEOUT", "100000"}},
            .error = "failed on NIC soft_efa0 \\(response timeout error"},
        Row{.name = "CompletionQueueError", .transport = "efa",
            .knobs = {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "event"}},
            // Or that requests to it failed before it said so (RdmaFault has it alone).
            .error = "NIC soft_efa0 (reports: CQ error|\\(remote invalid RD request)",
            .disturb = stallByTurns},
        Row{.name = "CompletionsLost", .transport = "efa",
            .options = "deadline=400ms,linger=300ms",
            .knobs = {kOne, {"CQ_ENTRIES", "2"}, {"OVERRUN", "silent"}},
            .error = "has (acknowledged nothing|taken no signal) for|waited 300 ms for",
            .disturb = stallByTurns, .deadline = kSoon},
        Row{.name = "RegistrationRefused", .transport = "efa",
            .knobs = {kOne, {"REFUSE_REG", "3"}},
            .error = "NIC soft_efa0 cannot register .* Cannot allocate memory"},
        Row{.name = "RingOfOnePlace", .transport = "efa", .commands = "1"},
        Row{.name = "OutOfWindow", .transport = "efa",
            .error = "outside the symmetric window", .disturb = leaveTheWindow}),
    testing::PrintToStringParamName());
#endif

} // namespace
} // namespace mk::rt::test
