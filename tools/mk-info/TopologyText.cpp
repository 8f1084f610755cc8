//===- TopologyText.cpp - A machine's topology as tables ------------------===//

#include "Topology.h"

#include "mkernel/Runtime/CpuBinding.h"

#include <algorithm>
#include <cstdio>

using namespace mk;
using namespace mk::info;

namespace {

/// Columns as wide as their widest cell; two blanks between them.
class Table {
public:
  explicit Table(std::vector<std::string> head) { rows.push_back(head); }
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  std::string text() const {
    std::vector<size_t> widths;
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i) {
        widths.resize(std::max(widths.size(), i + 1));
        widths[i] = std::max(widths[i], row[i].size());
      }
    std::string out;
    for (const auto &row : rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        out += row[i];
        if (i + 1 < row.size())
          out += std::string(widths[i] - row[i].size() + 2, ' ');
      }
      out += "\n";
    }
    return out + "\n";
  }

private:
  std::vector<std::vector<std::string>> rows;
};

std::string addressText(const rt::PciPlace &place) {
  return place.address ? place.address->toString() : "none";
}

std::string numaText(const rt::PciPlace &place) {
  return place.numa < 0 ? "?" : std::to_string(place.numa);
}

std::string orUnknown(const std::string &text) {
  return text.empty() ? "?" : text;
}

std::string devices(const rt::Machine &machine) {
  std::string out;
  if (machine.gpus.empty()) {
    out += "GPUs: none\n\n";
  } else {
    Table gpus({"GPU", "address", "NUMA", "name"});
    for (size_t i = 0; i < machine.gpus.size(); ++i) {
      const rt::MachineGpu &gpu = machine.gpus[i];
      gpus.add({std::to_string(i), addressText(gpu.place), numaText(gpu.place),
                orUnknown(gpu.name)});
    }
    out += gpus.text();
  }
  if (machine.nics.empty())
    return out + "NICs: none that do RDMA\n\n";
  Table nics({"NIC", "name", "address", "NUMA", "vendor", "kind", "link",
              "Gbit/s", "port"});
  bool pcie = false;
  for (size_t i = 0; i < machine.nics.size(); ++i) {
    const rt::MachineNic &nic = machine.nics[i];
    pcie |= nic.pcieSpeed;
    nics.add({std::to_string(i), nic.name, addressText(nic.place),
              numaText(nic.place), orUnknown(nic.vendor()),
              std::string(rt::toString(nic.kind)), orUnknown(nic.link),
              rt::gbitsText(nic.mbits) + (nic.pcieSpeed ? "*" : ""),
              orUnknown(nic.state)});
  }
  out += nics.text();
  if (pcie)
    out += "* of the PCIe link: the speed of the port is not known\n\n";
  return out;
}

std::string distances(const rt::Machine &machine) {
  if (machine.gpus.empty() || machine.nics.empty())
    return "";
  std::vector<std::string> head = {"distance"};
  for (size_t n = 0; n < machine.nics.size(); ++n)
    head.push_back(rt::str("NIC", n));
  Table table(head);
  for (uint32_t g = 0; g < machine.gpus.size(); ++g) {
    std::vector<std::string> row = {rt::str("GPU ", g)};
    for (uint32_t n = 0; n < machine.nics.size(); ++n)
      row.emplace_back(rt::toString(machine.distance(g, n)));
    table.add(std::move(row));
  }
  std::string out = table.text();
  out.pop_back();
  return out +
         "PIX: at most one PCIe switch, PXB: several, PHB: a host bridge, "
         "NODE: within a NUMA node, SYS: between them\n\n";
}

std::string shares(const rt::Machine &machine,
                   const rt::NicAssignment &assignment) {
  Table table({"GPU", "NICs"});
  for (const auto &user : assignment.users) {
    std::string text;
    for (const rt::NicShare &share : user.shares)
      text += rt::str(text.empty() ? "" : ", ", machine.nics[share.nic].name,
                      " ", percentText(share.fraction), " (",
                      rt::toString(machine.distance(user.index, share.nic)),
                      ", ", speedText(machine, share), ")");
    table.add({std::to_string(user.index),
               (text.empty() ? "none" : text) +
                   (user.overridden ? "  by MK_NICS" : "")});
  }
  return table.text();
}

std::string rails(const rt::Machine &machine,
                  const rt::NicAssignment &assignment) {
  Table table({"rail", "NIC", "Gbit/s", "GPUs"});
  std::vector node = {rt::NodeNics::of(machine, assignment)};
  std::vector<rt::Rail> all = rt::commonRails(node);
  for (size_t r = 0; r < all.size(); ++r) {
    std::string users;
    for (const rt::Rail::Use &use : all[r].uses)
      users +=
          rt::str(users.empty() ? "" : " ", assignment.users[use.user].index);
    auto nic = std::find_if(
        machine.nics.begin(), machine.nics.end(),
        [&](const rt::MachineNic &n) { return n.name == all[r].nics[0]; });
    table.add({std::to_string(r), nic->name, rt::gbitsText(nic->mbits), users});
  }
  return table.text();
}

} // namespace

std::string info::percentText(double fraction) {
  char text[32];
  std::snprintf(text, sizeof(text), fraction < 0.01 ? "%.1f %%" : "%.0f %%",
                fraction * 100);
  return text;
}

std::string info::speedText(const rt::Machine &machine,
                            const rt::NicShare &share) {
  bool known = machine.nics[share.nic].mbits != 0;
  return rt::gbitsText(known ? share.mbits : 0) + " Gbit/s";
}

std::string info::topologyText(const rt::Machine &machine,
                               const rt::NicAssignment &assignment) {
  std::string out =
      rt::str("seen by ", machine.source, ", ", machine.numaNodes,
              machine.numaNodes == 1 ? " NUMA node" : " NUMA nodes", "\n");
  // Where the threads run that drive the network.
  if (machine.numaNodes > 1)
    for (const auto &[node, cpus] : machine.cpus)
      out += rt::str("NUMA node ", node, ": CPUs ", rt::cpusText(cpus), "\n");
  if (!machine.note.empty())
    out += "without hwloc: " + machine.note + "\n";
  out += "\n" + devices(machine) + distances(machine);
  if (!assignment.problem.empty())
    out += rt::str("other nodes cannot be reached: ", assignment.problem,
                   ". Nodes can be emulated: mk-run --nodes\n");
  else if (!assignment.users.empty())
    out += shares(machine, assignment) + rails(machine, assignment);
  while (out.ends_with("\n\n"))
    out.pop_back();
  return out;
}
