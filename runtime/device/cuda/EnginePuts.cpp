//===- EnginePuts.cpp - What roles of copy engines put --------------------===//
//
// The roles are host code, which asks for puts as it would on the host target. Here they are taken
// down instead. Addresses are the GPU's: nothing in such a role looks at what is there.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/EnginePuts.h"

#include "device/host/RoleCalls.h"
#include "mkernel/ABI/HostCalls.h"
#include "package/Launch.h"

#include <algorithm>
#include <csetjmp>
#include <map>
#include <tuple>

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

/// More take longer to enqueue than anything they could save.
constexpr size_t kMostCopies = 1 << 16;
/// What copies by rows can have between these (CU_DEVICE_ATTRIBUTE_MAX_PITCH of all GPUs).
constexpr int64_t kLargestPitch = (int64_t(1) << 31) - 1;

class Recorder final : public host::RoleCalls {
public:
  Recorder(Context &context, const Metadata &metadata, const JobPlan &plan)
      : RoleCalls(metadata, plan, context.rank(), context.world()), context_(context) {}

  Status run(Payload::CtaFn role, const mk_launch &launch, uint32_t number) {
    cta_ = {};
    cta_.launch = &launch;
    cta_.count = 1;
    cta_.role = number;
    cta_.state = static_cast<RoleCalls *>(this);
    if (_setjmp(jump_) == 0)
      role(&cta_);
    return status_;
  }

  void unwind() override { _longjmp(jump_, 1); }
  bool fail(const char *, const std::string &text) override {
    status_ = error(StatusCode::InvalidArgument, "kernel '", about_.kernel, "', role '",
                    about_.roles[cta_.role].name, "' of copy engines: ", text);
    return false;
  }
  bool put(host::Region region, int64_t peer, int32_t signal, int64_t index,
           int32_t flags) override;

  std::vector<EnginePut> puts;

private:
  /// Where this device has the peer's part of what is at `own` here; null if it does not reach it.
  std::byte *atPeer(std::byte *own, uint32_t peer) const {
    return peer == self_ ? own : context_.heap().peerPointer(peer, static_cast<void *>(own));
  }

  Context &context_;
  mk_cta cta_ = {};
  jmp_buf jump_;
  size_t copies_ = 0; // of all puts, with those that raise signals
  Status status_ = Status::success();
};

/// Adds the copies of a simplified region to `dst`: rows where there are several.
void addCopies(const host::Region &region, std::byte *dst, std::vector<EnginePut::Copy> &copies) {
  host::Region one = region; // without the dimension that is copied by rows
  int rows = region.ndims - 1;
  if (region.dstStrides[rows] == 1 && region.srcStrides[rows] == 1)
    --rows;
  int64_t size = byteSize(region.type), count = 1, toPitch = 0, fromPitch = 0;
  int64_t width = rows + 1 < region.ndims ? region.sizes[rows + 1] * size : size;
  if (rows >= 0) {
    toPitch = region.dstStrides[rows] * size;
    fromPitch = region.srcStrides[rows] * size;
    if (std::min(toPitch, fromPitch) >= width && std::max(toPitch, fromPitch) <= kLargestPitch) {
      count = region.sizes[rows];
      one.sizes[rows] = 1;
    }
  }
  forEachRun(one, [&](const host::Run &run) {
    copies.push_back({reinterpret_cast<uint64_t>(dst + run.dst),
                      reinterpret_cast<uint64_t>(region.src + run.src), uint64_t(run.bytes),
                      uint64_t(count), uint64_t(toPitch), uint64_t(fromPitch)});
  });
}

bool Recorder::put(host::Region region, int64_t peer, int32_t signal, int64_t index,
                   int32_t flags) {
  if (!checkTarget(peer, signal, index))
    return false;
  if (region.listed || (flags & MK_PUT_ADD))
    return refuse(region.listed ? "mk.put rows" : "mk.put reduce");
  EnginePut put;
  put.peer = uint32_t(peer);
  put.signal = signal;
  put.element = uint64_t(index);
  std::byte *dst = atPeer(region.dst, put.peer);
  if (!dst)
    return fail("put", str("puts to rank ", peer,
                           ", whose memory this GPU does not address: put across a network from a "
                           "role with CTAs"));
  if (region.elements()) {
    region.simplify();
    addCopies(region, dst, put.copies);
  }
  copies_ += put.copies.size() + 1;
  if (copies_ > kMostCopies)
    return fail("put", str("makes more than ", kMostCopies,
                           " copies: put larger pieces, or give the role CTAs"));
  puts.push_back(std::move(put));
  return true;
}

/// Numbers arrivals: a copy writes what the element has counted up to, so nobody else may raise it.
Status numberArrivals(const Metadata &metadata, const Plan &plan, std::vector<EnginePut> &puts) {
  std::map<std::tuple<uint32_t, int32_t, uint64_t>, uint32_t> counts;
  for (EnginePut &put : puts)
    if (put.signal >= 0)
      put.number = ++counts[{put.peer, put.signal, put.element}];
  for (const auto &[where, count] : counts) {
    auto [peer, signal, element] = where;
    const Plan::Signal &array = plan.signals[size_t(signal)];
    if (array.arrivals == int64_t(count))
      continue;
    return error(
        StatusCode::InvalidArgument, "kernel '", metadata.kernel, "': copy engines raise ",
        elementName("signal", metadata.signals[size_t(signal)].name, array.extents,
                    int64_t(element)),
        " of rank ", peer, " ", count, count == 1 ? " time" : " times",
        " in a launch, and it is declared with ",
        array.arrivals < 0 ? std::string("any number of") : str(array.arrivals),
        array.arrivals == 1 ? " arrival" : " arrivals",
        ": they write what it has counted up to, so that all its arrivals have to be theirs; use "
        "a signal of their own, or give the role CTAs");
  }
  return Status::success();
}

} // namespace

Result<std::vector<EnginePut>> cuda::listEnginePuts(Context &context, const Payload &payload,
                                                    const Metadata &metadata, const JobPlan &plan,
                                                    std::span<const Tensor> args) {
  if (std::ranges::none_of(metadata.roles, &Metadata::Role::engines))
    return std::vector<EnginePut>();
  // Sites of this code are numbered by themselves.
  Metadata about = metadata;
  about.sites = metadata.engineSites;
  std::vector<std::vector<int64_t>> descriptors; // memref descriptors, see ABI/Launch.h
  std::vector<void *> pointers;
  for (const Tensor &arg : args) {
    std::vector<int64_t> &words = descriptors.emplace_back();
    words = {int64_t(arg.address), int64_t(arg.address), 0};
    words.insert(words.end(), arg.sizes.begin(), arg.sizes.end());
    words.insert(words.end(), arg.strides.begin(), arg.strides.end());
  }
  for (std::vector<int64_t> &words : descriptors)
    pointers.push_back(words.data());
  std::vector<int64_t> coords = context.mesh().coords(context.rank());
  mk_launch launch = makeLaunch(context.mesh(), context.rank(), coords, plan.dims(context.rank()));
  launch.args = pointers.data();
  Recorder recorder(context, about, plan);
  for (size_t i = 0; i < metadata.roles.size(); ++i)
    if (metadata.roles[i].engines)
      MK_TRY(recorder.run(payload.roles[i], launch, uint32_t(i)));
  MK_TRY(numberArrivals(metadata, plan.plan(context.rank()), recorder.puts));
  return std::move(recorder.puts);
}
