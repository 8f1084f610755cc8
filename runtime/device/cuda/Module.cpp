//===- Module.cpp - Device code made ready to launch ----------------------===//

#include "device/cuda/Module.h"

#include "device/cuda/Ptxas.h"
#include "mkernel/Runtime/Log.h"

#include <cstdio>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

constexpr const char *kEntry = "mk_kernel";

/// Where the driver's compiler writes what it has to say.
class Logs {
public:
  static constexpr unsigned kCount = 4;
  int *options() { return options_; }
  void **values() { return values_; }
  std::string text() const {
    std::string text(errors_);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    return text.empty() ? std::string("(no log)") : text;
  }

private:
  char errors_[16384] = {}, infos_[4096] = {};
  int options_[kCount] = {kInfoLog, kInfoLogBytes, kErrorLog, kErrorLogBytes};
  void *values_[kCount] = {infos_, reinterpret_cast<void *>(sizeof(infos_) - 1),
                           errors_,
                           reinterpret_cast<void *>(sizeof(errors_) - 1)};
};

/// The driver reads anything else as text that ends with a NUL.
bool isCubin(std::string_view image) {
  return image.starts_with("\x7f"
                           "ELF");
}

/// The kernel module's version: the driver's compiler changes with it, while
/// the version of the API stays.
std::string driverBuild() {
  char text[128] = {};
  if (FILE *file = std::fopen("/sys/module/nvidia/version", "r")) {
    if (!std::fgets(text, sizeof(text), file))
      text[0] = 0;
    std::fclose(file);
  }
  return text;
}

} // namespace

Module::~Module() {
  if (!module_)
    return;
  Current current(*device_);
  device_->driver().moduleUnload(module_);
}

Result<std::unique_ptr<Module>> Module::load(std::shared_ptr<Gpu> device,
                                             std::string_view code,
                                             const Metadata &metadata,
                                             const Metadata::Variant &variant,
                                             const DiskCache &cache) {
  Current current(*device);
  std::unique_ptr<Module> module(new Module(std::move(device)));
  MK_TRY(module->loadCode(code, metadata.kernel, cache));
  MK_TRY(module->prepare(metadata, variant));
  return module;
}

Status Module::loadImage(const void *image, std::string &log) {
  auto logs = std::make_unique<Logs>();
  int code = device_->driver().moduleLoadDataEx(&module_, image, Logs::kCount,
                                                logs->options(),
                                                logs->values());
  log = logs->text();
  return device_->driver().check(code, "cuModuleLoadDataEx");
}

Status Module::loadCode(std::string_view code, const std::string &kernel,
                        const DiskCache &cache) {
  const Driver &driver = device_->driver();
  std::string text(code), log;
  auto failed = [&](const Status &status) {
    return error(StatusCode::FailedPrecondition, "the driver (CUDA ",
                 driver.version() / 1000, ".", driver.version() % 1000 / 10,
                 ") does not take the code of kernel '", kernel, "' for ",
                 device_->name(), ": ", status.message(), ": ", log,
                 ": compile the kernel again with this version of mKernel");
  };
  if (isCubin(code)) {
    Status status = loadImage(text.data(), log);
    return status.isOk() ? status : failed(status);
  }
  Digest key = DiskCache::key({"cubin of PTX", code, str(driver.version()),
                               driverBuild(), capabilityText(device_->info()),
                               describeProgram(findPtxas())});
  if (auto cubin = cache.get("cubin", key)) {
    std::string_view image(reinterpret_cast<const char *>(cubin->data()),
                           cubin->size());
    Status status = isCubin(image)
                        ? loadImage(image.data(), log)
                        : error(StatusCode::FailedPrecondition, "no cubin");
    cached_ = status.isOk();
    if (cached_)
      return status;
    log::info("the cached code of kernel '", kernel, "' does not load (",
              status.message(), ") and is compiled anew");
  }
  // The driver's own compiler does as well, and keeps what it has compiled, but
  // gives no cubin: its linker, which would, compiles for linking and thereby
  // ignores setmaxnreg.
  auto leaveToDriver = [&](std::string_view why) {
    log::info("kernel '", kernel, "' is left to the driver's compiler: ", why);
    Status status = loadImage(text.c_str(), log);
    return status.isOk() ? status : failed(status);
  };
  Result<std::vector<std::byte>> cubin = assemble(text);
  if (!cubin)
    return leaveToDriver(cubin.status().message());
  // A ptxas newer than the driver writes what the driver cannot read.
  Status status = loadImage(cubin->data(), log);
  if (!status.isOk())
    return leaveToDriver(str("it does not take what ", findPtxas(), " made (",
                             status.message(), ": ", log, ")"));
  if (Status kept = cache.put("cubin", key, *cubin); !kept.isOk())
    log::warn("the compiled code of kernel '", kernel,
              "' is not kept for the next run: ", kept.message());
  return status;
}

Status Module::prepare(const Metadata &metadata, const Metadata::Variant &gpu) {
  const Driver &driver = device_->driver();
  MK_TRY(driver.check(driver.moduleGetFunction(&function_, module_, kEntry),
                      str("the code of kernel '", metadata.kernel,
                          "' has no entry ", kEntry)));
  // Now, not at the first launch: loading allocates, which a capture forbids,
  // and may wait for kernels that run.
  MK_TRY(driver.check(driver.funcLoad(function_), "cuFuncLoad"));
  size_t offset = 0, bytes = 0;
  if (driver.funcGetParamInfo(function_, 0, &offset, &bytes) == kSuccess &&
      bytes != gpu.paramBytes)
    return error(StatusCode::Internal, "the code of kernel '", metadata.kernel,
                 "' takes parameters of ", bytes, " bytes, its metadata says ",
                 gpu.paramBytes, ": compile it again");
  int most = device_->attribute(kMaxSharedPerBlock);
  if (gpu.sharedBytes > uint64_t(most))
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' needs ", gpu.sharedBytes,
                 " bytes of shared memory in a CTA, ", device_->name(),
                 " has ", most, ": use smaller tiles or fewer stages");
  MK_TRY(driver.check(driver.funcSetAttribute(function_, kMaxDynamicShared,
                                              int(gpu.sharedBytes)),
                      str("asking for ", gpu.sharedBytes,
                          " bytes of shared memory for kernel '",
                          metadata.kernel, "'")));
  return checkResident(metadata, gpu);
}

/// CTAs wait for one another, so all must run at the same time. The launch asks
/// for that, too; here is what the reader can do about it.
Status Module::checkResident(const Metadata &metadata, const Metadata::Variant &gpu) {
  const Driver &driver = device_->driver();
  int perSm = 0, registers = 0, local = 0;
  driver.funcGetAttribute(&registers, kRegisters, function_);
  driver.funcGetAttribute(&local, kLocalBytes, function_);
  log::debug("kernel '", metadata.kernel, "', variant ", gpu.name, ": ", registers, " registers, ",
             local, " bytes of local memory a thread, ", gpu.threads,
             " threads and ", gpu.sharedBytes, " bytes of shared memory a CTA, ",
             cached_ ? "from the cache" : "compiled");
  // No kernel has a stack of its own.
  if (local > 0)
    log::warn("kernel '", metadata.kernel, "' spills: ", local,
              " bytes of each thread are in memory instead of registers, which makes it "
              "slower: compile it with smaller tiles (mk-opt --emit=params lists what can be "
              "set)");
  MK_TRY(driver.check(driver.occupancyBlocks(&perSm, function_,
                                             int(gpu.threads), gpu.sharedBytes),
                      "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  if (perSm == 0)
    return error(StatusCode::FailedPrecondition, "a CTA of kernel '",
                 metadata.kernel, "' (", gpu.threads, " threads of ", registers,
                 " registers, ", gpu.sharedBytes,
                 " bytes of shared memory) does not fit an SM of ",
                 device_->name(), ": use smaller tiles or fewer stages");
  uint64_t fit = uint64_t(perSm) * device_->info().sms;
  if (fit < gpu.grid)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' has a grid of ", gpu.grid,
                 " CTAs that wait for one another; ", device_->name(), " has ",
                 device_->info().sms, " SMs with room for ", perSm,
                 perSm == 1 ? " CTA" : " CTAs", " each: compile it with --grid ",
                 fit);
  return Status::success();
}
