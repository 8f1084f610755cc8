//===- Engines.cpp - Copies by copy engines beside a kernel ---------------===//

#include "device/cuda/Engines.h"

#include <algorithm>
#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

bool Engines::areNeeded(const Metadata &metadata) {
  return std::ranges::any_of(metadata.roles, &Metadata::Role::engines);
}

Result<std::unique_ptr<Engines>> Engines::create(std::shared_ptr<Gpu> gpu) {
  std::unique_ptr<Engines> engines(new Engines(gpu));
  MK_ASSIGN(engines->open_, OpenKernel::load(gpu));
  MK_ASSIGN(engines->stream_, Stream::create(gpu));
  MK_TRY(engines->createEvent(engines->opened_));
  MK_TRY(engines->createEvent(engines->copied_));
  return engines;
}

Engines::~Engines() {
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  stream_ = Stream();
  for (EventHandle event : {opened_, copied_})
    if (event)
      driver.eventDestroy(event);
}

Status Engines::createEvent(EventHandle &event) const {
  Current current(*gpu_);
  return gpu_->driver().check(gpu_->driver().eventCreate(&event, kEventDisableTiming),
                              "cuEventCreate");
}

Status Engines::prepare(Context &context, const Metadata &metadata, const Plan &plan,
                        std::span<const EnginePut> puts, std::span<const uint64_t> values,
                        uint64_t ready, const mk_gpu_launch &launch) {
  // The first word is what `copied` becomes.
  std::vector<OpenWord> words = {{1, 1}};
  auto wordOf = [&](OpenWord word) {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i].arrivals == word.arrivals && words[i].number == word.number)
        return i;
    words.push_back(word);
    return words.size() - 1;
  };
  std::vector<size_t> wordOfPut;
  for (const EnginePut &put : puts)
    wordOfPut.push_back(
        put.signal < 0 ? 0 : wordOf({uint32_t(plan.signals[put.signal].arrivals), put.number}));

  // They follow from sizes, not from addresses: one allocation serves all.
  const Driver &driver = gpu_->driver();
  Current current(*gpu_);
  uint64_t valuesAt = words.size() * sizeof(OpenWord);
  if (!memory_.address()) {
    MK_ASSIGN(memory_,
              DeviceMemory::allocate(gpu_, valuesAt + 4 * words.size(),
                                     str("words for copies of kernel '", metadata.kernel, "'")));
    MK_TRY(driver.check(
        driver.memsetD8Async(memory_.address(), 0, valuesAt + 4 * words.size(), nullptr),
        "cuMemsetD8Async"));
    MK_TRY(driver.check(driver.memcpyHtoDAsync(memory_.address(), words.data(), valuesAt, nullptr),
                        "cuMemcpyHtoDAsync"));
    MK_TRY(driver.check(driver.streamSynchronize(nullptr), "cuStreamSynchronize"));
  }
  copiedWord_ = launch.control + offsetof(mk_gpu_control, copied);
  params_ = {launch.control,         launch.report, launch.job_abort,  0,
             launch.heaps,           ready,         memory_.address(), memory_.address() + valuesAt,
             uint32_t(words.size()), launch.rank,   launch.world,      0};

  steps_.clear();
  for (size_t i = 0; i < puts.size(); ++i) {
    const EnginePut &put = puts[i];
    Step step{put.copies, 0, 0, put.peer == context.rank()};
    if (put.signal >= 0) {
      uint64_t own = values[size_t(put.signal)] + 4 * put.element;
      step.to = step.isOwn ? own
                           : reinterpret_cast<uint64_t>(context.heap().peerPointer(
                                 put.peer, reinterpret_cast<const void *>(own)));
      step.from = params_.values + 4 * wordOfPut[i];
    }
    steps_.push_back(std::move(step));
  }
  return Status::success();
}

int Engines::enqueue(const Step &step, StreamHandle stream) const {
  const Driver &driver = gpu_->driver();
  for (const EnginePut::Copy &copy : step.copies) {
    int code;
    if (copy.rows == 1) {
      code = driver.memcpyDtoDAsync(copy.to, copy.from, copy.bytes, stream);
    } else {
      Copy2D rows;
      rows.srcDevice = copy.from;
      rows.srcPitch = copy.fromPitch;
      rows.dstDevice = copy.to;
      rows.dstPitch = copy.toPitch;
      rows.widthInBytes = copy.bytes;
      rows.height = copy.rows;
      code = driver.memcpy2DAsync(&rows, stream);
    }
    if (code != kSuccess)
      return code;
  }
  return step.to ? driver.memcpyDtoDAsync(step.to, step.from, 4, stream) : kSuccess;
}

int Engines::enqueueFront(StreamHandle stream, uint64_t deadline) const {
  const Driver &driver = gpu_->driver();
  OpenParams params = params_;
  params.deadline = deadline;
  int code = open_->launch(params, stream);
  auto then = [&](auto call) {
    if (code == kSuccess)
      code = call();
  };
  then([&] { return driver.eventRecord(opened_, stream); });
  StreamHandle copies = stream_.handle();
  then([&] { return driver.streamWaitEvent(copies, opened_, 0); });
  for (const Step &step : steps_)
    then([&] { return enqueue(step, step.isOwn ? stream : copies); });
  then([&] { return driver.memcpyDtoDAsync(copiedWord_, params_.values, 4, copies); });
  then([&] { return driver.eventRecord(copied_, copies); });
  return code;
}

int Engines::enqueueBehind(StreamHandle stream) const {
  return gpu_->driver().streamWaitEvent(stream, copied_, 0);
}
