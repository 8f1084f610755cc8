//===- RailsTest.cpp - Which NIC serves which GPU -------------------------===//

#include "Machines.h"

#include <cstdlib>

namespace mk::rt::test {
namespace {

/// "mlx5_0:400 bnxt_re0:200 | irdma0:100": NICs and Gbit/s of each user.
std::string text(const Machine &machine, const Result<NicAssignment> &result) {
  if (!result)
    return result.status().toString();
  std::string out;
  for (const NicAssignment::User &user : result->users) {
    out += out.empty() ? "" : "| ";
    double sum = 0;
    for (const NicShare &share : user.shares) {
      out += machine.nics[share.nic].name + ":" + gbitsText(share.mbits) + " ";
      sum += share.fraction;
    }
    EXPECT_NEAR(sum, user.shares.empty() ? 0 : 1, 1e-9);
  }
  if (!out.empty())
    out.pop_back();
  return out;
}

std::string assigned(const Machine &machine, NicOptions options = {}) {
  return text(machine, assignNics(machine, options));
}
std::string assigned(const Machine &machine, const std::string &nics) {
  return text(machine, assignNics(machine, {.nics = nics}));
}

/// All as near to each other: GPUs, and NICs a, b, ... of the given Gbit/s.
Machine flat(uint32_t gpus, const std::vector<uint32_t> &speeds) {
  Machine m;
  for (uint32_t i = 0; i < gpus; ++i) {
    MachineGpu gpu;
    gpu.place.address = PciAddress{0, uint8_t(i), 0, 0};
    m.gpus.push_back(gpu);
  }
  for (uint32_t speed : speeds) {
    MachineNic nic;
    nic.name = std::string(1, char('a' + m.nics.size()));
    nic.mbits = speed * 1000;
    m.nics.push_back(nic);
  }
  return m;
}

NodeNics nodeOf(const Machine &machine, NicOptions options = {}) {
  auto assignment = assignNics(machine, options);
  EXPECT_OK(assignment);
  return NodeNics::of(machine, *assignment);
}

/// "0>0:0.67 1>1:0.33"
std::string text(const Result<std::vector<Stripe>> &result) {
  if (!result)
    return result.status().toString();
  std::string out;
  for (const Stripe &s : *result) {
    char one[48];
    std::snprintf(one, sizeof(one), "%s%u>%u:%.3g", out.empty() ? "" : " ",
                  s.from, s.to, s.fraction);
    out += one;
  }
  return out;
}

TEST(Nics, DgxHasOneForEachGpu) {
  Machine m = described("dgx-h100");
  EXPECT_EQ(assigned(m), "mlx5_0:400 | mlx5_3:400 | mlx5_4:400 | mlx5_5:400 | "
                         "mlx5_6:400 | mlx5_9:400 | mlx5_10:400 | mlx5_11:400");
  // Those that take part keep their own.
  EXPECT_EQ(assigned(m, NicOptions{.gpus = {6, 1}}),
            "mlx5_10:400 | mlx5_3:400");
  // One whose cable is out: its GPU shares with the others of its socket.
  m.nics[1].state = "DOWN";
  EXPECT_EQ(assigned(m), "mlx5_0:300 | mlx5_0:100 mlx5_4:100 mlx5_5:100 | "
                         "mlx5_4:300 | mlx5_5:300 | "
                         "mlx5_6:400 | mlx5_9:400 | mlx5_10:400 | mlx5_11:400");
}

TEST(Nics, P5HasFourForEachGpu) {
  std::string all;
  for (int g = 0; g < 8; ++g) {
    int bus[] = {0x4f, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0};
    all += g ? " |" : "";
    for (int k = 1; k <= 4; ++k)
      all += str(g || k > 1 ? " " : "", "rdmap", bus[g] + k, "s0:100");
  }
  Machine m = described("aws-p5"), flat = described("aws-p5-flat");
  EXPECT_EQ(assigned(m), all);
  // Where the switches are hidden, four GPUs divide sixteen in order.
  EXPECT_EQ(assigned(flat), all);
  EXPECT_DOUBLE_EQ(assignNics(m)->users[7].shares[3].fraction, 0.25);
  EXPECT_EQ(assignNics(m, {.kind = NicKind::Verbs})->problem,
            "no NIC for verbs with an active port");
}

TEST(Nics, OneIsSharedByAll) {
  Machine m = described("two-sockets-one-nic");
  std::string all = "mlx5_0:50";
  for (int g = 1; g < 8; ++g)
    all += " | mlx5_0:50";
  EXPECT_EQ(assigned(m), all);
  EXPECT_DOUBLE_EQ(assignNics(m)->users[7].shares[0].fraction, 1);
}

TEST(Nics, MixedOnesShareBySpeed) {
  Machine m = described("mixed");
  // irdma0 is as near as mlx5_1, which has no cable.
  EXPECT_EQ(assigned(m), "mlx5_0:400 bnxt_re0:200 | irdma0:100");
  auto result = assignNics(m);
  EXPECT_DOUBLE_EQ(result->users[0].shares[0].fraction, 2.0 / 3);
  m.nics[1].mbits = 0; // counts as the slowest, which has 100
  EXPECT_EQ(assigned(m), "mlx5_0:400 bnxt_re0:100 | irdma0:100");
}

TEST(Nics, None) {
  Machine m = described("none");
  auto result = assignNics(m);
  ASSERT_OK(result);
  EXPECT_EQ(result->users.size(), 2u);
  EXPECT_TRUE(result->users[0].shares.empty());
  EXPECT_EQ(result->problem, "no NIC that does RDMA");
  m = described("dgx-h100");
  for (MachineNic &nic : m.nics)
    nic.state = "DOWN";
  EXPECT_EQ(assignNics(m)->problem,
            "no NIC has an active port: check cables and switch");
}

TEST(Nics, TheLineIsCutIntoEqualPieces) {
  EXPECT_EQ(assigned(flat(4, {400, 400})), "a:200 | a:200 | b:200 | b:200");
  EXPECT_EQ(assigned(flat(2, {400, 400, 400})), "a:400 b:200 | b:200 c:400");
  EXPECT_EQ(assigned(flat(3, {300, 300})), "a:200 | a:100 b:100 | b:200");
  EXPECT_EQ(assigned(flat(2, {400, 100})), "a:250 | a:150 b:100");
  EXPECT_EQ(assigned(flat(1, {400, 0, 100})), "a:400 b:100 c:100");
  EXPECT_EQ(assigned(flat(2, {0, 0})), "a:1 | b:1");
  // A slow one for the machine's own traffic splits no fast one.
  EXPECT_EQ(assigned(flat(4, {25, 400, 400, 400, 400})),
            "a:25 b:400 | c:400 | d:400 | e:400");
  EXPECT_EQ(assigned(flat(4, {400, 400, 400, 400, 25})),
            "a:400 | b:400 | c:400 | d:400 e:25");
}

TEST(Nics, EveryGpuGetsSomeAndNoNicIsGivenTwice) {
  for (uint32_t gpus = 1; gpus <= 9; ++gpus)
    for (uint32_t seed = 0; seed < 200; ++seed) {
      std::vector<uint32_t> speeds;
      for (uint32_t x = seed * 2654435761u + gpus, k = 0; k <= seed % 9; ++k)
        speeds.push_back(
            std::vector{10, 25, 100, 200, 400}[(x >> (3 * k)) % 5]);
      Machine m = flat(gpus, speeds);
      auto result = assignNics(m);
      ASSERT_OK(result);
      std::vector<uint64_t> used(speeds.size());
      uint64_t total = 0, least = UINT64_MAX;
      for (const auto &user : result->users) {
        uint64_t sum = 0;
        for (const NicShare &share : user.shares) {
          used[share.nic] += share.mbits;
          sum += share.mbits;
        }
        total += sum;
        least = std::min(least, sum);
      }
      for (size_t k = 0; k < used.size(); ++k)
        EXPECT_EQ(used[k], speeds[k] * 1000);
      // Both ends of a piece may move by an eighth.
      EXPECT_GE(least, total / gpus * 3 / 4);
    }
}

TEST(Nics, RanksOfAMachineWithoutGpus) {
  Machine m = flat(0, {100, 100});
  EXPECT_EQ(assigned(m, NicOptions{.hostRanks = 4}),
            "a:50 | a:50 | b:50 | b:50");
  EXPECT_EQ(text(m, assignNics(m, {.hostRanks = 2, .nics = "1=a"})),
            "a:33.33 b:100 | a:66.67");
  EXPECT_EQ(assigned(m), "");
}

TEST(Nics, Override) {
  Machine m = described("dgx-h100");
  EXPECT_EQ(
      assigned(m, "0=mlx5_3,mlx5_4; 7 = mlx5_0"),
      "mlx5_3:133.3 mlx5_4:133.3 | mlx5_3:266.7 | mlx5_4:266.7 | mlx5_5:400 | "
      "mlx5_6:400 | mlx5_9:400 | mlx5_10:400 | mlx5_0:400");
  auto result = assignNics(m, {.nics = "0=mlx5_3,mlx5_4;"});
  ASSERT_OK(result);
  EXPECT_TRUE(result->users[0].overridden);
  EXPECT_FALSE(result->users[1].overridden);
  // Only two of all, one at each socket.
  EXPECT_EQ(assigned(m, "mlx5_0,mlx5_6"),
            "mlx5_0:100 | mlx5_0:100 | mlx5_0:100 | mlx5_0:100 | "
            "mlx5_6:100 | mlx5_6:100 | mlx5_6:100 | mlx5_6:100");
  Machine two = flat(2, {400, 100});
  EXPECT_EQ(assigned(two, "0=b,a;a"), "b:100 a:177.8 | a:222.2");
  ::setenv("MK_NICS", "0=mlx5_11", 1);
  EXPECT_EQ(assigned(m, NicOptions{.gpus = {0}}), "mlx5_11:400");
  EXPECT_EQ(assigned(m, NicOptions{.gpus = {0}, .nics = ""}), "mlx5_0:400");
  ::unsetenv("MK_NICS");
}

TEST(Nics, OverrideErrors) {
  Machine m = described("mixed");
  auto refused = [&](const char *nics) {
    return assignNics(m, {.nics = nics}).status();
  };
  EXPECT_ERROR(
      refused("0=mlx5_7"), InvalidArgument,
      "MK_NICS: there is no NIC 'mlx5_7'; did you mean 'mlx5_0'?; this "
      "machine has mlx5_0, bnxt_re0, irdma0, mlx5_1");
  EXPECT_ERROR(refused("2=mlx5_0"), InvalidArgument,
               "MK_NICS: there is no GPU 2: this machine has 2, 0 to 1");
  EXPECT_ERROR(refused("-1=mlx5_0"), InvalidArgument, "there is no GPU -1");
  EXPECT_ERROR(refused("0:mlx5_0"), InvalidArgument, "no NIC '0:mlx5_0'");
  EXPECT_ERROR(refused("zero=mlx5_0"), InvalidArgument,
               "'zero' is not the number of a GPU: write for example "
               "0=mlx5_0,mlx5_1;1=mlx5_2");
  EXPECT_ERROR(refused("0="), InvalidArgument, "'' names no NIC");
  EXPECT_ERROR(refused("0=mlx5_0,"), InvalidArgument, "names no NIC");
  EXPECT_ERROR(refused("0=mlx5_0;0=irdma0"), InvalidArgument,
               "GPU 0 is there twice: give it one list, like 0=mlx5_0,mlx5_1");
  EXPECT_ERROR(refused("0=mlx5_0,mlx5_0"), InvalidArgument,
               "' has 'mlx5_0' twice: name each NIC once");
  EXPECT_ERROR(refused("mlx5_0;irdma0"), InvalidArgument,
               "two lists of NICs without GPU");
  EXPECT_ERROR(refused("1=mlx5_1"), FailedPrecondition,
               "MK_NICS: the port of 'mlx5_1' is DOWN: check cable and switch");
  EXPECT_ERROR(
      assignNics(m, {.kind = NicKind::Efa, .nics = "0=mlx5_0"}).status(),
      FailedPrecondition, "'mlx5_0' is for verbs, and this job runs over EFA");
  EXPECT_ERROR(assignNics(described("none"), {.nics = "0=mlx5_0"}).status(),
               InvalidArgument, "this machine has none");
  EXPECT_ERROR(assignNics(m, {.gpus = {3}}).status(), OutOfRange,
               "there is no GPU 3 to assign NICs to: this machine has 2");
}

TEST(Rails, AreTheSamePlaceOnAllNodes) {
  NodeNics dgx = nodeOf(described("dgx-h100"));
  NodeNics p5 = nodeOf(described("aws-p5"));
  std::vector<NodeNics> nodes = {dgx, dgx, dgx};
  nodes[1].users[2][0].nic = "mlx5_88"; // names may differ
  nodes[1].users[2][0].mbits = 200000;
  auto rails = commonRails(nodes);
  ASSERT_EQ(rails.size(), 8u);
  for (uint32_t r = 0; r < 8; ++r)
    EXPECT_EQ(rails[r].uses, (std::vector<Rail::Use>{{r, 0}}));
  EXPECT_EQ(rails[2].nics,
            (std::vector<std::string>{"mlx5_4", "mlx5_88", "mlx5_4"}));
  EXPECT_EQ(rails[2].mbits, 200000u);
  EXPECT_EQ(rails[3].mbits, 400000u);

  EXPECT_EQ(commonRails(std::vector{p5, p5}).size(), 32u);
  EXPECT_EQ(commonRails(std::vector{p5, p5})[5].uses,
            (std::vector<Rail::Use>{{1, 1}}));
  // The first NIC of each GPU is a place that both kinds of node have.
  EXPECT_EQ(commonRails(std::vector{p5, dgx}).size(), 8u);
  NodeNics one = nodeOf(described("two-sockets-one-nic"));
  ASSERT_EQ(commonRails(std::vector{one, one}).size(), 1u);
  EXPECT_EQ(commonRails(std::vector{one, one})[0].uses.size(), 8u);
  EXPECT_EQ(commonRails(std::vector{one, one})[0].mbits, 400000u);
  EXPECT_TRUE(commonRails(std::vector{dgx, one}).empty());
  EXPECT_TRUE(commonRails({}).empty());
}

TEST(Rails, StripesFollowThem) {
  NodeNics p5 = nodeOf(described("aws-p5")),
           dgx = nodeOf(described("dgx-h100"));
  EXPECT_EQ(text(stripes(p5, 3, p5, 3)), "0>0:0.25 1>1:0.25 2>2:0.25 3>3:0.25");
  EXPECT_EQ(text(stripes(dgx, 3, dgx, 5)), "0>0:1");
  EXPECT_ERROR(
      stripes(dgx, 0, p5, 0).status(), FailedPrecondition,
      "the NIC 'mlx5_0' (verbs, InfiniBand) of one node cannot talk to "
      "'rdmap80s0' (EFA) of another: choose NICs of one network on both "
      "with MK_NICS");
  NodeNics mixed = nodeOf(described("mixed"));
  EXPECT_ERROR(stripes(dgx, 0, mixed, 1).status(), FailedPrecondition,
               "'irdma0' (verbs, Ethernet)");
  EXPECT_ERROR(stripes(dgx, 0, dgx, 8).status(), OutOfRange, "no user");
  EXPECT_ERROR(stripes(dgx, 0, nodeOf(described("none")), 1).status(),
               FailedPrecondition, "user 1 of the receiving node has no NIC");
}

TEST(Rails, StripesShareBySpeed) {
  NodeNics fast = nodeOf(flat(1, {400, 400})), slow = nodeOf(flat(1, {200})),
           mixed = nodeOf(flat(1, {400, 200})),
           three = nodeOf(flat(1, {100, 100, 200}));
  // As many on both sides: by the slower of two.
  EXPECT_EQ(text(stripes(fast, 0, mixed, 0)), "0>0:0.667 1>1:0.333");
  EXPECT_EQ(text(stripes(mixed, 0, mixed, 0)), "0>0:0.667 1>1:0.333");
  EXPECT_EQ(text(stripes(mixed, 0, slow, 0)), "0>0:0.667 1>0:0.333");
  EXPECT_EQ(text(stripes(slow, 0, mixed, 0)), "0>0:0.667 0>1:0.333");
  EXPECT_EQ(text(stripes(fast, 0, three, 0)), "0>0:0.25 0>1:0.25 1>2:0.5");
  EXPECT_EQ(text(stripes(three, 0, mixed, 0)),
            "0>0:0.25 1>0:0.25 2>0:0.167 2>1:0.333");
}

} // namespace
} // namespace mk::rt::test
