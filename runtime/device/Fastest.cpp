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

using namespace mk::rt;

// Candidates are bound one after the other, since there may be memory for one alone; once forwards
// and once backwards, since clocks drift.
static constexpr int kPasses = 2;
static constexpr int kSamples = 3; // of a candidate in a pass
static constexpr double kSampleMs = 4;
static constexpr int kLeast = 2, kMost = 30; // launches of a sample

/// What all ranks have to say alike for the measurement to be of one thing, and where it is kept.
static Digest keyOf(const Context &context, const std::string &device, const Digest &package,
                    std::span<const std::vector<int64_t>> dims) {
  std::string sizes, mesh;
  for (const std::vector<int64_t> &ofRank : dims)
    for (int64_t size : ofRank)
      sizes += str(size, " ");
  for (const Axis &axis : context.mesh().axes())
    mesh += str(axis.size, " ");
  return DiskCache::key({"fastest", toHex(package), sizes, mesh, device});
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
      MK_TRY(bound.fillRandom(i, RandomValues(args[i].type, RandomValues::keyOf({i}), 0, 1), stream));
  return Status::ok();
}

/// Appends milliseconds of a launch.
Status Kernel::measure(BoundKernel &bound, const MeasureOptions &options, std::vector<double> &ms) {
  // Where it fails on one rank the others must not launch, and wait.
  Status status = options.prepare ? options.prepare(bound) : fillInputs(bound, options.stream);
  MK_TRY(agreeOn(context_, "a candidate is prepared", /*place=*/0, status,
                 [](uint32_t, const std::string &, const std::string &) { return Status::ok(); }));
  LaunchOptions launch;
  launch.stream = options.stream;
  launch.deadline = options.deadline;
  MK_TRY(bound.launch(launch)); // what is done once is done
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
  return Status::ok();
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
  MK_ASSIGN(size_t first, choose(dims));
  size_t count = selector_ ? placeOf(metadata_, first).candidates : 1;
  if (count == 1)
    return first;
  MK_ASSIGN(auto resolved, resolveDims(metadata_, context_.mesh(), dims));
  MK_TRY(loadVersion(first));
  Digest key = keyOf(context_, versions_[first].code->model(), digest_, resolved);
  std::vector<CandidateTime> found;
  if (auto it = fastest_.find(key); it != fastest_.end()) {
    found = it->second;
  } else {
    const DiskCache cache = options.cache ? *options.cache : DiskCache::standard();
    std::string kept;
    if (context_.rank() == 0)
      if (auto bytes = cache.get("fastest", key))
        kept.assign(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    // What rank 0 knows, behind what all must have alike.
    MK_ASSIGN(std::vector<std::string> all,
              context_.allGather(str("candidates of ", metadata_.kernel), toHex(key) + "\t" + kept));
    for (uint32_t r = 1; r < all.size(); ++r)
      if (all[r].substr(0, all[r].find('\t')) != all[0].substr(0, all[0].find('\t')))
        return error(StatusCode::InvalidArgument, "ranks disagree: rank ", r,
                     " measures candidates of kernel '", metadata_.kernel,
                     "' for another package, other dimensions or on another device than rank 0: call "
                     "findFastest alike on every rank");
    found = unpack(all[0].substr(all[0].find('\t') + 1), first, count);
    if (found.empty()) {
      MK_ASSIGN(found, measureAll(dims, first, count, options));
      std::string text = pack(found);
      if (context_.rank() == 0)
        if (Status put = cache.put("fastest", key, std::as_bytes(std::span(text))); !put.isOk())
          log::info("which candidate is the fastest is not kept: ", put.message());
    }
    fastest_.emplace(key, found);
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
