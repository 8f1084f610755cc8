//===- Package.h - What a package holds -------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKINFO_PACKAGE_H
#define MKERNEL_TOOLS_MKINFO_PACKAGE_H

#include "Facts.h"
#include "mkernel/Runtime/Package.h"

namespace mk::info {

/// The metadata (mkernel/ABI/Package.h), with the sizes of the file and of its code.
Json describePackage(const rt::Package &package);

/// The same for people.
std::string packageText(const rt::Package &package, const Json &described);

} // namespace mk::info

#endif // MKERNEL_TOOLS_MKINFO_PACKAGE_H
