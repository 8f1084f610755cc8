//===- Support.cpp - Versions, messages, sizes ----------------------------===//

#include "capi/Support.h"

#include "mkernel/Runtime/Gpu.h"
#include "mkernel/Version.h"

using namespace mk;
using rt::StatusCode;

static_assert(MKERNEL_OK == int(StatusCode::Ok));
static_assert(MKERNEL_INVALID_ARGUMENT == int(StatusCode::InvalidArgument));
static_assert(MKERNEL_OUT_OF_RANGE == int(StatusCode::OutOfRange));
static_assert(MKERNEL_RESOURCE_EXHAUSTED == int(StatusCode::ResourceExhausted));
static_assert(MKERNEL_DEADLINE_EXCEEDED == int(StatusCode::DeadlineExceeded));
static_assert(MKERNEL_ABORTED == int(StatusCode::Aborted));
static_assert(MKERNEL_UNAVAILABLE == int(StatusCode::Unavailable));
static_assert(MKERNEL_AGAIN == int(StatusCode::Again));
static_assert(MKERNEL_PERMISSION_DENIED == int(StatusCode::PermissionDenied));
static_assert(MKERNEL_NOT_FOUND == int(StatusCode::NotFound));
static_assert(MKERNEL_FAILED_PRECONDITION ==
              int(StatusCode::FailedPrecondition));
static_assert(MKERNEL_INTERNAL == int(StatusCode::Internal));

// The status shares its text: keeping it allocates nothing.
static thread_local rt::Status lastFailure;

mkernel_status capi::report(const rt::Status &status) noexcept {
  if (!status.isOk())
    lastFailure = status;
  return static_cast<mkernel_status>(status.code());
}

void capi::forgetMessage() noexcept { lastFailure = rt::Status(); }

rt::Result<std::vector<rt::DimValue>>
capi::readSizes(const mkernel_size *sizes, size_t count, const char *what) {
  std::vector<rt::DimValue> values;
  if (count && !sizes)
    return rt::error(StatusCode::InvalidArgument, what, ": NULL, but ", count,
                     " of them are announced");
  for (size_t i = 0; i < count; ++i) {
    if (!sizes[i].name || !*sizes[i].name)
      return rt::error(StatusCode::InvalidArgument, what, "[", i,
                       "] has no name");
    for (size_t j = 0; j < i; ++j)
      if (values[j].name == sizes[i].name)
        return rt::error(StatusCode::InvalidArgument, what, "[", i, "], '",
                         sizes[i].name, "': ", what, "[", j,
                         "] has the same name; give it once");
    if (sizes[i].values && !sizes[i].count)
      return rt::error(StatusCode::InvalidArgument, what, "[", i, "], '",
                       sizes[i].name, "': `values` is given, but `count` is 0");
    rt::DimValue &dim = values.emplace_back();
    dim.name = sizes[i].name;
    if (sizes[i].values)
      dim.values.assign(sizes[i].values, sizes[i].values + sizes[i].count);
    else
      dim.values = {sizes[i].value};
  }
  return values;
}

const char *mkernel_version(void) { return MK_VERSION; }

const char *mkernel_status_name(mkernel_status status) {
  if (status < MKERNEL_OK || status > MKERNEL_INTERNAL)
    return "unknown status";
  return rt::toString(static_cast<StatusCode>(status)).data(); // literals
}

const char *mkernel_message(void) { return lastFailure.message().c_str(); }

mkernel_status mkernel_num_gpus(size_t *out) {
  return capi::guard(__func__, [&](const char *function) -> rt::Status {
    MK_NOT_NULL(out);
    MK_ASSIGN(rt::GpuSystem system, rt::queryGpus());
    *out = system.gpus.size();
    return rt::Status::success();
  });
}
