//===- CpuBinding.cpp - On which CPUs a thread runs -----------------------===//

#include "mkernel/Runtime/CpuBinding.h"

#include "mkernel/Runtime/Env.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <sched.h>

namespace mk::rt {
namespace {

constexpr int64_t kMaxCpus = 1 << 16;

struct FreeSet {
  void operator()(cpu_set_t *set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

std::vector<uint32_t> common(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint32_t> out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

Result<CpuBinding> given(std::string_view text, std::span<const uint32_t> allowed) {
  auto list = parseCpus(text);
  if (!list || list->empty())
    return error(StatusCode::InvalidArgument, "MK_PROXY_CPUS: '", text,
                 "' is no list of CPUs, like 0-3,8: write one, or auto, or off");
  if (common(*list, allowed).size() != list->size())
    return error(StatusCode::InvalidArgument, "MK_PROXY_CPUS: this process may use the CPUs ",
                 cpusText(allowed), ", and ", text,
                 " are not all among them: choose others, or start it without that binding");
  return CpuBinding{std::move(*list), "MK_PROXY_CPUS"};
}

} // namespace

Result<std::vector<uint32_t>> parseCpus(std::string_view text) {
  std::vector<uint32_t> cpus;
  for (size_t at = 0; at < text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string_view part = text.substr(at, comma - at);
    size_t dash = part.find('-');
    auto first = env::parseInt(part.substr(0, dash));
    auto last = dash == part.npos ? first : env::parseInt(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus ||
        comma + 1 == text.size())
      return error(StatusCode::InvalidArgument, "'", text, "' is no list of CPUs, like 0-3,8");
    for (int64_t cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<uint32_t>(cpu));
    at = comma + 1;
  }
  std::ranges::sort(cpus);
  cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
  return cpus;
}

std::string cpusText(std::span<const uint32_t> cpus) {
  std::string out;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1)
      ++end;
    out += str(out.empty() ? "" : ",", cpus[i]);
    if (end - i > 1)
      out += str("-", cpus[end - 1]);
    i = end;
  }
  return out.empty() ? "none" : out;
}

std::vector<uint32_t> allowedCpus() {
  std::vector<uint32_t> cpus;
  // Larger than what the kernel was built for, which nothing says.
  for (int64_t room = 1024; room <= kMaxCpus; room *= 4) {
    CpuSet set(CPU_ALLOC(static_cast<size_t>(room)));
    size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(room));
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0)
      continue;
    for (int64_t cpu = 0; cpu < room; ++cpu)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get()))
        cpus.push_back(static_cast<uint32_t>(cpu));
    break;
  }
  return cpus;
}

Result<CpuBinding> chooseCpus(const Machine &machine, std::span<const std::string> nics,
                              std::string_view gpu, std::span<const uint32_t> allowed) {
  std::string option = env::get("MK_PROXY_CPUS").value_or("auto");
  if (option == "off")
    return CpuBinding{{}, "MK_PROXY_CPUS is off"};
  if (option != "auto" && !option.empty())
    return given(option, allowed);
  const PciPlace *place = nullptr;
  std::string near;
  for (const std::string &name : nics) {
    auto nic = std::ranges::find(machine.nics, name, &MachineNic::name);
    if (nic == machine.nics.end())
      continue;
    place = &nic->place;
    near = name;
    break;
  }
  if (!place && !gpu.empty())
    if (auto index = machine.gpuAt(gpu)) {
      place = &machine.gpus[*index].place;
      near = str("GPU ", gpu);
    }
  if (!place)
    return CpuBinding{{}, "neither NIC nor GPU has a known place"};
  auto node = machine.cpus.find(place->numa);
  if (node == machine.cpus.end())
    return CpuBinding{{}, str("the NUMA node of ", near, " is unknown")};
  std::vector<uint32_t> cpus = common(node->second, allowed);
  if (cpus.empty())
    return CpuBinding{{}, str("this process may not use the CPUs of NUMA node ", place->numa,
                              ", near ", near)};
  if (cpus.size() == allowed.size())
    return CpuBinding{{}, str("all of its CPUs are at NUMA node ", place->numa, ", near ", near)};
  return CpuBinding{std::move(cpus), str("NUMA node ", place->numa, ", near ", near)};
}

Status bindThread(std::span<const uint32_t> cpus) {
  if (cpus.empty())
    return Status::success();
  size_t room = std::ranges::max(cpus) + size_t(1);
  CpuSet set(CPU_ALLOC(room));
  size_t bytes = CPU_ALLOC_SIZE(room);
  if (!set)
    return error(StatusCode::ResourceExhausted, "no memory for a set of ", room, " CPUs");
  CPU_ZERO_S(bytes, set.get());
  for (uint32_t cpu : cpus)
    CPU_SET_S(cpu, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) != 0)
    return errnoError(StatusCode::Unavailable,
                      str("binding a thread to the CPUs ", cpusText(cpus)), errno);
  return Status::success();
}

} // namespace mk::rt
