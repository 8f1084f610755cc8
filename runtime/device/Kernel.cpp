//===- Kernel.cpp - Binding and launching compiled kernels ----------------===//

#include "mkernel/Runtime/Kernel.h"

#include "device/Agreement.h"
#include "device/Device.h"
#include "mkernel/Runtime/Versions.h"

#include <algorithm>
#include <cassert>

using namespace mk::rt;

Result<std::unique_ptr<Kernel>> Kernel::load(Context &context,
                                             const Package &package) {
  std::unique_ptr<Kernel> kernel(new Kernel(context));
  kernel->metadata_ = package.metadata();
  kernel->digest_ = package.digest();
  const Metadata &meta = kernel->metadata_;
  std::string given, wanted;
  for (const Axis &axis : context.mesh().axes())
    given += str(given.empty() ? "" : ", ", axis.name, " = ", axis.size,
                 " via ", toString(axis.kind));
  bool fits = meta.mesh.size() == context.mesh().axes().size();
  for (size_t i = 0; i < meta.mesh.size(); ++i) {
    const Metadata::MeshAxis &axis = meta.mesh[i];
    wanted += str(wanted.empty() ? "" : ", ", axis.name, " = ",
                  axis.size ? str(*axis.size) : std::string("?"), " via ",
                  toString(axis.kind));
    if (!fits)
      continue;
    const Axis &have = context.mesh().axes()[i];
    fits = axis.name == have.name && axis.kind == have.kind &&
           axis.size.value_or(have.size) == have.size;
  }
  if (!fits)
    return error(
        StatusCode::InvalidArgument, "kernel '", meta.kernel,
        "' needs the mesh (", wanted, "), the job has (", given,
        "): start the job with a mesh that fits, or compile the kernel "
        "for this one");
  if (meta.grid > context.options().maxGrid)
    return error(StatusCode::InvalidArgument, "kernel '", meta.kernel, "' has ",
                 meta.grid, " CTAs; the context was created for ",
                 context.options().maxGrid, " (ContextOptions::maxGrid)");
  MK_ASSIGN(std::shared_ptr<const Payload> payload, Payload::load(package));
  if (meta.versions.empty()) {
    MK_ASSIGN(auto code, loadDeviceCode(context, meta, payload));
    kernel->versions_.push_back({std::move(payload), std::move(code)});
    return kernel;
  }
  MK_TRY(checkDevice(context, meta));
  kernel->selector_ = std::move(payload);
  for (size_t i = 0; i < package.numVersions(); ++i)
    kernel->packages_.push_back(package.version(i));
  kernel->versions_.resize(package.numVersions());
  return kernel;
}

/// A misspelt name would leave a dimension as the package has it.
static Status checkNames(const Metadata &metadata, std::span<const DimValue> dims) {
  for (const DimValue &dim : dims) {
    std::string names;
    bool known = false;
    for (const Metadata::Dim &d : metadata.dims) {
      known |= d.name == dim.name;
      names += (names.empty() ? "" : ", ") + d.name;
    }
    if (!known)
      return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel, "' has no dimension '",
                   dim.name, "'; it has ", names.empty() ? "none" : names);
  }
  return Status::success();
}

Result<size_t> Kernel::choose(std::span<const DimValue> dims) const {
  MK_TRY(context_.checkOpen());
  MK_TRY(checkNames(metadata_, dims));
  if (!selector_)
    return size_t(0);
  return selectVersion(metadata_, *selector_, context_.mesh(), context_.rank(), dims);
}

Status Kernel::loadVersion(size_t i) {
  if (versions_[i].code)
    return Status::success();
  MK_ASSIGN(std::shared_ptr<const Payload> payload, Payload::load(packages_[i]));
  MK_ASSIGN(versions_[i].code, loadDeviceCode(context_, packages_[i].metadata(), payload));
  versions_[i].payload = std::move(payload);
  return Status::success();
}

Result<std::unique_ptr<BoundKernel>>
Kernel::bind(std::span<const DimValue> dims) {
  MK_ASSIGN(size_t i, choose(dims));
  return bindVersion(dims, i);
}

Result<std::unique_ptr<BoundKernel>> Kernel::bindVersion(std::span<const DimValue> dims, size_t i) {
  MK_ASSIGN(size_t chosen, choose(dims));
  VersionPlace place = placeOf(metadata_, chosen);
  if (i < place.first || i >= place.end())
    return error(StatusCode::InvalidArgument, "kernel '", metadata_.kernel, "': version ", i,
                 " (from 0) is not for these dimensions, but ", place.first,
                 place.candidates == 1 ? std::string() : str(" to ", place.end() - 1),
                 ": give one that findFastest() or chooseVersion() names");
  MK_TRY(loadVersion(i));
  const Metadata &metadata = selector_ ? packages_[i].metadata() : metadata_;
  std::unique_ptr<BoundKernel> bound(
      new BoundKernel(context_, versions_[i].payload, versions_[i].code, metadata, i));
  MK_TRY(bound->bind(dims, metadata_, digest_));
  return bound;
}

BoundKernel::BoundKernel(Context &context,
                         std::shared_ptr<const Payload> payload,
                         std::shared_ptr<DeviceCode> code, Metadata metadata, size_t version)
    : context_(context), payload_(std::move(payload)), code_(std::move(code)),
      metadata_(std::move(metadata)), version_(version) {}

BoundKernel::~BoundKernel() = default;

Status BoundKernel::bind(std::span<const DimValue> dims, const Metadata &whole,
                         const Digest &digest) {
  MK_ASSIGN(plan_,
            JobPlan::create(metadata_, *payload_, context_.mesh(), dims));
  // Before memory is allocated, which ranks do together.
  MK_TRY(agree(describePlan(whole, digest), "bind the same package and dimensions on every rank"));
  std::string what = str("bind ", metadata_.kernel);
  auto bound = code_->bind(metadata_, plan_);
  // Before ranks meet for memory that peers reach, where one that has failed would be waited for.
  MK_TRY(agreeOnSuccess(context_, what, bound.status()));
  device_ = std::move(*bound);
  Status shared = device_->share();
  MK_TRY(agree(shared.isOk() ? describePlaces() : std::string(),
               "allocate, bind and destroy kernels in the same order on all ranks", shared));
  // Also the barrier behind which peers may raise this rank's signals.
  return agreeOnSuccess(context_, what, device_->choose());
}

std::string mk::rt::describeSizes(const Metadata &metadata, const Digest &digest,
                                  const std::function<std::vector<int64_t>(uint32_t)> &dimsOf,
                                  uint32_t world) {
  std::string text =
      str("package of kernel '", metadata.kernel, "'\t", toHex(digest).substr(0, 16), "\n");
  for (size_t i = 0; i < metadata.dims.size(); ++i) {
    // A per-rank dimension is known for all ranks by all ranks.
    text += "dimension '" + metadata.dims[i].name + "'\t";
    for (uint32_t r = 0; r < (metadata.dims[i].perRank ? world : 1); ++r)
      text += str(r ? ":" : "", dimsOf(r)[i]);
    text += "\n";
  }
  return text;
}

/// One line for each thing that must be equal, so that a difference has a name.
std::string BoundKernel::describePlan(const Metadata &whole, const Digest &digest) const {
  std::string text = describeSizes(
      metadata_, digest, [&](uint32_t r) { return plan_.dims(r); }, context_.world());
  // Follows from the package and the dimensions, unless the package's code is wrong.
  if (!whole.versions.empty()) {
    VersionPlace place = placeOf(whole, version_);
    text += str("version of kernel '", metadata_.kernel, "'\t", place.version + 1, " (",
                versionText(whole, version_));
    text += place.candidates > 1
                ? str(", candidate ", place.candidate + 1, " of ", place.candidates)
                : "";
    text += ")\n";
  }
  const Plan &own = plan_.plan(context_.rank());
  for (size_t i = 0; i < metadata_.signals.size(); ++i)
    if (metadata_.signals[i].sys)
      text += str("signal '", metadata_.signals[i].name, "'\t",
                  shapeText(own.signals[i].extents), ", ",
                  own.signals[i].arrivals < 0
                      ? std::string("dynamic")
                      : str(own.signals[i].arrivals, " arrivals"),
                  "\n");
  return text;
}

std::string BoundKernel::describePlaces() const {
  std::string text;
  for (size_t i = 0; i < metadata_.args.size(); ++i) {
    if (!metadata_.args[i].symmetric)
      continue;
    auto offset = context_.heap().offsetOf(data(i));
    text += str("symmetric argument '", metadata_.args[i].name, "'\t",
                plan_.symmetricBytes(i), " bytes ",
                offset ? str("at offset ", *offset) : "outside of the heap",
                "\n");
  }
  std::string slots;
  for (uint32_t slot : device_->slots())
    slots += str(slots.empty() ? "" : ", ", slot);
  return text + str("place of the signals of kernel '", metadata_.kernel, "'\tslots ", slots, "\n");
}

Status BoundKernel::agree(const std::string &text, std::string_view remedy, const Status &status) {
  return agreeOnLines(context_, str("bind ", metadata_.kernel), text, remedy, status);
}

size_t BoundKernel::index(std::string_view name) const {
  int index = metadata_.argIndex(name);
  return index < 0 ? kNoArgument : static_cast<size_t>(index);
}

Result<size_t> BoundKernel::find(std::string_view name) const {
  if (size_t arg = index(name); arg != kNoArgument)
    return arg;
  std::string names;
  for (const Metadata::Arg &arg : metadata_.args)
    names += (names.empty() ? "" : ", ") + arg.name;
  return error(StatusCode::InvalidArgument, "kernel '", metadata_.kernel, "' has no argument '",
               name, "'; it has ", names.empty() ? "none" : names);
}

Status BoundKernel::checkArg(size_t arg) const {
  if (arg < metadata_.args.size())
    return Status::success();
  return error(StatusCode::InvalidArgument, "kernel '", metadata_.kernel, "' has ",
               metadata_.args.size(), " arguments, none is number ", arg);
}

Status BoundKernel::checkMemory(size_t arg, const void *memory) const {
  MK_TRY(checkArg(arg));
  // An empty vector's data() may be null.
  if (memory || bytes(arg) == 0)
    return Status::success();
  return error(StatusCode::InvalidArgument, "argument '", metadata_.args[arg].name,
               "': the memory is null");
}

const Shard &BoundKernel::shard(size_t arg) const {
  return plan_.shard(arg, context_.rank());
}

uint64_t BoundKernel::bytes(size_t arg) const {
  return shard(arg).elements() * byteSize(metadata_.args[arg].type);
}

std::byte *BoundKernel::data(size_t arg) const { return device_->data(arg); }

std::byte *BoundKernel::hostData(size_t arg) const {
  return device_->hostData(arg);
}

/// Memory for a symmetric argument: what all ranks need of it must be there.
Status BoundKernel::checkShared(size_t arg, std::byte *data,
                                std::span<const int64_t> strides) const {
  const Metadata::Arg &a = metadata_.args[arg];
  auto refuse = [&](const auto &...why) {
    return error(StatusCode::InvalidArgument, "argument '", a.name, "' of kernel '",
                 metadata_.kernel, "' is symmetric, peers reach it: ", why...);
  };
  if (!strides.empty() &&
      !std::ranges::equal(strides, tightStrides(shard(arg).sizes)))
    return refuse("it is row-major and tight, strides cannot be given");
  if (metadata_.gpu && context_.device().kind() != DeviceKind::Gpu)
    return refuse("the context's symmetric memory is the host's; make the context "
                  "with ContextOptions::device = DeviceKind::Gpu");
  auto memory = context_.heap().allocationOf(data);
  if (!memory)
    return refuse("attach memory of Context::allocate, or the data of another "
                  "symmetric argument");
  uint64_t begin = *context_.heap().offsetOf(data) - memory->offset;
  if (begin % kSharedAlignment)
    return refuse("its memory begins ", begin, " bytes behind the start of ",
                  memory->what, ", which is no multiple of ", kSharedAlignment);
  uint64_t needed = plan_.symmetricBytes(arg);
  if (needed > memory->bytes - begin)
    return refuse("it needs ", needed, " bytes, as many as the largest part of all "
                  "ranks, and ", memory->what, " has ", memory->bytes - begin,
                  " from there on");
  for (size_t i = 0; i < metadata_.args.size(); ++i)
    if (i != arg && metadata_.args[i].symmetric && needed &&
        plan_.symmetricBytes(i) && this->data(i) < data + needed &&
        data < this->data(i) + plan_.symmetricBytes(i))
      return refuse("its memory would overlap that of argument '",
                    metadata_.args[i].name, "'");
  return Status::success();
}

Status BoundKernel::attach(size_t arg, void *data,
                           std::span<const int64_t> strides) {
  MK_TRY(checkArg(arg));
  MK_TRY(context_.abort().check());
  const Metadata::Arg &a = metadata_.args[arg];
  if (a.symmetric) {
    // Whatever is wrong here, other ranks wait for what this one says.
    Status status = checkShared(arg, static_cast<std::byte *>(data), strides);
    if (status.isOk())
      status = device_->settle(arg);
    uint64_t place = context_.heap().offsetOf(data).value_or(0);
    MK_TRY(agreeOn(context_, str("attach ", metadata_.kernel, ".", a.name), place, status,
                   [&](uint32_t r, const std::string &first, const std::string &other) {
                     return error(StatusCode::InvalidArgument,
                                  "ranks disagree: symmetric argument '", a.name,
                                  "' is attached at offset ", first,
                                  " of the symmetric memory on rank 0 and at ", other, " on rank ",
                                  r, ": attach the same place of what all ranks have allocated");
                   }));
    return device_->attach(arg, static_cast<std::byte *>(data), {});
  }
  if (!data || reinterpret_cast<uintptr_t>(data) % byteSize(a.type))
    return error(StatusCode::InvalidArgument, "argument '", a.name,
                 "': the memory is ",
                 data ? "not aligned to its element" : "null");
  if (!strides.empty() && strides.size() != a.rank)
    return error(StatusCode::InvalidArgument, "argument '", a.name, "' has ",
                 a.rank, " dimensions and was given ", strides.size(),
                 " strides: give one for each, or none");
  for (int64_t stride : strides)
    if (stride < 0)
      return error(StatusCode::InvalidArgument, "argument '", a.name,
                   "' was given the stride ", stride,
                   "; strides must not be negative");
  return device_->attach(arg, static_cast<std::byte *>(data), strides);
}

Status BoundKernel::upload(size_t arg, const void *from, void *stream) {
  MK_TRY(checkMemory(arg, from));
  return device_->upload(arg, from, stream);
}
Status BoundKernel::download(size_t arg, void *to, void *stream) {
  MK_TRY(checkMemory(arg, to));
  return device_->download(arg, to, stream);
}
Status BoundKernel::fill(size_t arg, std::byte value, void *stream) {
  MK_TRY(checkArg(arg));
  return device_->fill(arg, value, stream);
}
Status BoundKernel::fillRandom(size_t arg, const RandomValues &values,
                               void *stream) {
  MK_TRY(checkArg(arg));
  return device_->fillRandom(arg, values, stream);
}
static Status checkTimes(const LaunchOptions &options) {
  MK_TRY(checkTime("LaunchOptions::deadline", options.deadline));
  return checkTime("LaunchOptions::computeDeadline", options.computeDeadline);
}
Status BoundKernel::launch(const LaunchOptions &options) {
  MK_TRY(checkTimes(options));
  return device_->launch(options);
}
Status BoundKernel::synchronize(void *stream) {
  return device_->synchronize(stream);
}
Result<std::unique_ptr<LaunchGraph>>
BoundKernel::capture(const LaunchOptions &options) {
  MK_TRY(checkTimes(options));
  MK_TRY(context_.checkOpen());
  return device_->capture(options);
}
uint64_t BoundKernel::epoch() const { return device_->epoch(); }
const LaunchStats &BoundKernel::stats() const { return device_->stats(); }

Result<Timeline> BoundKernel::timeline() const {
  if (!metadata_.timeline)
    return error(StatusCode::FailedPrecondition, "kernel '", metadata_.kernel,
                 "' records no times: compile it with the option timeline");
  return device_->timeline();
}
