//===- Support.h - What all functions of the C interface do -----*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_CAPI_SUPPORT_H
#define MKERNEL_RUNTIME_CAPI_SUPPORT_H

#include "mkernel/C/mkernel.h"
#include "mkernel/JIT/JIT.h"
#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Kernel.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <exception>
#include <new>

struct mkernel_package {
  mk::rt::Package package;
};

// Each handle shares what it was made from, so that the order in which a
// program destroys them does not matter.
struct mkernel_job {
  std::shared_ptr<mk::rt::Job> job;
};
struct mkernel_context {
  std::shared_ptr<mk::rt::Job> job; // null unless it is a member of one
  std::shared_ptr<mk::rt::Context> context;
};
struct mkernel_kernel {
  std::shared_ptr<mk::rt::Context> context;
  std::unique_ptr<mk::rt::Kernel> kernel;
};
struct mkernel_bound {
  // Destroyed in reverse: the binding before its context.
  std::shared_ptr<mk::rt::Context> context;
  std::shared_ptr<mk::rt::BoundKernel> bound;
};
struct mkernel_graph {
  std::shared_ptr<mk::rt::Context> context;
  std::shared_ptr<mk::rt::BoundKernel> bound;
  std::unique_ptr<mk::rt::LaunchGraph> graph;
};

namespace mk::capi {

/// Keeps the message for mkernel_message() and returns the code.
mkernel_status report(const rt::Status &status) noexcept;
/// Forgets it.
void forgetMessage() noexcept;

/// Runs `body(function)`, which returns a Status; what it throws becomes one.
template <typename Fn>
mkernel_status guard(const char *function, Fn &&body) noexcept {
  try {
    return report(body(function));
  } catch (const std::bad_alloc &) {
    return report(rt::error(rt::StatusCode::ResourceExhausted, function,
                            ": there is no memory left for what it was asked for: give smaller "
                            "sizes, or raise the limit of memory (ulimit -v)"));
  } catch (const std::exception &e) {
    return report(rt::Status(rt::StatusCode::Internal, e.what()));
  }
}

inline rt::Status nullArgument(const char *function, const char *argument) {
  return rt::error(rt::StatusCode::InvalidArgument, function, ": '", argument,
                   "' is NULL");
}
/// Returns from the body of guard() when an argument is NULL.
#define MK_NOT_NULL(argument)                                                  \
  do {                                                                         \
    if (!(argument))                                                           \
      return ::mk::capi::nullArgument(function, #argument);                    \
  } while (false)

/// Options as this library knows them, from those of a program that was built
/// with an older or newer header.
template <typename T>
rt::Result<T> readOptions(const T *given, const char *what) {
  T options{};
  options.size = sizeof(T);
  if (!given)
    return options;
  if (given->size < sizeof(size_t) || given->size > 4096)
    return rt::error(rt::StatusCode::InvalidArgument, what, ": `size` is ",
                     given->size, "; start from the ..._INIT macro");
  // What this library does not know must be unused.
  auto *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(T); i < given->size; ++i)
    if (bytes[i])
      return rt::error(rt::StatusCode::InvalidArgument, what,
                       ": has a field that this version (", mkernel_version(),
                       ") does not know; use a newer libmkernel_runtime.so");
  std::memcpy(&options, given, std::min(given->size, sizeof(T)));
  return options;
}

/// Of a folder's name, which may be "off".
inline rt::DiskCache cacheAt(std::string_view folder) {
  return rt::DiskCache(folder == "off" ? std::string() : std::string(folder));
}

rt::Result<jit::Options> compileOptions(const mkernel_compile_options *given);

inline std::string text(const char *s) { return s ? s : ""; }

/// A struct of C with a field `none`, which stands for those that it does not have.
struct Absent {};
template <typename T> struct Fields : T {
  explicit Fields(const T &fields) : T(fields) {}
  Absent none;
};

// What a field of C says about an option: nothing where it is zero or NULL.
inline void take(mkernel::options::Kind, const char *given, std::string &out) {
  if (given)
    out = given;
}
inline void take(mkernel::options::Kind kind, int given, bool &out) {
  if (given)
    out = kind == mkernel::options::Kind::On;
}
inline void take(mkernel::options::Kind, uint64_t given, std::chrono::nanoseconds &out) {
  if (given)
    out = std::chrono::nanoseconds(std::min<uint64_t>(given, INT64_MAX));
}
template <std::integral T> void take(mkernel::options::Kind, T given, T &out) {
  if (given)
    out = given;
}
inline void take(mkernel::options::Kind, void *given, void *&out) { out = given; }
// Sizes come with their number, and contexts are made of more than their options.
template <typename T> void take(mkernel::options::Kind, const mkernel_size *, T &) {}
template <typename T> void take(mkernel::options::Kind, Absent, T &) {}

rt::Result<std::vector<rt::DimValue>> readSizes(const mkernel_size *sizes,
                                                size_t count, const char *what);

} // namespace mk::capi

#endif // MKERNEL_RUNTIME_CAPI_SUPPORT_H
