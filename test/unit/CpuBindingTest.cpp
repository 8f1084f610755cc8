//===- CpuBindingTest.cpp - Where the threads of NICs run -----------------===//

#include "Machines.h"

#include <numeric>
#include <thread>

namespace mk::rt::test {
namespace {

using Cpus = std::vector<uint32_t>;

struct Variable {
  explicit Variable(const char *value) { setenv("MK_PROXY_CPUS", value, 1); }
  ~Variable() { unsetenv("MK_PROXY_CPUS"); }
};

Cpus range(uint32_t from, uint32_t to) {
  Cpus cpus(to - from);
  std::iota(cpus.begin(), cpus.end(), from);
  return cpus;
}

/// The machine with as many CPUs as one has.
Machine dgx() {
  Machine m = described("dgx-h100");
  EXPECT_EQ(m.cpus, (std::map<int, Cpus>{{0, {0}}, {1, {1}}}));
  m.cpus = {{0, range(0, 56)}, {1, range(56, 112)}};
  return m;
}

CpuBinding choose(const Machine &machine, std::vector<std::string> nics, std::string_view gpu,
                  const Cpus &allowed) {
  auto binding = chooseCpus(machine, nics, gpu, allowed);
  EXPECT_OK(binding);
  return binding ? *binding : CpuBinding();
}

TEST(CpuBinding, Lists) {
  auto parsed = parseCpus("0-3,8,6-7,7");
  ASSERT_OK(parsed);
  EXPECT_EQ(*parsed, (Cpus{0, 1, 2, 3, 6, 7, 8}));
  EXPECT_EQ(cpusText(*parsed), "0-3,6-8");
  EXPECT_EQ(cpusText({}), "none");
  EXPECT_TRUE(parseCpus("")->empty());
  for (const char *bad : {"a", "3-1", "-1", "1-", "1,", ",1", "1-2-3", "99999999999", "0-70000"})
    EXPECT_ERROR(parseCpus(bad).status(), InvalidArgument, "no list of CPUs");
}

TEST(CpuBinding, NearTheNic) {
  Machine m = dgx();
  Cpus all = range(0, 112);
  CpuBinding near = choose(m, {"mlx5_0"}, m.gpus[7].place.address->toString(), all);
  EXPECT_EQ(near.cpus, range(0, 56)); // the NIC counts, not the GPU
  EXPECT_EQ(near.why, "NUMA node 0, near mlx5_0");
  EXPECT_EQ(choose(m, {"softrdma0", "mlx5_11"}, "", all).cpus, range(56, 112));
}

TEST(CpuBinding, NearTheGpuWithoutNic) {
  Machine m = dgx();
  Cpus all = range(0, 112);
  for (const MachineGpu &gpu : m.gpus) {
    CpuBinding near = choose(m, {}, gpu.place.address->toString(), all);
    EXPECT_EQ(near.cpus, gpu.place.numa == 0 ? range(0, 56) : range(56, 112));
  }
  EXPECT_EQ(choose(m, {}, "0000:ff:00.0", all).why, "neither NIC nor GPU has a known place");
  EXPECT_TRUE(choose(m, {"softrdma0"}, "", all).cpus.empty());
}

TEST(CpuBinding, NeverOutsideOfWhatTheProcessMay) {
  Machine m = dgx();
  EXPECT_EQ(choose(m, {"mlx5_0"}, "", range(50, 60)).cpus, range(50, 56));
  CpuBinding elsewhere = choose(m, {"mlx5_0"}, "", range(60, 70));
  EXPECT_TRUE(elsewhere.cpus.empty());
  EXPECT_EQ(elsewhere.why, "this process may not use the CPUs of NUMA node 0, near mlx5_0");
  EXPECT_TRUE(choose(m, {"mlx5_0"}, "", range(3, 8)).cpus.empty()); // is there already
}

TEST(CpuBinding, AMachineOfOneNode) {
  Machine m = described("aws-p5-flat");
  m.numaNodes = 1;
  for (MachineNic &nic : m.nics)
    nic.place.numa = 0;
  m.cpus = {{0, range(0, 64)}};
  EXPECT_TRUE(choose(m, {m.nics[0].name}, "", range(0, 64)).cpus.empty());
  m.nics[0].place.numa = -1;
  EXPECT_TRUE(choose(m, {m.nics[0].name}, "", range(0, 64)).cpus.empty());
}

TEST(CpuBinding, TheVariable) {
  Machine m = dgx();
  Cpus all = range(0, 112);
  auto status = [&](const Cpus &allowed) {
    return chooseCpus(m, std::vector<std::string>{"mlx5_0"}, "", allowed).status();
  };
  {
    Variable off("off");
    EXPECT_TRUE(choose(m, {"mlx5_0"}, "", all).cpus.empty());
  }
  {
    Variable list("60-61,99");
    EXPECT_EQ(choose(m, {"mlx5_0"}, "", all).cpus, (Cpus{60, 61, 99}));
    EXPECT_EQ(choose(Machine(), {}, "", all).why, "MK_PROXY_CPUS");
    EXPECT_ERROR(status(range(0, 70)), InvalidArgument,
                 "may use the CPUs 0-69, and 60-61,99 are not all among them");
  }
  Variable nonsense("near");
  EXPECT_ERROR(status(all), InvalidArgument, "'near' is no list of CPUs");
}

TEST(CpuBinding, OfAThread) {
  Cpus before = allowedCpus();
  ASSERT_FALSE(before.empty());
  Cpus one = {before.back()};
  std::thread([&] {
    EXPECT_OK(bindThread({}));
    EXPECT_EQ(allowedCpus(), before);
    EXPECT_OK(bindThread(one));
    EXPECT_EQ(allowedCpus(), one);
    EXPECT_ERROR(bindThread(Cpus{65000}), Unavailable, "the CPUs 65000");
    EXPECT_EQ(allowedCpus(), one);
  }).join();
  EXPECT_EQ(allowedCpus(), before); // of this one nothing has changed
}

TEST(CpuBinding, OfThisMachine) {
  auto machine = Machine::discover();
  ASSERT_OK(machine);
  for (uint32_t cpu : allowedCpus()) {
    size_t nodes = 0;
    for (const auto &[node, cpus] : machine->cpus)
      nodes += std::ranges::count(cpus, cpu) > 0;
    EXPECT_EQ(nodes, machine->cpus.empty() ? 0u : 1u) << cpu;
  }
}

} // namespace
} // namespace mk::rt::test
