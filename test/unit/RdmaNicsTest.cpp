//===- RdmaNicsTest.cpp - Which NICs a rank uses --------------------------===//

#include "Machines.h"

#include "transport/rdma/Nic.h"

namespace mk::rt::rdma {
namespace {

using namespace mk::rt::test;

std::string gpu(const Machine &machine, uint32_t index) {
  return machine.gpus[index].place.address->toString();
}

/// "mlx5_0:400 mlx5_3:200": NICs and Gbit/s of a rank.
std::string nicsOf(const Machine &machine, NicKind kind, const NicUser &user) {
  std::string problem, out;
  auto chosen = assignedNics(machine, kind, user, problem);
  EXPECT_OK(chosen);
  if (!chosen)
    return chosen.status().toString();
  for (const ChosenNic &nic : *chosen)
    out += str(out.empty() ? "" : " ", nic.name, ":", gbitsText(nic.mbits));
  return out.empty() ? problem : out;
}

TEST(RdmaNics, OfEachGpuOfADgx) {
  Machine m = described("dgx-h100");
  const char *nearest[] = {"mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5",
                           "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11"};
  // Local ranks need not be in the order of the GPUs.
  NicUser user;
  user.gpus.clear();
  for (uint32_t i = 0; i < 8; ++i)
    user.gpus.push_back(gpu(m, (i * 3) % 8));
  for (uint32_t i = 0; i < 8; ++i) {
    user.localRank = i;
    EXPECT_EQ(nicsOf(m, NicKind::Verbs, user), str(nearest[(i * 3) % 8], ":400")) << i;
  }
}

TEST(RdmaNics, AJobOnSomeGpusUsesTheirNics) {
  Machine m = described("dgx-h100");
  EXPECT_EQ(nicsOf(m, NicKind::Verbs, {0, {gpu(m, 7), gpu(m, 2)}}), "mlx5_11:400");
  EXPECT_EQ(nicsOf(m, NicKind::Verbs, {1, {gpu(m, 7), gpu(m, 2)}}), "mlx5_4:400");
}

TEST(RdmaNics, FourOfEachGpuOfAP5) {
  Machine m = described("aws-p5");
  NicUser user;
  user.gpus.clear();
  for (uint32_t i = 0; i < 8; ++i)
    user.gpus.push_back(gpu(m, i));
  for (uint32_t i = 0; i < 8; ++i) {
    user.localRank = i;
    std::string expected;
    for (uint32_t n = 0; n < m.nics.size(); ++n)
      if (m.distance(i, n) == Distance::Pix || m.distance(i, n) == Distance::Pxb)
        expected += str(expected.empty() ? "" : " ", m.nics[n].name, ":100");
    EXPECT_EQ(std::ranges::count(expected, ':'), 4);
    EXPECT_EQ(nicsOf(m, NicKind::Efa, user), expected) << i;
  }
  EXPECT_EQ(nicsOf(m, NicKind::Verbs, user), "no NIC for verbs with an active port");
}

TEST(RdmaNics, RanksOfOneGpuDivideItsNics) {
  Machine m = described("aws-p5");
  EXPECT_EQ(nicsOf(m, NicKind::Efa, {0, {gpu(m, 0), gpu(m, 0)}}), "rdmap80s0:100 rdmap81s0:100");
  EXPECT_EQ(nicsOf(m, NicKind::Efa, {1, {gpu(m, 0), gpu(m, 0)}}), "rdmap82s0:100 rdmap83s0:100");
}

TEST(RdmaNics, ByLocalRankWithoutGpus) {
  Machine m = described("dgx-h100");
  EXPECT_EQ(nicsOf(m, NicKind::Verbs, {1, {"", ""}}), "mlx5_6:400 mlx5_9:400 mlx5_10:400 mlx5_11:400");
  // One whose GPU the topology does not know, and all count by local rank: on all ranks alike.
  for (const std::string &other : {std::string(), std::string("0000:ff:00.0"), std::string("?")}) {
    EXPECT_EQ(nicsOf(m, NicKind::Verbs, {0, {gpu(m, 7), other}}),
              "mlx5_0:400 mlx5_3:400 mlx5_4:400 mlx5_5:400");
    EXPECT_EQ(nicsOf(m, NicKind::Verbs, {1, {gpu(m, 7), other}}),
              "mlx5_6:400 mlx5_9:400 mlx5_10:400 mlx5_11:400");
  }
  EXPECT_EQ(nicsOf(described("none"), NicKind::Verbs, {0, {""}}), "no NIC that does RDMA");
}

} // namespace
} // namespace mk::rt::rdma
