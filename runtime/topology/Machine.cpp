//===- Machine.cpp - GPUs and NICs of a machine, and their distances ------===//

#include "Discover.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace mk::rt {

using namespace topology;

std::string PciAddress::toString() const {
  char text[32];
  std::snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", domain, bus, device,
                function);
  return text;
}

Result<PciAddress> PciAddress::parse(std::string_view text) {
  // From the back: function, device, bus, and a domain that may be left out.
  constexpr uint32_t kMost[] = {0x7, 0x1f, 0xff, 0xffffffff};
  uint32_t parts[4] = {};
  std::string_view rest = text;
  bool good = true;
  int count = 0;
  for (; good && count < 4 && !rest.empty(); ++count) {
    size_t at = count == 0 ? rest.rfind('.') : rest.rfind(':');
    bool first = at == std::string_view::npos;
    std::string_view part = first ? rest : rest.substr(at + 1);
    auto [end, ec] = std::from_chars(part.data(), part.data() + part.size(),
                                     parts[count], 16);
    good = ec == std::errc() && end == part.data() + part.size() &&
           parts[count] <= kMost[count] && at != 0;
    rest = first ? std::string_view() : rest.substr(0, at);
  }
  if (!good || count < 3 || !rest.empty())
    return error(StatusCode::InvalidArgument, "'", text,
                 "' is not a PCI address, like 0000:1b:00.0");
  return PciAddress{parts[3], static_cast<uint8_t>(parts[2]),
                    static_cast<uint8_t>(parts[1]),
                    static_cast<uint8_t>(parts[0])};
}

std::string_view toString(NicKind kind) {
  return kind == NicKind::Efa ? "EFA" : "verbs";
}

std::string_view toString(Distance distance) {
  constexpr std::string_view kNames[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
  return kNames[static_cast<size_t>(distance)];
}

std::string gbitsText(uint64_t mbits) {
  if (mbits == 0)
    return "?";
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", mbits / 1000.0);
  return text;
}

std::string MachineNic::vendor() const {
  switch (vendorId) {
  case 0:
    return "";
  case 0x15b3: // Mellanox
    return "NVIDIA";
  case 0x1d0f:
    return "AWS";
  case 0x14e4:
    return "Broadcom";
  case 0x8086:
    return "Intel";
  case 0x1077:
    return "Marvell";
  case 0x1dd8:
    return "AMD";
  }
  char text[16];
  std::snprintf(text, sizeof(text), "0x%04x", vendorId);
  return text;
}

bool topology::isGpu(uint32_t pciClass, uint32_t vendor) {
  // A VGA or 3D controller; NVSwitches and audio functions are neither.
  return vendor == 0x10de && (pciClass == 0x0300 || pciClass == 0x0302);
}

NicKind topology::kindOf(uint32_t vendor, uint32_t device) {
  return vendor == 0x1d0f && (device & 0xfff0) == 0xefa0 ? NicKind::Efa
                                                         : NicKind::Verbs;
}

Distance Machine::distance(const PciPlace &a, const PciPlace &b) const {
  if (a.address && b.address && a.root == b.root) {
    size_t common = 0;
    while (common < a.bridges.size() && common < b.bridges.size() &&
           a.bridges[common] == b.bridges[common])
      ++common;
    if (common == 0)
      return Distance::Phb;
    // The ports of one switch are bridges below its upstream port.
    bool one = a.bridges.size() - common <= 1 && b.bridges.size() - common <= 1;
    return one ? Distance::Pix : Distance::Pxb;
  }
  bool sameNode = numaNodes <= 1 || (a.numa >= 0 && a.numa == b.numa);
  return sameNode ? Distance::Node : Distance::Sys;
}

Result<uint32_t> Machine::gpuAt(std::string_view busId) const {
  MK_ASSIGN(PciAddress wanted, PciAddress::parse(busId));
  std::string present;
  for (uint32_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].place.address == wanted)
      return i;
    present += (i ? ", " : "") + gpus[i].place.address->toString();
  }
  return error(StatusCode::NotFound, "no GPU has the PCI address ", wanted.toString(),
               "; this machine has ", present.empty() ? "no GPU" : present);
}

namespace {
/// mlx5_9 before mlx5_10.
bool naturalLess(std::string_view a, std::string_view b) {
  auto digits = [](std::string_view s) {
    size_t n = s.size();
    while (n > 0 && s[n - 1] >= '0' && s[n - 1] <= '9')
      --n;
    return n;
  };
  size_t x = digits(a), y = digits(b);
  if (a.substr(0, x) != b.substr(0, y) || a.size() == b.size())
    return a < b;
  return a.size() < b.size();
}
} // namespace

Result<Machine> Machine::discover(MachineOptions options) {
  Machine machine;
  if (options.xml.empty() && options.sysfs.empty())
    options.xml = env::get("MK_TOPOLOGY").value_or("");
  bool described = !options.xml.empty();
  bool elsewhere = !options.sysfs.empty() && options.sysfs != "/sys";
  std::string sysfs = options.sysfs.empty() ? "/sys" : options.sysfs;
  Status byHwloc;
  if (described || !elsewhere)
    byHwloc = readHwloc(options.xml, machine);
  if (!byHwloc.isOk() && described)
    return byHwloc;
  if (!byHwloc.isOk() || (elsewhere && !described)) {
    machine = Machine();
    readSysfs(sysfs, machine);
    machine.source = "sysfs";
    machine.note = byHwloc.message();
    if (!machine.note.empty())
      log::debug("topology from sysfs: ", machine.note);
  }
  // The ports of a described machine are not those of this one.
  if (!described)
    addNics(sysfs, machine);
  if (!described || elsewhere)
    readPorts(sysfs, machine);

  std::sort(machine.gpus.begin(), machine.gpus.end(),
            [](const MachineGpu &a, const MachineGpu &b) {
              return a.place.address < b.place.address;
            });
  std::sort(machine.nics.begin(), machine.nics.end(),
            [](const MachineNic &a, const MachineNic &b) {
              bool x = !a.place.address, y = !b.place.address;
              if (x != y)
                return y;
              if (a.place.address != b.place.address)
                return a.place.address < b.place.address;
              return naturalLess(a.name, b.name);
            });
  return machine;
}

} // namespace mk::rt
