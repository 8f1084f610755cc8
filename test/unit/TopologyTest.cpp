//===- TopologyTest.cpp - GPUs, NICs and distances ------------------------===//

#include "Machines.h"

#include <cstdlib>

namespace mk::rt::test {
namespace {

struct SetVariable {
  SetVariable(const char *name, const char *value) : name(name) {
    ::setenv(name, value, 1);
  }
  ~SetVariable() { ::unsetenv(name); }
  const char *name;
};

TEST(PciAddress, IsReadInAllForms) {
  for (const char *text : {"0000:1b:00.0", "00000000:1B:00.0", "1b:00.0"})
    EXPECT_EQ(PciAddress::parse(text)->toString(), "0000:1b:00.0") << text;
  EXPECT_EQ(PciAddress::parse("10000:e1:1f.7")->toString(), "10000:e1:1f.7");
  for (const char *text :
       {"", "1b", "1b:00", "0000:1b:00", "0000:1b:20.0", "0000:1b:00.8",
        "x:1b:00.0", "0:0:1b:00.0", "0000:1b:00.0 ", ":1b:00.0"})
    EXPECT_ERROR(PciAddress::parse(text).status(), InvalidArgument,
                 str("'", text, "' is not a PCI address, like 0000:1b:00.0"));
}

TEST(Topology, Dgx) {
  Machine m = described("dgx-h100");
  ASSERT_EQ(m.gpus.size(), 8u);
  ASSERT_EQ(m.nics.size(), 8u);
  EXPECT_EQ(m.numaNodes, 2u);
  EXPECT_EQ(m.gpus[0].place.address->toString(), "0000:1b:00.0");
  EXPECT_EQ(m.gpus[0].name, "GH100 [H100 SXM5 80GB]");
  EXPECT_EQ(m.nics[6].name, "mlx5_10"); // by address, not by name
  EXPECT_EQ(m.nics[0].vendor(), "NVIDIA");
  EXPECT_EQ(m.nics[0].state, "ACTIVE");
  EXPECT_EQ(m.nics[0].link, "InfiniBand");
  EXPECT_EQ(m.nics[0].mbits, 400000u);
  EXPECT_FALSE(m.nics[0].pcieSpeed);
  for (uint32_t g = 0; g < 8; ++g)
    for (uint32_t n = 0; n < 8; ++n)
      EXPECT_EQ(m.distance(g, n), g == n           ? Distance::Pix
                                  : g / 4 == n / 4 ? Distance::Node
                                                   : Distance::Sys);
  EXPECT_EQ(*m.gpuAt("00000000:43:00.0"), 1u);
  EXPECT_ERROR(m.gpuAt("44:00.0").status(), NotFound,
               "no GPU has the PCI address 0000:44:00.0; this machine has "
               "0000:1b:00.0, 0000:43:00.0");
}

TEST(Topology, P5) {
  Machine m = described("aws-p5"), flat = described("aws-p5-flat");
  ASSERT_EQ(m.gpus.size(), 8u);
  ASSERT_EQ(m.nics.size(), 32u);
  EXPECT_EQ(m.nics[0].kind, NicKind::Efa);
  EXPECT_EQ(m.nics[0].vendor(), "AWS");
  EXPECT_EQ(m.nics[31].mbits, 100000u);
  for (uint32_t g = 0; g < 8; ++g)
    for (uint32_t n = 0; n < 32; ++n) {
      EXPECT_EQ(m.distance(g, n), g == n / 4        ? Distance::Pix
                                  : g / 4 == n / 16 ? Distance::Node
                                                    : Distance::Sys);
      EXPECT_EQ(flat.distance(g, n),
                g / 4 == n / 16 ? Distance::Phb : Distance::Sys);
    }
}

TEST(Topology, OneNicMixedAndNone) {
  Machine one = described("two-sockets-one-nic");
  ASSERT_EQ(one.gpus.size(), 8u);
  ASSERT_EQ(one.nics.size(), 1u);
  EXPECT_EQ(one.distance(0, 0), Distance::Node);
  EXPECT_EQ(one.distance(7, 0), Distance::Sys);

  Machine mixed = described("mixed");
  ASSERT_EQ(mixed.nics.size(), 4u);
  EXPECT_EQ(mixed.nics[1].vendor(), "Broadcom");
  EXPECT_EQ(mixed.nics[2].vendor(), "Intel");
  EXPECT_EQ(mixed.nics[3].state, "DOWN");
  EXPECT_FALSE(mixed.nics[3].usable());
  EXPECT_EQ(mixed.distance(1, 2), Distance::Phb);

  Machine none = described("none");
  EXPECT_EQ(none.gpus.size(), 2u);
  EXPECT_TRUE(none.nics.empty());
  EXPECT_EQ(none.numaNodes, 1u);
}

TEST(Topology, SwitchBehindSwitchIsPxb) {
  Machine m;
  m.numaNodes = 2;
  auto place = [](std::vector<const char *> path, int numa) {
    PciPlace p;
    for (const char *text : path)
      p.bridges.push_back(*PciAddress::parse(text));
    p.address = p.bridges.back();
    p.bridges.pop_back();
    p.root = "0000:00";
    p.numa = numa;
    return p;
  };
  PciPlace a = place({"00:01.0", "01:00.0", "02:00.0", "03:00.0"}, 0);
  PciPlace b = place(
      {"00:01.0", "01:00.0", "02:01.0", "04:00.0", "05:00.0", "06:00.0"}, 0);
  PciPlace c = place({"00:02.0", "07:00.0"}, 0);
  PciPlace unknown = place({"00:01.0", "08:00.0"}, -1);
  unknown.root = "0000:80";
  EXPECT_EQ(m.distance(a, a), Distance::Pix);
  EXPECT_EQ(m.distance(a, b), Distance::Pxb);
  EXPECT_EQ(m.distance(b, a), Distance::Pxb);
  EXPECT_EQ(m.distance(a, c), Distance::Phb);
  // What is unknown is near only where nothing else is farther.
  EXPECT_EQ(m.distance(a, unknown), Distance::Sys);
  m.numaNodes = 1;
  EXPECT_EQ(m.distance(a, unknown), Distance::Node);
}

TEST(Topology, SysfsSaysTheSame) {
  for (const char *name : {"dgx-h100", "aws-p5", "aws-p5-flat",
                           "two-sockets-one-nic", "mixed", "none"}) {
    Machine m = described(name);
    for (MachineGpu &gpu : m.gpus)
      gpu.name.clear(); // which sysfs does not know
    SysfsTree tree(m);
    auto seen = Machine::discover({.sysfs = tree.path()});
    ASSERT_OK(seen);
    EXPECT_EQ(seen->source, "sysfs");
    EXPECT_EQ(seen->gpus, m.gpus) << name;
    EXPECT_EQ(seen->nics, m.nics) << name;
    EXPECT_EQ(seen->numaNodes, m.numaNodes) << name;
    EXPECT_EQ(seen->cpus, m.cpus) << name;
  }
}

TEST(Topology, SysfsWithOddities) {
  Machine m = described("mixed");
  SysfsTree tree(m);
  fs::path nics = fs::path(tree.path()) / "class/infiniband";
  // The second port of a card is the one with a cable.
  SysfsTree::write(nics / "mlx5_0/ports/1/state", "1: DOWN");
  fs::create_directories(nics / "mlx5_0/ports/2");
  SysfsTree::write(nics / "mlx5_0/ports/2/state", "4: ACTIVE");
  SysfsTree::write(nics / "mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)");
  // Of another only the slot is known: 16 lanes of 32 GT/s.
  fs::remove_all(nics / "bnxt_re0/ports");
  SysfsTree::write(nics / "bnxt_re0/device/current_link_speed",
                   "32.0 GT/s PCIe");
  SysfsTree::write(nics / "bnxt_re0/device/current_link_width", "16");
  // Software has no place on the bus.
  fs::create_directories(nics / "rxe10/ports/1");
  fs::create_directories(nics / "rxe9/ports/1");
  auto seen = Machine::discover({.sysfs = tree.path()});
  ASSERT_OK(seen);
  ASSERT_EQ(seen->nics.size(), 6u);
  EXPECT_EQ(seen->nics[0].port, 2u);
  EXPECT_EQ(seen->nics[0].mbits, 2500u);
  EXPECT_EQ(seen->nics[1].mbits, 504123u);
  EXPECT_TRUE(seen->nics[1].pcieSpeed);
  EXPECT_EQ(seen->nics[4].name, "rxe9");
  EXPECT_EQ(seen->nics[5].name, "rxe10");
  EXPECT_FALSE(seen->nics[4].place.address);
  EXPECT_EQ(seen->distance(0, 4), Distance::Sys);

  // Beside an XML, a folder says what ports are like now.
  auto both =
      Machine::discover({.xml = machineFile("mixed"), .sysfs = tree.path()});
  ASSERT_OK(both);
  ASSERT_EQ(both->nics.size(), 4u);
  EXPECT_EQ(both->nics[0].mbits, 2500u);
  EXPECT_EQ(both->gpus.size(), 2u);
}

TEST(Topology, ThisMachineInBothWays) {
  auto byHwloc = Machine::discover();
  ASSERT_OK(byHwloc);
  EXPECT_EQ(byHwloc->source, "hwloc");
  SetVariable off("MK_HWLOC_LIBRARY", "off");
  auto bySysfs = Machine::discover();
  ASSERT_OK(bySysfs);
  EXPECT_EQ(bySysfs->source, "sysfs");
  EXPECT_EQ(bySysfs->note, "MK_HWLOC_LIBRARY is off");
  EXPECT_EQ(bySysfs->gpus.size(), byHwloc->gpus.size());
  EXPECT_EQ(bySysfs->nics.size(), byHwloc->nics.size());
  for (size_t i = 0; i < byHwloc->gpus.size(); ++i)
    EXPECT_EQ(bySysfs->gpus[i].place, byHwloc->gpus[i].place);
  for (size_t i = 0; i < byHwloc->nics.size(); ++i)
    EXPECT_EQ(bySysfs->nics[i].place, byHwloc->nics[i].place);
}

TEST(Topology, DescribedByTheEnvironment) {
  std::string file = machineFile("none");
  SetVariable topology("MK_TOPOLOGY", file.c_str());
  auto machine = Machine::discover();
  ASSERT_OK(machine);
  EXPECT_EQ(machine->gpus.size(), 2u);
  EXPECT_EQ(machine->source, "hwloc, none.xml");
}

TEST(Topology, SaysWhatIsMissing) {
  auto read = [](const std::string &xml) {
    return Machine::discover({.xml = xml}).status();
  };
  EXPECT_ERROR(read("/nowhere.xml"), InvalidArgument,
               "'/nowhere.xml' cannot be read as a machine in hwloc's XML");
  EXPECT_ERROR(read(__FILE__), InvalidArgument,
               "is not a machine in hwloc's XML");
  SetVariable library("MK_HWLOC_LIBRARY", "libhwloc-nowhere.so");
  EXPECT_ERROR(read(machineFile("none")), Unavailable,
               "none.xml' cannot be read: hwloc is not there");
  EXPECT_ERROR(read(machineFile("none")), Unavailable,
               "apt-get install libhwloc15, or name it in MK_HWLOC_LIBRARY");
}

} // namespace
} // namespace mk::rt::test
