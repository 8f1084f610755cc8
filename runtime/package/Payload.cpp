//===- Payload.cpp - Loading the code of a package ------------------------===//

#include "mkernel/Runtime/Payload.h"

#include "mkernel/ABI/HostCalls.h"
#include "mkernel/Runtime/Gpu.h"
#include "package/Cpu.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mk::rt;

namespace {

/// A payload's calls resolve against the global scope, where this library is
/// not when a program loaded it with RTLD_LOCAL (a language binding does).
Status makeOwnSymbolsGlobal() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&mkrt_put), &info) || !info.dli_fname)
    return error(StatusCode::Internal, "cannot find the runtime's own file");
  if (void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
    dlclose(self);
  // Null: linked into the program itself, whose symbols are global already.
  return Status::success();
}

Result<int> makeFile(std::span<const std::byte> bytes,
                     const std::string &name) {
  constexpr size_t longest = 200; // the kernel takes 249 characters; the name is only for /proc
  int fd = memfd_create(name.substr(0, longest).c_str(), MFD_CLOEXEC);
  if (fd < 0)
    return errnoError(StatusCode::Unavailable, "memfd_create", errno);
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      int err = errno;
      close(fd);
      return errnoError(StatusCode::ResourceExhausted,
                        "writing the payload to memory", err);
    }
    done += n;
  }
  return fd;
}

} // namespace

Payload::~Payload() {
  if (handle_)
    dlclose(handle_);
  if (fd_ >= 0)
    close(fd_);
}

Result<std::unique_ptr<Payload>> Payload::load(const Package &package) {
  const Metadata &meta = package.metadata();
  if (meta.target != "host" && !findGpuTarget(meta.target)) {
    std::string runs = "host";
    for (const GpuTarget &target : gpuTargets())
      runs += str(" or ", target.name);
    return error(StatusCode::InvalidArgument, "kernel '", meta.kernel, "' is compiled for ",
                 meta.target, ": compile it for what this runtime runs, ", runs);
  }
  MK_TRY(checkCpu(meta)); // before anything of it runs
  auto isCalled = [&](const Metadata::Role &role) { return !meta.gpu || role.engines; };
  if (std::ranges::any_of(meta.roles, isCalled))
    MK_TRY(makeOwnSymbolsGlobal());
  std::unique_ptr<Payload> payload(new Payload());
  // The file stays open as long as it is loaded: the loader knows objects by
  // name, and would take the next payload that gets this number for this one.
  MK_ASSIGN(payload->fd_, makeFile(package.payload(), meta.kernel));
  std::string path = str("/proc/self/fd/", payload->fd_);
  payload->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!payload->handle_) {
    const char *why = dlerror();
    return error(StatusCode::Unavailable, "cannot load the payload of kernel '",
                 meta.kernel, "': ", why ? why : "no reason given");
  }

  auto find = [&](const std::string &name, auto &out) -> Status {
    void *symbol = dlsym(payload->handle_, name.c_str());
    if (!symbol)
      return error(StatusCode::NotFound, "the payload of kernel '", meta.kernel,
                   "' lacks the symbol ", name, " that its metadata promises");
    out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(symbol);
    return Status::success();
  };
  const std::byte *stated = nullptr;
  MK_TRY(find("mk_metadata_digest", stated));
  Digest digest = sha256(package.metadataText());
  if (std::memcmp(stated, digest.data(), digest.size()) != 0)
    return error(StatusCode::InvalidArgument, "the metadata of kernel '",
                 meta.kernel,
                 "' is not that of its code: the package was put together from "
                 "two, or changed; compile the kernel again");
  if (!meta.versions.empty()) {
    MK_TRY(find("mk_select", payload->select));
    return payload;
  }
  MK_TRY(find("mk_plan", payload->plan));
  if (meta.gpu) {
    for (size_t i = 0; i < meta.gpu->variants.size(); ++i) {
      const char *code = nullptr;
      const uint64_t *bytes = nullptr;
      MK_TRY(find(str("mk_device_code_", i), code));
      MK_TRY(find(str("mk_device_bytes_", i), bytes));
      payload->deviceCode.emplace_back(code, *bytes);
    }
  } else if (meta.prepare) {
    MK_TRY(find("mk_prepare", payload->prepare));
  }
  payload->roles.resize(meta.roles.size());
  for (size_t i = 0; i < meta.roles.size(); ++i)
    if (isCalled(meta.roles[i]))
      MK_TRY(find(str("mk_role_", i), payload->roles[i]));
  if (meta.reference)
    MK_TRY(find("mk_reference", payload->reference));
  return payload;
}
