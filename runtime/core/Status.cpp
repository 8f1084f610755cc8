//===- Status.cpp - The runtime's error type ------------------------------===//

#include "mkernel/Runtime/Status.h"

#include <cstring>

namespace mk::rt {

std::string_view toString(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::OutOfRange:
    return "out of range";
  case StatusCode::ResourceExhausted:
    return "resource exhausted";
  case StatusCode::DeadlineExceeded:
    return "deadline exceeded";
  case StatusCode::Aborted:
    return "aborted";
  case StatusCode::Unavailable:
    return "unavailable";
  case StatusCode::Again:
    return "try again";
  case StatusCode::PermissionDenied:
    return "permission denied";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::FailedPrecondition:
    return "failed precondition";
  case StatusCode::Internal:
    return "internal error";
  }
  return "unknown status";
}

const std::string &Status::message() const {
  static const std::string empty;
  return rep_ ? rep_->message : empty;
}

std::string Status::toString() const {
  if (isOk())
    return "ok";
  return str(rt::toString(code()), ": ", message());
}

Status Status::withContext(std::string_view prefix) const {
  if (isOk())
    return *this;
  return Status(code(), str(prefix, ": ", message()));
}

Status errnoError(StatusCode code, std::string_view what, int err) {
  char buffer[128];
  // The GNU variant returns the text; it may or may not use the buffer.
  return error(
      code, what, " failed: ",
      static_cast<const char *>(strerror_r(err, buffer, sizeof(buffer))));
}

} // namespace mk::rt
