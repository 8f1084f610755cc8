//===- Versions.h - Several versions of a kernel in a package ---*- C++ -*-===//
//
// Parameters of a kernel (extents of tiles, CTAs of roles) are compiled in, and what is best
// depends on sizes that may be known only when it is bound. A package can hold up to
// MK_MAX_VERSIONS (mkernel/ABI/Package.h), which the package's own mk_select chooses among.
// Kernel::bind does it; who needs a plan before there is a context does it here:
//
//   MK_ASSIGN(size_t i, chooseVersion(package, mesh, dims));
//   MK_ASSIGN(auto payload, Payload::load(package.version(i)));
//   MK_ASSIGN(JobPlan plan, JobPlan::create(package.version(i).metadata(), *payload, mesh, dims));
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_VERSIONS_H
#define MKERNEL_RUNTIME_VERSIONS_H

#include "mkernel/Runtime/Plan.h"

namespace mk::rt {

/// The first candidate of the version that is for these dimensions, by the code of a package with
/// versions. InvalidArgument as resolveDims; Internal if that code names none.
Result<size_t> selectVersion(const Metadata &metadata, const Payload &payload, const Mesh &mesh,
                             uint32_t rank, std::span<const DimValue> bind);

/// The same, of a package that is not loaded; 0 for one without versions.
Result<size_t> chooseVersion(const Package &package, const Mesh &mesh,
                             std::span<const DimValue> bind);

/// Where `i` of Metadata::versions stands: its version and its place among the candidates of that,
/// both from 0. A package without versions is one, with one candidate.
struct VersionPlace {
  size_t version = 0, versions = 0;
  size_t candidate = 0, candidates = 0;
  size_t first = 0; // of the candidates, in Metadata::versions
  size_t end() const { return first + candidates; }
};
VersionPlace placeOf(const Metadata &metadata, size_t i);

/// "version 2 of 3 for M from 65 to 512", "version 1 of 3 for M up to 64, candidate 2 of 4";
/// "candidate 2 of 4" of a package of one version.
std::string versionName(const Metadata &metadata, size_t i);

/// Symmetric memory, bytes, and signal slots of a context in which any candidate of the version of
/// `i` can be bound to these dimensions, one at a time. As chooseVersion; InvalidArgument
/// if the package has no version `i`.
struct SymmetricNeeds {
  uint64_t heapBytes = 0;
  uint32_t slots = 0;
};
Result<SymmetricNeeds> needsOf(const Package &package, size_t i, const Mesh &mesh,
                               std::span<const DimValue> bind);

/// What version `i` is for, as people say it: "M from 65 to 512", "M from 513 on"; of several
/// dimensions "M up to 64 and N up to 128" and "all others".
std::string versionText(const Metadata &metadata, size_t i);

/// "M = 64, N = 128".
std::string sizesText(std::span<const NamedSize> sizes);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_VERSIONS_H
