//===- Versions.cpp - Several versions of a kernel in a package -----------===//

#include "mkernel/Runtime/Versions.h"
#include "package/Launch.h"

#include <algorithm>

using namespace mk::rt;

Result<size_t> mk::rt::selectVersion(const Metadata &metadata, const Payload &payload,
                                     const Mesh &mesh, uint32_t rank,
                                     std::span<const DimValue> bind) {
  MK_ASSIGN(auto dims, resolveDims(metadata, mesh, bind));
  std::vector<int64_t> coords = mesh.coords(rank);
  mk_launch launch = makeLaunch(mesh, rank, coords, dims[rank]);
  int64_t chosen = payload.select(&launch);
  if (chosen < 0 || size_t(chosen) >= metadata.versions.size() ||
      metadata.versions[size_t(chosen)].candidate)
    return error(StatusCode::Internal, "kernel '", metadata.kernel, "': its package chooses version ",
                 chosen, " (from 0) of ", metadata.versions.size(),
                 ": it is damaged; compile the kernel again");
  return static_cast<size_t>(chosen);
}

Result<size_t> mk::rt::chooseVersion(const Package &package, const Mesh &mesh,
                                     std::span<const DimValue> bind) {
  if (package.metadata().versions.empty())
    return size_t(0);
  MK_ASSIGN(auto payload, Payload::load(package));
  return selectVersion(package.metadata(), *payload, mesh, 0, bind);
}

Result<SymmetricNeeds> mk::rt::needsOf(const Package &package, size_t i, const Mesh &mesh,
                                       std::span<const DimValue> bind) {
  const Metadata &metadata = package.metadata();
  if (size_t count = std::max<size_t>(metadata.versions.size(), 1); i >= count)
    return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                 "': there is no version ", i, " (from 0), its package has ", count,
                 ": give one that findFastest() or chooseVersion() names");
  VersionPlace place = placeOf(metadata, i);
  SymmetricNeeds needs;
  for (size_t candidate = place.first; candidate < place.end(); ++candidate) {
    const Package &version = package.version(candidate);
    MK_ASSIGN(auto payload, Payload::load(version));
    MK_ASSIGN(JobPlan plan, JobPlan::create(version.metadata(), *payload, mesh, bind));
    needs.heapBytes = std::max(needs.heapBytes, plan.heapBytes());
    needs.slots = std::max(needs.slots, plan.slots());
  }
  return needs;
}

std::string mk::rt::sizesText(std::span<const NamedSize> sizes) {
  std::string text;
  for (const NamedSize &size : sizes)
    text += str(text.empty() ? "" : ", ", size.name, " = ", size.size);
  return text;
}

VersionPlace mk::rt::placeOf(const Metadata &metadata, size_t i) {
  const std::vector<Metadata::Version> &all = metadata.versions;
  if (all.empty())
    return {.versions = 1, .candidates = 1};
  VersionPlace place{.candidate = all[i].candidate, .candidates = 1, .first = i - all[i].candidate};
  for (size_t other = 0; other < all.size(); ++other) {
    place.versions += all[other].candidate == 0;
    place.version += all[other].candidate == 0 && other < place.first;
  }
  while (place.end() < all.size() && all[place.end()].candidate)
    ++place.candidates;
  return place;
}

std::string mk::rt::versionName(const Metadata &metadata, size_t i) {
  VersionPlace place = placeOf(metadata, i);
  std::string candidate =
      place.candidates > 1 ? str("candidate ", place.candidate + 1, " of ", place.candidates) : "";
  if (place.versions == 1 && !candidate.empty())
    return candidate;
  return str("version ", place.version + 1, " of ", place.versions, " for ",
             versionText(metadata, i), candidate.empty() ? "" : ", ", candidate);
}

std::string mk::rt::versionText(const Metadata &metadata, size_t i) {
  const std::vector<Metadata::Version> &versions = metadata.versions;
  VersionPlace place = placeOf(metadata, i);
  bool isLast = place.version + 1 == place.versions;
  if (place.versions == 1)
    return "all sizes";
  const std::string &name = versions[0].serves[0].name;
  bool oneDim = std::all_of(versions.begin(), versions.end(), [&](const auto &version) {
    return version.serves.size() == 1 && version.serves[0].name == name;
  });
  if (!oneDim) {
    std::string text;
    for (const NamedSize &size : versions[i].serves)
      text += str(text.empty() ? "" : " and ", size.name, " up to ", size.size);
    return isLast ? "all others" : text;
  }
  int64_t from = 0;
  for (size_t before = 0; before < place.first; ++before)
    from = std::max(from, versions[before].serves[0].size + 1);
  if (isLast)
    return str(name, " from ", from, " on");
  return place.version ? str(name, " from ", from, " to ", versions[i].serves[0].size)
                       : str(name, " up to ", versions[i].serves[0].size);
}
