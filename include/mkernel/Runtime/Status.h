//===- Status.h - The runtime's error type ----------------------*- C++ -*-===//
//
// Every fallible function of the runtime returns a Status or a Result<T>;
// nothing throws across an interface. A message names what failed, why, and
// what the reader can do about it.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_STATUS_H
#define MKERNEL_RUNTIME_STATUS_H

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace mk::rt {

enum class StatusCode {
  Ok = 0,
  InvalidArgument,    // the caller passed something that can never work
  OutOfRange,         // an offset, slot or rank outside its window
  ResourceExhausted,  // heap, ring or descriptors used up
  DeadlineExceeded,   // a bounded wait ended without what it waited for
  Aborted,            // some rank raised the abort word
  Unavailable,        // the other side is gone, or the system refused
  Again,              // not an error: nothing was done, poll and try again
  PermissionDenied,   // wrong token, job, user or ABI
  NotFound,           //
  FailedPrecondition, // called in the wrong state
  Internal,           // a bug of the runtime
};

/// Name of a code as it appears in messages ("deadline exceeded").
std::string_view toString(StatusCode code);

/// Concatenates strings and numbers. (std::format is missing in the oldest
/// compiler supported.)
namespace detail {
inline void append(std::string &out, std::string_view s) { out += s; }
inline void append(std::string &out, const char *s) { out += s; }
inline void append(std::string &out, const std::string &s) { out += s; }
inline void append(std::string &out, char c) { out += c; }
inline void append(std::string &out, bool b) { out += b ? "true" : "false"; }
template <typename T>
requires(std::is_arithmetic_v<T>) void append(std::string &out, T v) {
  out += std::to_string(v);
}
} // namespace detail
template <typename... Args> std::string str(const Args &...args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

/// Success, or a code with a message. Success costs one null pointer.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) {
    assert(code != StatusCode::Ok && "an error needs a code");
    rep_ = std::make_shared<const Rep>(Rep{code, std::move(message)});
  }

  static Status success() { return {}; }
  bool isOk() const { return !rep_; }
  explicit operator bool() const { return isOk(); }

  StatusCode code() const { return rep_ ? rep_->code : StatusCode::Ok; }
  /// Empty on success.
  const std::string &message() const;
  /// "deadline exceeded: waited 5 s for ..."; "ok" on success.
  std::string toString() const;

  /// The same error with `prefix` and ": " in front of its message.
  Status withContext(std::string_view prefix) const;

  /// For the rare place where an error changes nothing (closing on the way
  /// out); says so where a reader looks.
  void ignore() const {}

private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

/// error(StatusCode::NotFound, "rank ", 3, " has no endpoint").
template <typename... Args> Status error(StatusCode code, const Args &...args) {
  return Status(code, str(args...));
}

/// Adds strerror(errno) of `err`: "memfd_create failed: Too many open files".
Status errnoError(StatusCode code, std::string_view what, int err);

/// A value or the error that prevented it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    assert(!status_.isOk() && "a Result without value needs an error");
  }

  bool isOk() const { return value_.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return status_; }

  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return std::move(*value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T valueOr(T other) const { return value_ ? *value_ : std::move(other); }

private:
  std::optional<T> value_;
  Status status_;
};

#define MK_CONCAT_(a, b) a##b
#define MK_CONCAT(a, b) MK_CONCAT_(a, b)

/// Returns from the enclosing function when `expr` (a Status) is an error.
#define MK_TRY(expr)                                                           \
  do {                                                                         \
    if (::mk::rt::Status mk_status_ = (expr); !mk_status_.isOk())              \
      return mk_status_;                                                       \
  } while (false)

/// MK_ASSIGN(auto heap, Heap::create(options)): declares, or returns the error.
#define MK_ASSIGN(decl, expr)                                                  \
  auto MK_CONCAT(mk_result_, __LINE__) = (expr);                               \
  if (!MK_CONCAT(mk_result_, __LINE__).isOk())                                 \
    return MK_CONCAT(mk_result_, __LINE__).status();                           \
  decl = std::move(*MK_CONCAT(mk_result_, __LINE__))

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_STATUS_H
