//===- JobPlan.cpp - Plans of all ranks, and the shards they imply --------===//

#include "mkernel/Runtime/HostHeap.h"
#include "mkernel/Runtime/Plan.h"

#include <algorithm>

using namespace mk::rt;

namespace {

/// Which extents depend on a per-rank dimension, and so are local: whichever
/// change when such a dimension does. Several steps up and down, because a
/// ceiling division hides a small one and a requirement may refuse another.
std::vector<std::vector<bool>>
findPerRank(const Metadata &metadata, const Payload &payload, const Mesh &mesh,
            std::span<const Plan> plans,
            std::span<const std::vector<int64_t>> dims) {
  std::vector<std::vector<bool>> result;
  for (const auto &arg : metadata.args)
    result.push_back(arg.local.empty() ? std::vector<bool>(arg.rank, false)
                                       : arg.local);
  auto compare = [&](const Plan &a, const Plan &b) {
    for (size_t i = 0; i < result.size(); ++i)
      for (size_t d = 0; metadata.args[i].local.empty() && d < result[i].size();
           ++d)
        if (a.args[i][d] != b.args[i][d])
          result[i][d] = true;
  };
  for (size_t i = 0; i < metadata.dims.size(); ++i) {
    if (!metadata.dims[i].perRank)
      continue;
    int64_t value = dims[0][i];
    for (int64_t other :
         {value + 1, value + 7, value + 128, value + 4096, value - 1, value - 7,
          value - 128, value / 2, int64_t(1), int64_t(0), value * 2}) {
      if (other < 0 || other == value)
        continue;
      std::vector<int64_t> moved = dims[0];
      moved[i] = other;
      if (auto plan = evaluatePlan(metadata, payload, mesh, 0, moved))
        compare(plans[0], *plan);
    }
  }
  return result;
}

uint64_t roundUp(uint64_t bytes) {
  return std::max<uint64_t>(1,
                            (bytes + Heap::kAlignment - 1) / Heap::kAlignment) *
         Heap::kAlignment;
}

} // namespace

Result<JobPlan> JobPlan::create(const Metadata &metadata,
                                const Payload &payload, const Mesh &mesh,
                                std::span<const DimValue> bind) {
  if (!payload.plan)
    return error(StatusCode::FailedPrecondition, "the package of kernel '", metadata.kernel,
                 "' has ", metadata.versions.size(), " versions, each with a plan of its own: take "
                 "that of the one which chooseVersion (mkernel/Runtime/Versions.h) names");
  JobPlan job;
  job.metadata_ = &metadata;
  job.world_ = mesh.size();
  MK_ASSIGN(job.dims_, resolveDims(metadata, mesh, bind));
  for (uint32_t r = 0; r < mesh.size(); ++r) {
    MK_ASSIGN(Plan plan,
              evaluatePlan(metadata, payload, mesh, r, job.dims_[r]));
    job.plans_.push_back(std::move(plan));
  }
  MK_TRY(job.layOut(
      mesh, findPerRank(metadata, payload, mesh, job.plans_, job.dims_)));
  return job;
}

Status JobPlan::layOut(const Mesh &mesh,
                       const std::vector<std::vector<bool>> &perRank) {
  size_t numArgs = metadata_->args.size();
  shards_.resize(numArgs);
  copy_.resize(numArgs);
  copies_.resize(numArgs);
  for (size_t i = 0; i < numArgs; ++i) {
    const auto &arg = metadata_->args[i];
    std::vector<std::string> others; // axes that split no dimension
    for (const Axis &axis : mesh.axes())
      if (std::none_of(arg.split.begin(), arg.split.end(), [&](auto &axes) {
            return std::find(axes.begin(), axes.end(), axis.name) != axes.end();
          }))
        others.push_back(axis.name);
    for (uint32_t r = 0; r < world_; ++r) {
      MK_ASSIGN(Mesh::Shard copy, mesh.shard(r, others));
      copy_[i].push_back(static_cast<uint32_t>(copy.index));
      copies_[i] = static_cast<uint32_t>(copy.count);
      Shard shard;
      for (size_t d = 0; d < arg.rank; ++d) {
        MK_ASSIGN(Mesh::Shard s, mesh.shard(r, arg.split[d]));
        int64_t extent = plans_[r].args[i][d], begin = 0, global = extent;
        if (!perRank[i][d]) {
          Range range = splitRange(extent, s.count, s.index);
          begin = range.begin;
          extent = range.size();
        } else if (!arg.split[d].empty()) {
          // Shards of different sizes lie in sequence; those of this
          // row of ranks count.
          global = 0;
          std::vector<std::string> rest;
          for (const Axis &axis : mesh.axes())
            if (std::find(arg.split[d].begin(), arg.split[d].end(),
                          axis.name) == arg.split[d].end())
              rest.push_back(axis.name);
          MK_ASSIGN(Mesh::Shard mine, mesh.shard(r, rest));
          for (uint32_t q = 0; q < world_; ++q) {
            MK_ASSIGN(Mesh::Shard theirs, mesh.shard(q, rest));
            MK_ASSIGN(Mesh::Shard at, mesh.shard(q, arg.split[d]));
            if (theirs.index != mine.index)
              continue;
            global += plans_[q].args[i][d];
            if (at.index < s.index)
              begin += plans_[q].args[i][d];
          }
        }
        shard.sizes.push_back(extent);
        shard.global.push_back(global);
        shard.begin.push_back(begin);
      }
      // Of each rank few enough; what they make up need not be.
      if (shard.elements() < 0 || shard.globalElements() < 0)
        return error(StatusCode::OutOfRange, "kernel '", metadata_->kernel,
                     "': argument '", arg.name, "' would be ",
                     shapeText(shard.global), " on all ranks together: elements "
                     "have to be at most 2^46; give other sizes");
      shards_[i].push_back(std::move(shard));
    }
    // An address of one rank names the same element at another only if rows are
    // equally long everywhere. Nobody writes to another rank's inputs.
    bool addressed = arg.symmetric && arg.kind != Metadata::ArgKind::In;
    for (uint32_t r = 1; addressed && r < world_; ++r)
      for (size_t d = 1; d < arg.rank; ++d)
        if (shards_[i][r].sizes[d] != shards_[i][0].sizes[d])
          return error(StatusCode::FailedPrecondition, "symmetric argument '", arg.name, "' has ",
                       shards_[i][0].sizes[d], " elements in dimension ", d, " on rank 0 and ",
                       shards_[i][r].sizes[d], " on rank ", r,
                       ": only its first dimension may be split unevenly, or "
                       "that of an argument of kind in, which peers do not write; give "
                       "a multiple of the ranks, or let peers write to scratch of whole "
                       "shards");
  }
  return Status::success();
}

uint64_t JobPlan::symmetricBytes(size_t arg) const {
  int64_t largest = 0;
  for (const Shard &shard : shards_[arg])
    largest = std::max(largest, shard.elements());
  return largest * byteSize(metadata_->args[arg].type);
}

uint64_t JobPlan::heapBytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < metadata_->args.size(); ++i)
    if (metadata_->args[i].symmetric)
      bytes += roundUp(symmetricBytes(i));
  // Header page and slots come first; the slots' page may be partly used.
  return HostHeap::kSignalOffset + uint64_t(slots()) * 8 + 4096 + bytes;
}

uint32_t JobPlan::slots() const {
  // Two for each peer: it is ready, it is done.
  int64_t slots = 2 * int64_t(world_);
  for (size_t i = 0; i < metadata_->signals.size(); ++i)
    if (metadata_->signals[i].sys)
      slots += plans_[0].signals[i].elements;
  // Variants have signals of their own.
  if (metadata_->gpu)
    slots *= int64_t(metadata_->gpu->variants.size());
  return static_cast<uint32_t>(std::min<int64_t>(slots, UINT32_MAX));
}
