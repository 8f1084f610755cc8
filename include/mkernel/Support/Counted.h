//===- Counted.h - Numbers of things in messages ----------------*- C++ -*-===//
#ifndef MKERNEL_SUPPORT_COUNTED_H
#define MKERNEL_SUPPORT_COUNTED_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mkernel {

/// "1 warpgroup", "2 warpgroups".
inline std::string counted(int64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

} // namespace mkernel

#endif // MKERNEL_SUPPORT_COUNTED_H
