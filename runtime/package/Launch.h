//===- Launch.h - What a package's functions are told of a launch -*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PACKAGE_LAUNCH_H
#define MKERNEL_RUNTIME_PACKAGE_LAUNCH_H

#include "mkernel/ABI/Launch.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Package.h"

#include <span>

namespace mk::rt {

/// Of `rank`, whose coordinates and dimensions are given, without arguments and runtime. Refers to
/// what it is made from.
mk_launch makeLaunch(const Mesh &mesh, uint32_t rank, std::span<const int64_t> coords,
                     std::span<const int64_t> dims);

/// " (M = 8, N = 4)"; empty without dimensions.
std::string dimsText(const Metadata &metadata, std::span<const int64_t> dims);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PACKAGE_LAUNCH_H
