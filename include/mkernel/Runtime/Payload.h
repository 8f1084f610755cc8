//===- Payload.h - Loaded code of a package ---------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PAYLOAD_H
#define MKERNEL_RUNTIME_PAYLOAD_H

#include "mkernel/ABI/Launch.h"
#include "mkernel/Runtime/Package.h"

#include <memory>

namespace mk::rt {

/// The shared object of a package, loaded into this process from memory. For a
/// GPU it has plan and reference as host code and carries the device's as data.
/// Unloads on destruction.
class Payload {
public:
  /// InvalidArgument for a package of another target, Unavailable with the
  /// loader's message, NotFound naming the missing symbol.
  static Result<std::unique_ptr<Payload>> load(const Package &package);
  ~Payload();
  Payload(const Payload &) = delete;
  Payload &operator=(const Payload &) = delete;

  using SelectFn = int64_t (*)(const mk_launch *);
  using PlanFn = int64_t (*)(const mk_launch *, int64_t *);
  using CtaFn = void (*)(const mk_cta *);
  using ReferenceFn = int64_t (*)(void *const *, int64_t, int64_t);

  /// Of a package with versions, whose payload has nothing else; see Versions.h.
  SelectFn select = nullptr;
  PlanFn plan = nullptr;
  std::vector<CtaFn> roles;        // by number; of a GPU target null but for those of copy engines
  CtaFn prepare = nullptr;         // host target; null: the kernel has none
  ReferenceFn reference = nullptr; // null: the kernel has none
  /// GPU targets: PTX text or a cubin of each variant.
  std::vector<std::string_view> deviceCode;

private:
  Payload() = default;
  void *handle_ = nullptr;
  int fd_ = -1;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PAYLOAD_H
