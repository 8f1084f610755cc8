//===- Sysfs.cpp - GPUs, NICs and ports as the kernel shows them ----------===//

#include "Discover.h"

#include "mkernel/Runtime/CpuBinding.h"
#include "mkernel/Runtime/Env.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mk::rt::topology {
namespace {

namespace fs = std::filesystem;

/// The first line; empty if it cannot be read.
std::string readLine(const fs::path &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "0x10de"; 0 if it cannot be read.
uint32_t readHex(const fs::path &path) {
  return static_cast<uint32_t>(
      std::strtoul(readLine(path).c_str(), nullptr, 16));
}

/// Names in a folder, sorted; none if there is no such folder.
std::vector<std::string> list(const fs::path &folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end;
       it.increment(problem))
    names.push_back(it->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Of a device's folder: .../pci0000:16/0000:16:01.0/0000:17:00.0/....
PciPlace placeOf(const fs::path &device) {
  PciPlace place;
  std::error_code problem;
  fs::path real = fs::canonical(device, problem);
  if (problem)
    return place;
  for (const fs::path &part : real) {
    std::string name = part;
    // A controller may hold a domain of its own: the innermost root counts.
    if (name.starts_with("pci") && name.find(':') != std::string::npos) {
      place.root = name.substr(3);
      place.bridges.clear();
    } else if (auto address = PciAddress::parse(name);
               address && !place.root.empty()) {
      place.bridges.push_back(*address);
    }
  }
  if (place.bridges.empty())
    return place;
  place.address = place.bridges.back();
  place.bridges.pop_back();
  std::string numa = readLine(real / "numa_node");
  place.numa = numa.empty() ? -1 : std::atoi(numa.c_str());
  return place;
}

/// What the link of a device to its slot carries, in Mbit/s; 0: unknown.
uint64_t linkSpeed(const fs::path &device) {
  // "32.0 GT/s PCIe"; "Unknown" for virtual functions.
  double giga = std::atof(readLine(device / "current_link_speed").c_str());
  int lanes = std::atoi(readLine(device / "current_link_width").c_str());
  double coding = giga > 5 ? 128.0 / 130 : 0.8;
  return static_cast<uint64_t>(std::max(0.0, giga * lanes * coding * 1000));
}

} // namespace

uint64_t parseRate(std::string_view text) {
  double giga = std::atof(std::string(text).c_str());
  return giga > 0 && giga < 1e6 ? static_cast<uint64_t>(giga * 1000 + 0.5) : 0;
}

std::string parseState(std::string_view text) {
  constexpr std::string_view kStates[] = {"NOP",   "DOWN",   "INIT",
                                          "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  if (size_t colon = text.find(": "); colon != std::string_view::npos)
    return std::string(text.substr(colon + 2));
  if (auto number = env::parseInt(text);
      number && *number >= 0 && *number < int64_t(std::size(kStates)))
    return std::string(kStates[*number]);
  return std::string(text);
}

void readSysfs(const std::string &sysfs, Machine &machine) {
  fs::path devices = fs::path(sysfs) / "bus/pci/devices";
  for (const std::string &name : list(devices)) {
    fs::path device = devices / name;
    if (!isGpu(readHex(device / "class") >> 8, readHex(device / "vendor")))
      continue;
    if (PciPlace place = placeOf(device); place.address)
      machine.gpus.push_back({std::move(place), ""});
  }
  uint32_t nodes = 0;
  fs::path folder = fs::path(sysfs) / "devices/system/node";
  for (const std::string &name : list(folder)) {
    auto number = env::parseInt(name.starts_with("node") ? name.substr(4) : "");
    if (!number || *number < 0)
      continue;
    ++nodes;
    // Memory without processors has an empty list.
    if (auto cpus = parseCpus(readLine(folder / name / "cpulist")); cpus && !cpus->empty())
      machine.cpus[static_cast<int>(*number)] = std::move(*cpus);
  }
  machine.numaNodes = std::max(nodes, 1u);
}

void addNics(const std::string &sysfs, Machine &machine) {
  fs::path folder = fs::path(sysfs) / "class/infiniband";
  for (const std::string &name : list(folder)) {
    if (std::any_of(machine.nics.begin(), machine.nics.end(),
                    [&](const MachineNic &nic) { return nic.name == name; }))
      continue;
    fs::path device = folder / name / "device";
    MachineNic nic;
    nic.name = name;
    nic.place = placeOf(device);
    nic.vendorId = static_cast<uint16_t>(readHex(device / "vendor"));
    nic.deviceId = static_cast<uint16_t>(readHex(device / "device"));
    nic.kind = kindOf(nic.vendorId, nic.deviceId);
    machine.nics.push_back(std::move(nic));
  }
}

void readPorts(const std::string &sysfs, Machine &machine) {
  for (MachineNic &nic : machine.nics) {
    fs::path device = fs::path(sysfs) / "class/infiniband" / nic.name;
    bool first = true;
    for (const std::string &name : list(device / "ports")) {
      fs::path port = device / "ports" / name;
      std::string state = parseState(readLine(port / "state"));
      if (!first && state != "ACTIVE")
        continue;
      first = false;
      nic.port = static_cast<uint32_t>(std::atoi(name.c_str()));
      nic.state = state;
      nic.link = readLine(port / "link_layer");
      if (uint64_t rate = parseRate(readLine(port / "rate"))) {
        nic.mbits = rate;
        nic.pcieSpeed = false;
      }
      if (state == "ACTIVE")
        break;
    }
    if (nic.mbits == 0) {
      nic.mbits = linkSpeed(device / "device");
      nic.pcieSpeed = nic.mbits != 0;
    }
  }
}

} // namespace mk::rt::topology
