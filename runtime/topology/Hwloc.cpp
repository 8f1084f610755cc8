//===- Hwloc.cpp - A machine through hwloc, which is loaded when asked ----===//

#include "Discover.h"

#include "mkernel/Runtime/Env.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>

#if __has_include(<hwloc.h>)
#include <hwloc.h>
#endif

namespace mk::rt::topology {

#ifndef HWLOC_API_VERSION

Status readHwloc(const std::string &xml, Machine &) {
  return error(StatusCode::Unavailable,
               xml.empty() ? "" : "'" + xml + "' cannot be read: ",
               "this mKernel was built without hwloc: install libhwloc-dev and "
               "build again");
}

#else

namespace {

// Caches are not needed, nor its own bindings: only what is named here is.
#define MK_HWLOC_FUNCTIONS(X)                                                  \
  X(get_api_version)                                                           \
  X(topology_init)                                                             \
  X(topology_destroy)                                                          \
  X(topology_set_flags)                                                        \
  X(topology_set_xml)                                                          \
  X(topology_set_components)                                                   \
  X(topology_set_io_types_filter)                                              \
  X(topology_load)                                                             \
  X(get_obj_by_depth)                                                          \
  X(bitmap_first)                                                              \
  X(bitmap_next)

struct Library {
#define MK_DECLARE(name) decltype(&::hwloc_##name) name = nullptr;
  MK_HWLOC_FUNCTIONS(MK_DECLARE)
#undef MK_DECLARE

  Status load() {
    std::string path = env::get("MK_HWLOC_LIBRARY").value_or("libhwloc.so.15");
    if (path == "off")
      return error(StatusCode::Unavailable, "MK_HWLOC_LIBRARY is off");
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return error(StatusCode::Unavailable, "hwloc is not there (", dlerror(),
                   "): apt-get install libhwloc15, or name it in "
                   "MK_HWLOC_LIBRARY");
    const char *missing = nullptr;
#define MK_FIND(function)                                                      \
  function =                                                                   \
      reinterpret_cast<decltype(function)>(dlsym(handle, "hwloc_" #function)); \
  if (!function)                                                               \
    missing = "hwloc_" #function;
    MK_HWLOC_FUNCTIONS(MK_FIND)
#undef MK_FIND
    if (missing)
      return error(StatusCode::Unavailable, "'", path, "' lacks ", missing,
                   ": hwloc 2.1 or newer is needed");
    if (get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
      return error(StatusCode::Unavailable, "'", path, "' is hwloc ",
                   get_api_version() >> 16, ": hwloc ", HWLOC_API_VERSION >> 16,
                   " is needed");
    return Status::success();
  }
};

const char *infoOf(hwloc_obj_t object, const std::string &name) {
  for (unsigned i = 0; i < object->infos_count; ++i)
    if (name == object->infos[i].name)
      return object->infos[i].value;
  return nullptr;
}

/// Walks the tree and keeps the bridges above it.
class Reader {
public:
  Reader(const Library &library, Machine &machine)
      : library(library), machine(machine) {}

  void read(hwloc_obj_t root) {
    machine.numaNodes = 0;
    visit(root);
    machine.numaNodes = std::max(machine.numaNodes, 1u);
  }

private:
  void visit(hwloc_obj_t object) {
    PciPlace outer = above;
    hwloc_obj_t outerPci = pci;
    switch (object->type) {
    case HWLOC_OBJ_NUMANODE:
      ++machine.numaNodes;
      addCpus(object);
      break;
    case HWLOC_OBJ_BRIDGE:
      enter(object);
      break;
    case HWLOC_OBJ_PCI_DEVICE:
      pci = object;
      addGpu(object);
      break;
    case HWLOC_OBJ_OS_DEVICE:
      if (object->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)
        addNic(object);
      break;
    default:
      break;
    }
    for (hwloc_obj_t list : {object->memory_first_child, object->first_child,
                             object->io_first_child})
      for (hwloc_obj_t child = list; child; child = child->next_sibling)
        visit(child);
    above = std::move(outer);
    pci = outerPci;
  }

  void enter(hwloc_obj_t bridge) {
    const auto &attributes = bridge->attr->bridge;
    if (attributes.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      above.bridges.push_back(addressOf(attributes.upstream.pci));
      return;
    }
    std::string bus = PciAddress{attributes.downstream.pci.domain,
                                 attributes.downstream.pci.secondary_bus, 0, 0}
                          .toString();
    above.root = bus.substr(0, bus.rfind(':')); // "0000:16"
    above.bridges.clear();
  }

  void addCpus(hwloc_obj_t node) {
    if (!node->cpuset)
      return;
    std::vector<uint32_t> cpus;
    for (int cpu = library.bitmap_first(node->cpuset); cpu >= 0;
         cpu = library.bitmap_next(node->cpuset, cpu))
      cpus.push_back(static_cast<uint32_t>(cpu));
    if (!cpus.empty())
      machine.cpus[static_cast<int>(node->os_index)] = std::move(cpus);
  }

  static PciAddress addressOf(const hwloc_obj_attr_u::hwloc_pcidev_attr_s &a) {
    return {a.domain, a.bus, a.dev, a.func};
  }

  /// Of the PCI device that holds `object`, or that it is.
  PciPlace place(hwloc_obj_t object) const {
    PciPlace place;
    if (pci) {
      place = above;
      place.address = addressOf(pci->attr->pcidev);
    }
    while (object && !object->nodeset) // I/O objects have none
      object = object->parent;
    if (object) {
      int first = library.bitmap_first(object->nodeset);
      if (library.bitmap_next(object->nodeset, first) < 0)
        place.numa = first;
    }
    return place;
  }

  void addGpu(hwloc_obj_t object) {
    const auto &attributes = object->attr->pcidev;
    if (!isGpu(attributes.class_id, attributes.vendor_id))
      return;
    const char *name = infoOf(object, "PCIDevice");
    machine.gpus.push_back({place(object), name ? name : ""});
  }

  void addNic(hwloc_obj_t object) {
    MachineNic nic;
    nic.name = object->name ? object->name : "";
    nic.place = place(object);
    if (pci) {
      nic.vendorId = pci->attr->pcidev.vendor_id;
      nic.deviceId = pci->attr->pcidev.device_id;
      nic.mbits = static_cast<uint64_t>(pci->attr->pcidev.linkspeed * 8000);
      nic.pcieSpeed = nic.mbits != 0;
    }
    nic.kind = kindOf(nic.vendorId, nic.deviceId);
    readPorts(object, nic);
    machine.nics.push_back(std::move(nic));
  }

  /// hwloc knows states only. Descriptions may say rates and link layers too.
  static void readPorts(hwloc_obj_t object, MachineNic &nic) {
    for (uint32_t port = 1; port <= 16; ++port) {
      auto info = [&](const char *what) {
        const char *value = infoOf(object, str("Port", port, what));
        return std::string(value ? value : "");
      };
      std::string state = parseState(info("State"));
      if (state.empty() || (port > 1 && state != "ACTIVE"))
        continue;
      nic.port = port;
      nic.state = state;
      nic.link = info("LinkLayer");
      if (uint64_t rate = parseRate(info("Rate"))) {
        nic.mbits = rate;
        nic.pcieSpeed = false;
      }
      if (state == "ACTIVE")
        return;
    }
  }

  const Library &library;
  Machine &machine;
  PciPlace above;            // root and bridges
  hwloc_obj_t pci = nullptr; // the innermost PCI device
};

Status readTree(const Library &library, hwloc_topology_t topology,
                const std::string &xml, Machine &machine) {
  // Memory that this process may not use is where GPUs are attached all the
  // same.
  library.topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  library.topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  // These would start drivers of GPUs in every process.
  for (const char *component :
       {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
    library.topology_set_components(
        topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  if (!xml.empty() && library.topology_set_xml(topology, xml.c_str()) != 0)
    return error(StatusCode::InvalidArgument, "'", xml,
                 "' cannot be read as a machine in hwloc's XML: ", strerror(errno),
                 "; write one with lstopo FILE.xml");
  if (library.topology_load(topology) != 0)
    return xml.empty()
               ? error(StatusCode::Unavailable,
                       "hwloc cannot read this machine: ", strerror(errno))
               : error(StatusCode::InvalidArgument, "'", xml,
                       "' is not a machine in hwloc's XML, as lstopo --of xml "
                       "writes it");
  Reader(library, machine).read(library.get_obj_by_depth(topology, 0, 0));
  machine.source = "hwloc";
  if (!xml.empty())
    machine.source += ", " + xml.substr(xml.rfind('/') + 1);
  return Status::success();
}

} // namespace

Status readHwloc(const std::string &xml, Machine &machine) {
  Library library;
  if (Status loaded = library.load(); !loaded.isOk())
    return xml.empty() ? loaded
                       : loaded.withContext("'" + xml + "' cannot be read");
  hwloc_topology_t topology = nullptr;
  if (library.topology_init(&topology) != 0)
    return error(StatusCode::Unavailable,
                 "hwloc cannot start: ", strerror(errno));
  Status status = readTree(library, topology, xml, machine);
  library.topology_destroy(topology);
  return status;
}

#endif

} // namespace mk::rt::topology
