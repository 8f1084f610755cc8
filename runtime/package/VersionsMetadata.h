//===- VersionsMetadata.h - What containers say of versions -----*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PACKAGE_VERSIONSMETADATA_H
#define MKERNEL_RUNTIME_PACKAGE_VERSIONSMETADATA_H

#include "mkernel/Runtime/Package.h"
#include "package/JsonReader.h"

namespace mk::rt {

/// Reads the key `versions`, when the dimensions are read.
void parseVersions(Reader &r, Status &status, Metadata &metadata);

/// In what the package of a version differs from what the container says of all; empty: in
/// nothing.
std::string findDifference(const Metadata &whole, const Metadata &version);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PACKAGE_VERSIONSMETADATA_H
