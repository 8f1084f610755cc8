//===- Choose.cpp - Which NICs a rank uses --------------------------------===//

#include "transport/rdma/Nic.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>

namespace mk::rt::rdma {
namespace {

/// Of a device that the topology does not know: "ACTIVE" if a port is, else "DOWN"; "" if it cannot
/// be asked, which whoever opens it for good finds out.
std::string stateOf(const Library &library, ibv_device *device) {
  ibv_context *context = library.open_device(device);
  if (!context)
    return {};
  ibv_device_attr attr{};
  std::string state;
  if (library.query_device(context, &attr) == 0) {
    uint32_t numPorts = std::max<uint32_t>(attr.phys_port_cnt, 1);
    for (uint32_t port = 1; port <= numPorts && state != "ACTIVE"; ++port) {
      ibv_port_attr ports{};
      if (queryPort(context, port, ports) == 0)
        state = ports.state == IBV_PORT_ACTIVE ? "ACTIVE" : "DOWN";
    }
  }
  library.close_device(context);
  return state;
}

/// All devices of the library, with what the topology knows of them. It does not
/// know NICs without hardware.
Result<Machine> usableMachine(const Library &library) {
  MK_ASSIGN(Machine machine, Machine::discover());
  int count = 0;
  ibv_device **list = library.get_device_list(&count);
  if (!list)
    return error(StatusCode::Unavailable,
                 "libibverbs lists no devices: load the kernel's modules "
                 "(modprobe ib_uverbs) and give this container /dev/infiniband");
  std::vector<MachineNic> nics;
  for (int i = 0; i < count; ++i) {
    std::string name = library.get_device_name(list[i]);
    auto known = std::find_if(machine.nics.begin(), machine.nics.end(),
                              [&](const MachineNic &n) { return n.name == name; });
    if (known != machine.nics.end()) {
      nics.push_back(*known);
      continue;
    }
    MachineNic nic;
    nic.name = name;
    // RC devices are channel adapters, EFA's have no type.
    if (list[i]->node_type == IBV_NODE_UNSPECIFIED)
      nic.kind = NicKind::Efa;
    nic.state = stateOf(library, list[i]);
    nics.push_back(std::move(nic));
  }
  library.free_device_list(list);
  // In the topology's order, which all ranks of the machine share.
  auto place = [&](const MachineNic &nic) {
    return std::find_if(machine.nics.begin(), machine.nics.end(),
                        [&](const MachineNic &n) { return n.name == nic.name; }) -
           machine.nics.begin();
  };
  std::stable_sort(nics.begin(), nics.end(),
                   [&](const MachineNic &a, const MachineNic &b) {
                     return place(a) < place(b);
                   });
  machine.nics = std::move(nics);
  return machine;
}

std::string namesOf(const Machine &machine) {
  std::string names;
  for (const MachineNic &nic : machine.nics)
    names += str(names.empty() ? "" : ", ", nic.name, " (", toString(nic.kind),
                 nic.usable() ? "" : ", " + nic.state, ")");
  return names.empty() ? "none" : names;
}

Result<std::vector<ChosenNic>> namedNics(const Machine &machine, NicKind kind,
                                         const Options &options) {
  std::vector<ChosenNic> chosen;
  for (const std::string &name : options.nics) {
    auto nic = std::find_if(machine.nics.begin(), machine.nics.end(),
                            [&](const MachineNic &n) { return n.name == name; });
    if (nic == machine.nics.end())
      return error(StatusCode::InvalidArgument, "option nics: there is no NIC '",
                   name, "'; libibverbs lists: ", namesOf(machine));
    if (nic->kind != kind)
      return error(StatusCode::InvalidArgument, "option nics: '", name,
                   "' is for the transport ",
                   nic->kind == NicKind::Efa ? "efa" : "verbs");
    chosen.push_back({name, nic->mbits});
  }
  return chosen;
}

} // namespace

Result<std::vector<ChosenNic>> assignedNics(const Machine &machine, NicKind kind,
                                                  const NicUser &user, std::string &problem) {
  NicOptions options;
  options.kind = kind;
  for (const std::string &gpu : user.gpus) {
    auto index = gpu.empty() ? Result<uint32_t>(error(StatusCode::NotFound, "no GPU"))
                             : machine.gpuAt(gpu);
    if (!index) {
      if (!gpu.empty())
        log::info("NICs are divided by local rank: ", index.status().message());
      options.gpus.clear();
      break;
    }
    options.gpus.push_back(*index);
  }
  Machine host;
  if (options.gpus.empty()) {
    // Memory of the host is as near to all NICs. Ranks divide them.
    host = machine;
    host.gpus.clear();
    options.hostRanks = static_cast<uint32_t>(user.gpus.size());
  }
  MK_ASSIGN(NicAssignment assignment,
            assignNics(options.gpus.empty() ? host : machine, options));
  problem = assignment.problem;
  std::vector<ChosenNic> chosen;
  if (user.localRank < assignment.users.size())
    for (const NicShare &share : assignment.users[user.localRank].shares)
      chosen.push_back({machine.nics[share.nic].name, share.mbits});
  return chosen;
}

Result<std::vector<ChosenNic>> chooseNics(const Library &library, NicKind kind,
                                          const Options &options,
                                          const NicUser &user) {
  MK_ASSIGN(Machine machine, usableMachine(library));
  if (!options.nics.empty())
    return namedNics(machine, kind, options);
  std::string problem;
  MK_ASSIGN(std::vector<ChosenNic> chosen, assignedNics(machine, kind, user, problem));
  if (chosen.empty())
    return error(StatusCode::FailedPrecondition, "there is no NIC for the transport ",
                 kind == NicKind::Efa ? "efa" : "verbs", " on this machine (",
                 problem.empty() ? std::string("none was assigned") : problem,
                 "); libibverbs lists: ", namesOf(machine),
                 ": mk-info says what is missing");
  return chosen;
}

} // namespace mk::rt::rdma
