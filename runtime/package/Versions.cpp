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
  if (chosen < 0 || size_t(chosen) >= metadata.versions.size())
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

std::string mk::rt::sizesText(std::span<const NamedSize> sizes) {
  std::string text;
  for (const NamedSize &size : sizes)
    text += str(text.empty() ? "" : ", ", size.name, " = ", size.size);
  return text;
}

std::string mk::rt::versionText(const Metadata &metadata, size_t i) {
  const std::vector<Metadata::Version> &versions = metadata.versions;
  const std::string &name = versions[0].serves[0].name;
  bool isLast = i + 1 == versions.size();
  bool oneDim = std::all_of(versions.begin(), versions.end(), [&](const auto &version) {
    return version.serves.size() == 1 && version.serves[0].name == name;
  });
  if (isLast && i == 0)
    return "all sizes";
  if (!oneDim) {
    std::string text;
    for (const NamedSize &size : versions[i].serves)
      text += str(text.empty() ? "" : " and ", size.name, " up to ", size.size);
    return isLast ? "all others" : text;
  }
  int64_t from = 0;
  for (size_t before = 0; before < i; ++before)
    from = std::max(from, versions[before].serves[0].size + 1);
  if (isLast)
    return str(name, " from ", from, " on");
  return i ? str(name, " from ", from, " to ", versions[i].serves[0].size)
           : str(name, " up to ", versions[i].serves[0].size);
}
