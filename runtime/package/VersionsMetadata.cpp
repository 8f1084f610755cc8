//===- VersionsMetadata.cpp - What containers say of versions -------------===//

#include "package/VersionsMetadata.h"

#include "mkernel/ABI/Package.h"

#include <algorithm>

using namespace mk::rt;

namespace {

/// The largest sizes by the names of dimensions, in the order of those.
std::vector<NamedSize> parseSizes(Status &status, const Json &json, const std::string &where,
                                  const Metadata &m) {
  std::vector<NamedSize> sizes;
  Reader e(status, json, where);
  for (const Metadata::Dim &dim : m.dims) {
    const Json *value = e.find(dim.name.c_str(), /*required=*/false);
    if (!value)
      continue;
    if (dim.perRank || !dim.values.empty())
      e.fail(str("names dimension '", dim.name, "', which ",
                 dim.perRank ? "each rank has for itself" : "has a value"));
    sizes.push_back({dim.name, e.number(*value, "dimension '" + dim.name + "'", 1, kLarge)});
  }
  return sizes;
}

} // namespace

void mk::rt::parseVersions(Reader &r, Status &status, Metadata &m) {
  const Json &list = r.list("versions");
  size_t most = MK_MAX_VERSIONS * MK_MAX_CANDIDATES, count = 0;
  if (list.empty() || list.size() > most)
    return r.fail(
        str("has ", list.size(), " versions and candidates; 1 to ", most, " are possible"));
  for (size_t i = 0; i < list.size() && status.isOk(); ++i) {
    std::string where = str("metadata: versions[", i, "]");
    Reader e(status, list[i], where);
    Metadata::Version version;
    if (const Json *serves = e.find("serves"))
      version.serves = parseSizes(status, *serves, where + ".serves", m);
    if (e.find("candidate", /*required=*/false))
      version.candidate = size_t(e.number("candidate", 1, MK_MAX_CANDIDATES - 1));
    if (e.find("merged", /*required=*/false))
      for (const Json &sizes : e.list("merged"))
        version.merged.push_back(parseSizes(status, sizes, where + ".merged", m));
    version.bytes = e.number("bytes", 1, kLarge);
    count += version.candidate == 0;
    if (version.candidate && (i == 0 || version.candidate != m.versions.back().candidate + 1 ||
                              version.serves != m.versions.back().serves))
      e.fail(str("is candidate ", version.candidate,
                 ", and does not stand behind the one before it, "
                 "with the same sizes"));
    m.versions.push_back(std::move(version));
  }
  if (count > MK_MAX_VERSIONS)
    r.fail(str("has ", count, " versions; 1 to ", MK_MAX_VERSIONS, " are possible"));
  for (const Metadata::Version &version : m.versions)
    if (version.serves.empty() && count > 1)
      r.fail("has a version among several that names no dimension");
}

std::string mk::rt::findDifference(const Metadata &whole, const Metadata &version) {
  if (version.kernel != whole.kernel)
    return "is of kernel '" + version.kernel + "'";
  if (version.target != whole.target)
    return "is for the target " + version.target;
  if (version.cpu != whole.cpu || version.cpuFeatures != whole.cpuFeatures)
    return "is for another CPU, " + version.cpu;
  if (version.mesh != whole.mesh)
    return "is for another mesh";
  if (version.dims != whole.dims)
    return "has other dimensions";
  if (version.grid > whole.grid)
    return str("has ", version.grid, " CTAs, and ", whole.grid, " is the most");
  // What passes have added is the version's own affair.
  auto own = [](const Metadata::Arg &arg) { return arg.kind == Metadata::ArgKind::Scratch; };
  size_t n = whole.args.size();
  if (version.args.size() < n ||
      !std::equal(whole.args.begin(), whole.args.end(), version.args.begin()) ||
      !std::all_of(version.args.begin() + n, version.args.end(), own))
    return "has other arguments";
  return {};
}
