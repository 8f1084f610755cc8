//===- Binding.cpp - A bound kernel on a GPU ------------------------------===//

#include "device/cuda/Binding.h"

#include "device/Launches.h"
#include "device/cuda/Network.h"
#include "device/cuda/Report.h"
#include "mkernel/Runtime/Log.h"
#include "package/Launch.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

using namespace mk::rt;
using namespace mk::rt::cuda;


static StreamHandle handle(void *stream) {
  return static_cast<StreamHandle>(stream);
}

Binding::Binding(Context &context, std::shared_ptr<Gpu> device, VariantCode code,
                 std::shared_ptr<const Payload> payload, const Metadata &metadata,
                 const JobPlan &plan)
    : context_(context), device_(std::move(device)), code_(std::move(code)),
      payload_(std::move(payload)), metadata_(metadata), plan_(plan),
      own_(plan.plan(context.rank())) {}

Binding::~Binding() {
  // Launches may be under way that use memory of the heap, look at the abort word and
  // have reports to write.
  Current current(*device_);
  device_->driver().ctxSynchronize();
  context_.launches().unbind(kernel_);
  if (jobAbort_) {
    context_.abort().removeMirror(jobAbort_);
    context_.abort().check().ignore();
    context_.abort().removeProbe(this);
    context_.launches().unwatch(this);
  }
}

uint64_t Binding::bytes(size_t arg) const {
  return uint64_t(plan_.shard(arg, context_.rank()).elements()) *
         byteSize(metadata_.args[arg].type);
}

bool Binding::isShared(size_t arg) const {
  return metadata_.args[arg].symmetric && context_.device().kind() == DeviceKind::Gpu;
}

Status Binding::allocate() {
  kernel_ = context_.launches().bind(dimsText(metadata_, plan_.dims(context_.rank())));
  size_t numArgs = metadata_.args.size();
  owned_.resize(numArgs);
  shared_.resize(numArgs);
  tensors_.resize(numArgs);
  for (size_t i = 0; i < numArgs; ++i) {
    const std::vector<int64_t> &sizes = plan_.shard(i, context_.rank()).sizes;
    tensors_[i] = {0, metadata_.args[i].type, sizes, tightStrides(sizes)};
  }
  // Also without a tensor map their places are 32-bit numbers.
  for (const Metadata::TensorMap &map : metadata_.gpu->variants.back().tensorMaps)
    MK_TRY(checkExtents(tensors_[map.arg], metadata_.args[map.arg].name));
  for (size_t i = 0; i < numArgs; ++i) {
    if (isShared(i))
      continue;
    MK_ASSIGN(owned_[i], DeviceMemory::allocate(device_, bytes(i),
                                                str("argument '", metadata_.args[i].name, "'")));
    tensors_[i].address = owned_[i].address();
  }
  for (const Metadata::Variant &variant : metadata_.gpu->variants)
    variants_.emplace_back(metadata_, variant);
  if (metadata_.timeline)
    MK_TRY(tracks_.allocate(device_, metadata_));
  constexpr uint64_t abortAt = 64;
  static_assert(sizeof(mk_gpu_report) <= abortAt);
  MK_ASSIGN(pinned_, PinnedMemory::allocate(device_, 2 * abortAt));
  report_ = reinterpret_cast<mk_gpu_report *>(pinned_.host());
  jobAbort_ = new (pinned_.host() + abortAt) std::atomic<uint32_t>(0);
  context_.abort().addMirror(jobAbort_);
  context_.abort().addProbe(this, [this] { return readReport(); });
  if (context_.world() > 1)
    context_.launches().watch(this, metadata_.kernel,
                              [this](uint32_t rank) { return isIn(rank); });

  launch_.report = pinned_.address();
  launch_.job_abort = pinned_.address() + abortAt;
  launch_.rank = context_.rank();
  launch_.world = context_.world();
  return Status::success();
}

Status Binding::share() {
  for (size_t i = 0; i < metadata_.args.size(); ++i) {
    if (!isShared(i))
      continue;
    MK_ASSIGN(shared_[i], HeapMemory::allocate(context_.heap(), plan_.symmetricBytes(i),
                                               str("argument '", metadata_.args[i].name, "'")));
    tensors_[i].address = reinterpret_cast<uint64_t>(shared_[i].data());
  }
  for (Variant &variant : variants_)
    MK_TRY(variant.allocate(context_, device_, plan_));
  return Status::success();
}

std::vector<uint32_t> Binding::slots() const {
  std::vector<uint32_t> first;
  for (const Variant &variant : variants_)
    variant.peers().listSlots(first);
  return first;
}

Status Binding::choose() {
  uint64_t taken = 0; // a bit for each variant
  {
    Current current(*device_);
    for (size_t i = 0; i < variants_.size(); ++i)
      taken |= uint64_t(variants_[i].takes(tensors_)) << i;
  }
  if (context_.world() > 1 && variants_.size() > 1) {
    MK_ASSIGN(std::vector<std::string> all,
              context_.allGather(str("variant of ", metadata_.kernel), str(taken)));
    for (const std::string &theirs : all)
      taken &= std::strtoull(theirs.c_str(), nullptr, 10);
  }
  graph_.reset();
  launched_ = false;
  // The last one takes everything.
  chosen_ = std::min<size_t>(std::countr_zero(taken), variants_.size() - 1);
  log::debug("kernel '", metadata_.kernel, "' runs in its variant ",
             variants_[chosen_].about().name);
  MK_ASSIGN(std::vector<EnginePut> puts,
            listEnginePuts(context_, *payload_, metadata_, plan_, tensors_));
  return variants_[chosen_].prepare(
      context_, plan_, puts, [&] { return code_(chosen_); }, launch_,
      metadata_.timeline ? tracks_.address() : 0);
}

/// Two dimensions of an array, of which some elements have one address; nothing where none have.
/// Of more than two dimensions those are not found that only three together show.
static std::optional<std::pair<size_t, size_t>> findOverlap(std::span<const int64_t> sizes,
                                                            std::span<const int64_t> strides) {
  for (size_t d = 0; d < sizes.size(); ++d)
    for (size_t e = d; e < sizes.size() && sizes[d] > 1; ++e) {
      if (d == e ? strides[d] == 0
                 : sizes[e] > 1 && strides[d] && strides[e] &&
                       strides[e] / std::gcd(strides[d], strides[e]) < sizes[d] &&
                       strides[d] / std::gcd(strides[d], strides[e]) < sizes[e])
        return std::pair(d, e);
    }
  return std::nullopt;
}

Status Binding::checkReach(size_t arg, const std::byte *data,
                           std::span<const int64_t> strides) const {
  const Metadata::Arg &a = metadata_.args[arg];
  const std::vector<int64_t> &sizes = tensors_[arg].sizes;
  auto refuse = [&](const auto &...why) {
    return error(StatusCode::InvalidArgument, "argument '", a.name, "' of ", shapeText(sizes),
                 " elements with strides ", shapeText(strides), ": ", why...);
  };
  auto overlap = a.kind == Metadata::ArgKind::In ? std::nullopt : findOverlap(sizes, strides);
  if (overlap && overlap->first == overlap->second)
    return refuse("the kernel writes it, and all elements along dimension ", overlap->first,
                  " would have one address: give a stride of at least 1");
  if (overlap)
    return refuse("the kernel writes it, and elements of dimensions ", overlap->first, " and ",
                  overlap->second, " would have one address: give strides that keep them apart");
  auto begin = reinterpret_cast<uint64_t>(data);
  unsigned __int128 end = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    end += static_cast<unsigned __int128>(sizes[d] - 1) * uint64_t(strides[d]);
  // Of 64 bits each: sums of products, and their bytes, fit.
  end = end * byteSize(a.type) + begin;
  if (end > UINT64_MAX)
    return refuse("its last element would lie behind all addresses: give smaller strides");
  uint64_t last = uint64_t(end), has = begin;
  Heap &heap = context_.heap();
  if (context_.device().kind() == DeviceKind::Gpu && heap.contains(data)) {
    auto memory = heap.allocationOf(data);
    has = reinterpret_cast<uint64_t>(heap.base()) +
          (memory ? memory->offset + memory->bytes : heap.backed());
  } else {
    // What is mapped in parts has several ranges in a row.
    uint64_t from = 0;
    size_t size = 0;
    while (has < last && device_->driver().memGetAddressRange(&from, &size, has) == kSuccess &&
           from + size > has)
      has = from + size;
    if (has == begin) // the driver cannot tell
      return Status::success();
  }
  if (has >= last)
    return Status::success();
  return refuse("it takes ", last - begin, " bytes, and the memory has ", has - begin,
                " from there on: attach as much as it takes, or give smaller strides");
}

Status Binding::attach(size_t arg, std::byte *data,
                       std::span<const int64_t> strides) {
  const Driver &driver = device_->driver();
  Current current(*device_);
  auto address = reinterpret_cast<uint64_t>(data);
  bool inHeap = context_.device().kind() == DeviceKind::Gpu &&
                context_.heap().contains(data);
  int kind = 0;
  // Memory of malloc is unknown to the driver; some GPUs reach it all the same.
  if (bytes(arg) && !inHeap &&
      driver.pointerGetAttribute(&kind, kPointerMemoryType, address) !=
          kSuccess &&
      !device_->attribute(kPageableMemoryAccess))
    return error(StatusCode::InvalidArgument, "argument '",
                 metadata_.args[arg].name, "': ", device_->name(),
                 " does not reach the memory: attach memory of the GPU, or "
                 "copy the values to the argument's own with upload()");
  Tensor &tensor = tensors_[arg];
  std::vector<int64_t> used = strides.empty()
                                  ? tightStrides(tensor.sizes)
                                  : std::vector<int64_t>(strides.begin(), strides.end());
  if (bytes(arg))
    MK_TRY(checkReach(arg, data, used));
  tensor.address = address;
  tensor.strides = std::move(used);
  // What it has of its own may be given to it again.
  uint64_t own = owned_[arg].address();
  if (address < own || address - own > bytes(arg))
    owned_[arg].reset();
  if (data != shared_[arg].data())
    shared_[arg].reset();
  return choose();
}

Status Binding::settle(size_t arg) {
  if (!shared_[arg])
    return Status::success();
  Current current(*device_);
  return check(device_->driver().ctxSynchronize(),
               str("waiting for kernel '", metadata_.kernel, "'"));
}

Status Binding::checkTight(size_t arg, std::string_view what) const {
  const Tensor &tensor = tensors_[arg];
  std::vector<int64_t> tight = tightStrides(tensor.sizes);
  for (size_t d = 0; d < tight.size(); ++d)
    if (tensor.sizes[d] > 1 && tensor.strides[d] != tight[d])
      return error(StatusCode::FailedPrecondition, "argument '",
                   metadata_.args[arg].name,
                   "' was attached with strides: ", what,
                   " tight memory only: copy it yourself");
  return Status::success();
}

Status Binding::upload(size_t arg, const void *from, void *stream) {
  MK_TRY(context_.abort().check());
  if (bytes(arg) == 0)
    return Status::success();
  MK_TRY(checkTight(arg, "upload() writes"));
  Current current(*device_);
  const Driver &driver = device_->driver();
  MK_TRY(check(driver.memcpyHtoDAsync(tensors_[arg].address, from, bytes(arg),
                                      handle(stream)),
               str("copying argument '", metadata_.args[arg].name,
                   "' to the GPU")));
  MK_TRY(check(driver.streamSynchronize(handle(stream)), "cuStreamSynchronize"));
  return context_.abort().check();
}

Status Binding::download(size_t arg, void *to, void *stream) {
  MK_TRY(context_.abort().check());
  if (bytes(arg) == 0)
    return synchronize(stream);
  MK_TRY(checkTight(arg, "download() reads"));
  Current current(*device_);
  const Driver &driver = device_->driver();
  MK_TRY(check(driver.memcpyDtoHAsync(to, tensors_[arg].address, bytes(arg),
                                      handle(stream)),
               str("copying argument '", metadata_.args[arg].name,
                   "' from the GPU")));
  return synchronize(stream);
}

Status Binding::fill(size_t arg, std::byte value, void *stream) {
  MK_TRY(context_.abort().status());
  if (bytes(arg) == 0)
    return Status::success();
  MK_TRY(checkTight(arg, "fill() writes"));
  Current current(*device_);
  return check(device_->driver().memsetD8Async(
                   tensors_[arg].address, static_cast<unsigned char>(value),
                   bytes(arg), handle(stream)),
               str("filling argument '", metadata_.args[arg].name, "'"));
}

Status Binding::fillRandom(size_t arg, const RandomValues &values, void *stream) {
  MK_TRY(context_.abort().status());
  if (bytes(arg) == 0)
    return Status::success();
  MK_TRY(checkTight(arg, "fillRandom() writes"));
  ShardLayout layout = ShardLayout::of(plan_.shard(arg, context_.rank()));
  Current current(*device_);
  if (!random_ && !fillsOnHost_) {
    auto loaded = RandomKernel::load(device_);
    if (loaded.isOk())
      random_ = std::move(*loaded);
    else
      log::info("random values are made by the host: ", loaded.status().message());
    fillsOnHost_ = !random_;
  }
  if (!random_ || !RandomKernel::takes(layout)) {
    std::vector<std::byte> local;
    try {
      local.resize(bytes(arg));
    } catch (const std::bad_alloc &) {
      return error(StatusCode::ResourceExhausted, "argument '", metadata_.args[arg].name,
                   "': there is no memory of the host for a copy of its ", bytes(arg),
                   " bytes: give smaller sizes, or raise the limit of memory (ulimit -v)");
    }
    values.fill(layout, local.data());
    return upload(arg, local.data(), stream);
  }
  return check(random_->launch(values, layout, tensors_[arg].address, handle(stream)),
               str("filling argument '", metadata_.args[arg].name, "'"));
}

Status Binding::enqueue(const LaunchOptions &options) {
  deadline_ = options.deadline;
  Variant &variant = variants_[chosen_];
  variant.params().launch().deadline_ns = uint64_t(std::max<int64_t>(options.deadline.count(), 1));
  // All CTAs at a time, or as soon as there is room: the kernel itself waits for
  // what comes before it in the stream.
  LaunchAttribute how[2];
  uint32_t attributes = 0;
  if (variant.about().cooperative) {
    how[attributes].id = LaunchAttribute::kCooperative;
    how[attributes++].value.cooperative = 1;
  }
  if (!variant.about().cooperative || variant.hasCopies()) {
    how[attributes].id = LaunchAttribute::kProgrammaticSerialization;
    how[attributes++].value.programmaticSerialization = 1;
  }
  LaunchConfig config;
  config.grid[0] = variant.about().grid;
  config.block[0] = variant.about().threads;
  config.sharedBytes = uint32_t(variant.about().sharedBytes);
  config.stream = handle(options.stream);
  config.attributes = how;
  config.numAttributes = attributes;
  MK_TRY(check(variant.enqueueFront(config.stream),
               str("copying for kernel '", metadata_.kernel, "'")));
  void *parameters[] = {variant.params().data()};
  MK_TRY(check(device_->driver().launchKernelEx(&config, variant.function(), parameters, nullptr),
               str("launching kernel '", metadata_.kernel, "'")));
  return check(variant.enqueueBehind(config.stream),
               str("waiting for copies of kernel '", metadata_.kernel, "'"));
}

Status Binding::begin(StreamHandle stream, bool timed,
                      const std::function<Status()> &start) {
  MK_TRY(context_.checkOpen());
  MK_TRY(context_.abort().check());
  Current current(*device_);
  auto *network = static_cast<GpuNetwork *>(context_.network());
  if (network) {
    MK_TRY(network->awaitRoom(stream, context_.abort()));
    MK_TRY(network->order(stream));
  }
  if (timed && !watch_) {
    MK_ASSIGN(watch_, Stopwatch::create(device_));
  }
  if (timed)
    MK_TRY(check(watch_.begin(stream), "cuEventRecord"));
  begin_ = Deadline::Clock::now();
  // Counted before it is enqueued: others may ask at once which launch this rank is in.
  ++epoch_;
  if (context_.world() > 1)
    context_.launches().begin(kernel_, metadata_.kernel);
  if (Status status = start(); !status.isOk()) {
    --epoch_;
    if (context_.world() > 1)
      context_.launches().withdraw();
    return status;
  }
  if (timed)
    MK_TRY(check(watch_.end(stream), "cuEventRecord"));
  if (network)
    MK_TRY(network->launched(stream));
  watching_ = timed;
  return Status::success();
}

// The default stream cannot capture, and must not be asked while others do.
bool Binding::isCapturing(StreamHandle stream) const {
  if (reinterpret_cast<uintptr_t>(stream) <= kLegacyStream)
    return false;
  int capturing = 0;
  Current current(*device_);
  return device_->driver().streamIsCapturing(stream, &capturing) == kSuccess && capturing;
}

Status Binding::launch(const LaunchOptions &options) {
  if (variants_[chosen_].hasCopies() && !isCapturing(handle(options.stream)))
    return launchAsGraph(options);
  MK_TRY(begin(handle(options.stream), options.timed,
               [&] { return enqueue(options); }));
  // Into a graph of the program's own.
  if (context_.world() > 1 && isCapturing(handle(options.stream)))
    context_.launches().noteCaptured();
  return Status::success();
}

// Copies take microseconds each to enqueue, a graph of all of them not many more. The first launch
// with these arguments may be the only one.
Status Binding::launchAsGraph(const LaunchOptions &options) {
  if (!launched_) {
    launched_ = true;
    return begin(handle(options.stream), options.timed, [&] { return enqueue(options); });
  }
  if (!graph_ || graphDeadline_ != options.deadline || graphTimed_ != options.timed) {
    MK_ASSIGN(graph_, capture(options));
    graphDeadline_ = options.deadline;
    graphTimed_ = options.timed;
  }
  return graph_->launch(options.stream);
}

Status Binding::synchronize(void *stream) {
  MK_TRY(context_.abort().check());
  Current current(*device_);
  MK_TRY(check(device_->driver().streamSynchronize(handle(stream)),
               str("waiting for kernel '", metadata_.kernel, "'")));
  ended_ = steadyNow();
  stats_.wallMs =
      std::chrono::duration<double, std::milli>(Deadline::Clock::now() - begin_)
          .count();
  if (std::exchange(watching_, false))
    MK_TRY(check(watch_.elapsed(stats_.deviceMs), "cuEventElapsedTime"));
  return context_.abort().check();
}

Status Binding::prepareTiming(const LaunchOptions &options) {
  if (isCapturing(handle(options.stream)))
    return error(StatusCode::FailedPrecondition, "kernel '", metadata_.kernel,
                 "' cannot be measured on a stream that captures: give another stream, or find the "
                 "fastest candidate before the capture");
  if (!sweep_) {
    MK_ASSIGN(sweep_, SweepKernel::load(device_));
    MK_ASSIGN(timing_, Stopwatch::create(device_));
  }
  return Status::success();
}

// What the sweeps take alone is measured in the same way. While one runs the next launch is
// enqueued, so that a short kernel does not wait for the host.
Result<double> Binding::time(const LaunchOptions &options, int launches) {
  LaunchOptions untimed = options;
  untimed.timed = false;
  auto run = [&](bool sweepsAlone) -> Result<double> {
    Current current(*device_);
    double ms = 0;
    MK_TRY(check(timing_.begin(handle(options.stream)), "cuEventRecord"));
    for (int i = 0; i < launches; ++i) {
      MK_TRY(check(sweep_->launch(handle(options.stream)), "clearing the cache"));
      if (!sweepsAlone)
        MK_TRY(launch(untimed));
    }
    MK_TRY(check(timing_.end(handle(options.stream)), "cuEventRecord"));
    MK_TRY(synchronize(options.stream));
    MK_TRY(check(timing_.elapsed(ms), "cuEventElapsedTime"));
    return ms;
  };
  MK_ASSIGN(double all, run(false));
  MK_ASSIGN(double sweeps, run(true));
  return std::max(all - sweeps, 0.0) / launches;
}

Result<Timeline> Binding::timeline() {
  MK_TRY(context_.abort().check());
  Current current(*device_);
  return tracks_.read(metadata_, ended_);
}

Status Binding::check(int code, std::string_view what) {
  if (code == kSuccess)
    return Status::success();
  return isFatal(code) ? fail(code, what)
                       : device_->driver().check(code, what);
}

std::optional<AbortRecord> Binding::readReport() const {
  // Stored last, by a kernel that comes to its end all the same.
  if (__atomic_load_n(&report_->written, __ATOMIC_ACQUIRE) == 0)
    return std::nullopt;
  std::string text = reportText(*report_, metadata_, own_, deadline_);
  if (isWait(*report_))
    text += context_.launches().explain(this);
  return AbortRecord::now(static_cast<int32_t>(context_.rank()),
                          isWait(*report_) ? "wait" : "bounds",
                          std::move(text));
}

// Once, for a report. Kernels may have the GPU to themselves, so by a copy beside them.
bool Binding::isIn(uint32_t rank) const {
  const Driver &driver = device_->driver();
  Current current(*device_);
  auto words = PinnedMemory::allocate(device_, 2 * sizeof(uint32_t));
  StreamHandle stream = nullptr;
  std::span<const SharedSignal> signals = variants_[chosen_].peers().signals();
  if (!words || signals.size() < 2 ||
      driver.streamCreate(&stream, kStreamNonBlocking))
    return false;
  const SharedSignal *ready = &signals[signals.size() - 2], *done = ready + 1;
  auto copy = [&](uint64_t from, size_t to) {
    return driver.memcpyDtoHAsync(words->host() + to * sizeof(uint32_t), from, sizeof(uint32_t),
                                  stream);
  };
  bool failed = copy(done->values + 4 * uint64_t(rank), 1) ||
                copy(ready->values + 4 * uint64_t(rank), 0) ||
                driver.streamSynchronize(stream);
  driver.streamDestroy(stream);
  if (failed)
    return false;
  uint32_t seen[2];
  std::memcpy(seen, words->host(), sizeof(seen));
  return static_cast<int32_t>(seen[0] - seen[1]) > 0;
}

Status Binding::fail(int code, std::string_view what) {
  std::string lost =
      str("; ", device_->name(), " serves this process no longer");
  std::optional<AbortRecord> record = readReport();
  if (record)
    record->text += lost;
  else
    record = AbortRecord::now(
        static_cast<int32_t>(context_.rank()), "launch",
        str(what, ": ", device_->driver().describe(code), lost,
            "; compute-sanitizer shows where it happened"));
  context_.abort().raise(std::move(*record));
  return context_.abort().status();
}
