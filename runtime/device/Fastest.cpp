//===- Fastest.cpp - Which of several candidates is the fastest -----------===//

#include "mkernel/Runtime/Fastest.h"

#include "device/Agreement.h"
#include "device/Device.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Versions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <thread>

using namespace mk::rt;

// Candidates are bound one after the other, since there may be memory for one alone; once forwards
// and once backwards, since clocks drift.
static constexpr int kPasses = 2;
static constexpr int kSamples = 3; // of a candidate in a pass
static constexpr double kSampleMs = 4;
static constexpr int kLeast = 2, kMost = 30; // launches of a sample
/// Another one where times come about in another way.
static constexpr char kWay[] = "1";

/// By what times are kept: all that they depend on. Collective, since devices of ranks may differ.
Result<Digest> Kernel::keyOfTimes(std::span<const std::vector<int64_t>> dims, size_t first) {
  MK_TRY(loadVersion(first));
  std::string device = versions_[first].code->model();
  if (device.empty())
    device = str(metadata_.cpu, ", ", std::thread::hardware_concurrency(), " processors");
  MK_ASSIGN(std::vector<std::string> devices, context_.allGather("devices of candidates", device));
  std::string sizes, mesh, where;
  for (const std::vector<int64_t> &ofRank : dims)
    for (int64_t size : ofRank)
      sizes += str(size, " ");
  for (const Axis &axis : context_.mesh().axes())
    mesh += str(axis.size, " ");
  for (const std::string &one : devices)
    where += one + "\n";
  const ContextOptions &options = context_.options();
  if (!context_.mesh().netPeers(context_.rank()).empty())
    where += options.transport + "," + options.transportOptions;
  return DiskCache::key(
      {"fastest", kWay, toHex(digest_), sizes, mesh, where, std::to_string(options.ranksPerGpu)});
}

static std::string pack(std::span<const CandidateTime> times) {
  std::string text;
  for (const CandidateTime &time : times) {
    char number[40];
    std::snprintf(number, sizeof(number), "%a ", time.ms);
    text += number;
  }
  return text;
}

/// Times of `count` candidates from `first` on; empty if the text has not as many.
static std::vector<CandidateTime> unpack(const std::string &text, size_t first, size_t count) {
  std::vector<CandidateTime> times;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    char *end = nullptr;
    double ms = std::strtod(word.c_str(), &end);
    if (*end || !std::isfinite(ms) || ms <= 0)
      return {};
    times.push_back({first + times.size(), ms});
  }
  if (times.size() != count)
    times.clear();
  return times;
}

static size_t fastestOf(std::span<const CandidateTime> times) {
  return std::min_element(times.begin(), times.end(),
                          [](const auto &a, const auto &b) { return a.ms < b.ms; })
      ->version;
}

static Status fillInputs(BoundKernel &bound, void *stream) {
  const std::vector<Metadata::Arg> &args = bound.metadata().args;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].kind == Metadata::ArgKind::In || args[i].kind == Metadata::ArgKind::InOut)
      MK_TRY(
          bound.fillRandom(i, RandomValues(args[i].type, RandomValues::keyOf({i}), 0, 1), stream));
  return Status::success();
}

/// Appends milliseconds of a launch.
Status Kernel::measure(BoundKernel &bound, const MeasureOptions &options, std::vector<double> &ms) {
  LaunchOptions launch;
  launch.stream = options.stream;
  launch.deadline = options.deadline;
  launch.computeDeadline = options.computeDeadline;
  // Where something fails on one rank the others must not launch, and wait.
  Status status = bound.device_->prepareTiming(launch);
  if (status.isOk())
    status = options.prepare ? options.prepare(bound) : fillInputs(bound, options.stream);
  MK_TRY(agreeOn(
      context_, "a candidate is prepared", /*place=*/0, status,
      [](uint32_t, const std::string &, const std::string &) { return Status::success(); }));
  // What is done once: a first launch loads, a second one may make a graph.
  for (int i = 0; i < 2; ++i)
    MK_TRY(bound.launch(launch));
  MK_TRY(bound.synchronize(options.stream));
  MK_ASSIGN(double guess, bound.device_->time(launch, 1));
  // As many launches on all ranks, which wait for each other.
  MK_ASSIGN(std::vector<std::string> guesses,
            context_.allGather("time of a launch", std::to_string(guess)));
  for (const std::string &one : guesses)
    guess = std::max(guess, std::atof(one.c_str()));
  int launches = int(std::clamp(kSampleMs / std::max(guess, 1e-6), double(kLeast), double(kMost)));
  for (int i = 0; i < kSamples; ++i) {
    MK_ASSIGN(double one, bound.device_->time(launch, launches));
    ms.push_back(one);
  }
  return Status::success();
}

Result<std::vector<CandidateTime>> Kernel::measureAll(std::span<const DimValue> dims, size_t first,
                                                      size_t count, const MeasureOptions &options) {
  std::vector<std::vector<double>> samples(count);
  for (int pass = 0; pass < kPasses; ++pass)
    for (size_t i = 0; i < count; ++i) {
      size_t candidate = pass % 2 ? count - 1 - i : i;
      auto bound = bindVersion(dims, first + candidate);
      Status status = bound ? measure(**bound, options, samples[candidate]) : bound.status();
      if (!status.isOk())
        return status.withContext(str("measuring ", versionName(metadata_, first + candidate)));
    }
  std::vector<CandidateTime> times;
  for (size_t i = 0; i < count; ++i) {
    auto middle = samples[i].begin() + samples[i].size() / 2;
    std::nth_element(samples[i].begin(), middle, samples[i].end());
    times.push_back({first + i, std::max(*middle, 1e-6)});
  }
  MK_ASSIGN(std::vector<std::string> all, context_.allGather("times of candidates", pack(times)));
  for (const std::string &text : all) {
    std::vector<CandidateTime> theirs = unpack(text, first, count);
    for (size_t i = 0; i < theirs.size(); ++i)
      times[i].ms = std::max(times[i].ms, theirs[i].ms);
  }
  return times;
}

Result<size_t> Kernel::findFastest(std::span<const DimValue> dims, const MeasureOptions &options,
                                   std::vector<CandidateTime> *times) {
  if (times)
    times->clear();
  MK_TRY(checkTime("MeasureOptions::deadline", options.deadline));
  MK_TRY(checkTime("MeasureOptions::computeDeadline", options.computeDeadline));
  MK_ASSIGN(size_t first, choose(dims));
  if (std::ranges::none_of(metadata_.versions, [](const auto &v) { return v.candidate != 0; }))
    return first;
  // Sizes of ranks that differ may be for versions with and without candidates.
  MK_ASSIGN(auto resolved, resolveDims(metadata_, context_.mesh(), dims));
  MK_TRY(agreeOnLines(
      context_, str("candidates of ", metadata_.kernel),
      describeSizes(
          metadata_, digest_, [&](uint32_t r) { return resolved[r]; }, context_.world()),
      "measure the same package and dimensions on every rank"));
  size_t count = placeOf(metadata_, first).candidates;
  if (count == 1)
    return first;
  std::vector<CandidateTime> found;
  if (auto it = fastest_.find(resolved); it != fastest_.end()) {
    found = it->second;
  } else {
    MK_ASSIGN(Digest key, keyOfTimes(resolved, first));
    const DiskCache cache = options.cache ? *options.cache : DiskCache::standard();
    std::string kept;
    if (context_.rank() == 0)
      if (auto bytes = cache.get("fastest", key))
        kept.assign(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    MK_ASSIGN(std::vector<std::string> all, context_.allGather("known times of candidates", kept));
    found = unpack(all[0], first, count);
    if (found.empty()) {
      MK_ASSIGN(found, measureAll(dims, first, count, options));
      std::string text = pack(found);
      if (context_.rank() == 0)
        if (Status put = cache.put("fastest", key, std::as_bytes(std::span(text))); !put.isOk())
          log::info("which candidate is the fastest is not kept: ", put.message());
    }
    fastest_.emplace(resolved, found);
    // The code of others takes memory of the GPU.
    for (size_t i = first; i < first + count; ++i)
      if (i != fastestOf(found) && versions_[i].code.use_count() == 1)
        versions_[i] = {};
  }
  if (times)
    *times = found;
  return fastestOf(found);
}

Result<std::unique_ptr<BoundKernel>> Kernel::bindFastest(std::span<const DimValue> dims,
                                                         const MeasureOptions &options,
                                                         std::vector<CandidateTime> *times) {
  MK_ASSIGN(size_t version, findFastest(dims, options, times));
  return bindVersion(dims, version);
}
