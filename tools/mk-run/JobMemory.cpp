//===- JobMemory.cpp - What launcher and ranks share ----------------------===//

#include "JobMemory.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

bool mk::run::isOutput(const Metadata::Arg &arg) {
  return arg.kind == Metadata::ArgKind::Out ||
         arg.kind == Metadata::ArgKind::InOut;
}

bool mk::run::isInput(const Metadata::Arg &arg) {
  return arg.kind == Metadata::ArgKind::In ||
         arg.kind == Metadata::ArgKind::InOut;
}

RankTimes RankTimes::of(const LaunchStats &last, std::vector<double> deviceMs) {
  RankTimes times{};
  times.wall = last.wallMs;
  times.counted = !last.peers.empty();
  times.timed = deviceMs.size();
  if (deviceMs.empty())
    return times;
  std::sort(deviceMs.begin(), deviceMs.end());
  size_t n = deviceMs.size();
  times.min = deviceMs.front();
  times.max = deviceMs.back();
  times.median = (deviceMs[(n - 1) / 2] + deviceMs[n / 2]) / 2;
  return times;
}

void JobMemory::layOut(const Options &options, const Metadata &metadata, const JobPlan &plan,
                       size_t numRoles, uint32_t world) {
  world_ = world;
  numRoles_ = numRoles;
  auto take = [&](uint64_t bytes) {
    uint64_t offset = bytes_;
    bytes_ = (bytes_ + bytes + 63) / 64 * 64;
    return offset;
  };
  take(sizeof(JobHeader));
  ranks_ = take(sizeof(RankBlock) * world);
  roles_ = take(sizeof(LaunchStats::Role) * world * numRoles_);
  peers_ = take(sizeof(LaunchStats::Peer) * world * world);
  for (size_t i = 0; i < metadata.args.size(); ++i) {
    const Metadata::Arg &arg = metadata.args[i];
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < world; ++r)
      bytes = std::max<uint64_t>(bytes, plan.shard(i, r).globalElements() *
                                            byteSize(arg.type));
    bool fromFile = std::any_of(
        options.inputs.begin(), options.inputs.end(),
        [&](const NamedFile &file) { return file.name == arg.name; });
    bool wanted = isOutput(arg) &&
                  (options.check ||
                   std::any_of(options.outputs.begin(), options.outputs.end(),
                               [&](const NamedFile &file) {
                                 return file.name == arg.name;
                               }));
    inputs_.push_back(fromFile ? take(bytes) : 0);
    outputBytes_.push_back(bytes);
    outputs_[0].push_back(wanted ? take(bytes * plan.copies(i)) : 0);
    bool twice = options.check && !isFloat(arg.type) &&
                 arg.kind == Metadata::ArgKind::Out;
    outputs_[1].push_back(twice ? take(bytes * plan.copies(i)) : 0);
    if (twice)
      runs_ = 2;
  }
}

Status JobMemory::mapFile() {
  void *memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED)
    return errnoError(StatusCode::ResourceExhausted,
                      str("mapping the job's memory of ", bytes_, " bytes"),
                      errno);
  base_ = static_cast<std::byte *>(memory);
  return Status::success();
}

Result<JobMemory> JobMemory::create(const Options &options, const Metadata &metadata,
                                    const JobPlan &plan, size_t numRoles, uint32_t world) {
  JobMemory job;
  job.layOut(options, metadata, plan, numRoles, world);
  job.fd_ = memfd_create("mk-run-job", MFD_CLOEXEC);
  if (job.fd_ < 0 || ftruncate(job.fd_, job.bytes_) != 0)
    return errnoError(
        StatusCode::ResourceExhausted,
        str("making the job's memory of ", job.bytes_, " bytes"), errno);
  MK_TRY(job.mapFile());
  return job;
}

Result<JobMemory> JobMemory::map(int fd, const Options &options, const Metadata &metadata,
                                 const JobPlan &plan, size_t numRoles, uint32_t world) {
  JobMemory job;
  job.layOut(options, metadata, plan, numRoles, world);
  job.fd_ = fd;
  struct stat info;
  if (fstat(fd, &info) != 0 ||
      static_cast<uint64_t>(info.st_size) != job.bytes_)
    return error(StatusCode::Internal, "the job's memory has another layout "
                                       "than this rank computes");
  MK_TRY(job.mapFile());
  return job;
}

Result<JobHeader> JobMemory::readHeader(int fd) {
  JobHeader header;
  if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
    return error(StatusCode::Internal, "the job's memory cannot be read");
  return header;
}

/// Far enough from what is mapped and from each other: the file is sparse.
static off_t logOffset(uint32_t rank, JobMemory::Log log) {
  return (2 * static_cast<off_t>(rank) + (log == JobMemory::Log::Times) + 1) << 40;
}

static const char *nameOf(JobMemory::Log log) {
  return log == JobMemory::Log::Times ? "timeline" : "log of accesses";
}

Status JobMemory::writeLog(uint32_t rank, const std::string &bytes, Log log) const {
  uint64_t size = bytes.size();
  std::string all(reinterpret_cast<const char *>(&size), sizeof(size));
  all += bytes;
  for (size_t done = 0; done < all.size();) {
    ssize_t n = pwrite(fd_, all.data() + done, all.size() - done,
                       logOffset(rank, log) + static_cast<off_t>(done));
    if (n < 0 && errno != EINTR)
      return errnoError(StatusCode::ResourceExhausted,
                        str("writing the ", nameOf(log)), errno);
    done += n > 0 ? n : 0;
  }
  return Status::success();
}

Result<std::string> JobMemory::readLog(uint32_t rank, Log log) const {
  uint64_t size = 0;
  if (pread(fd_, &size, sizeof(size), logOffset(rank, log)) != sizeof(size))
    return error(StatusCode::Internal, "rank ", rank, " left no ", nameOf(log));
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    ssize_t n = pread(fd_, bytes.data() + done, size - done,
                      logOffset(rank, log) + static_cast<off_t>(sizeof(size) + done));
    if (n == 0 || (n < 0 && errno != EINTR))
      return error(StatusCode::Internal, "the ", nameOf(log), " of rank ", rank,
                   " is cut off");
    done += n > 0 ? n : 0;
  }
  return bytes;
}

JobMemory::JobMemory(JobMemory &&other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_),
      world_(other.world_), numRoles_(other.numRoles_), ranks_(other.ranks_),
      roles_(other.roles_), peers_(other.peers_),
      runs_(other.runs_), inputs_(std::move(other.inputs_)),
      outputs_{std::move(other.outputs_[0]), std::move(other.outputs_[1])},
      outputBytes_(std::move(other.outputBytes_)) {}

JobMemory::~JobMemory() {
  if (base_)
    munmap(base_, bytes_);
  if (fd_ >= 0)
    close(fd_);
}
