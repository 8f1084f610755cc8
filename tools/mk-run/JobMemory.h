//===- JobMemory.h - What launcher and ranks share --------------*- C++ -*-===//
//
// One anonymous memory file: how to reach the store, the global values of
// inputs that come from files, and what each rank leaves behind: its results,
// its times, its error. It outlives a rank that is killed.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TOOLS_MKRUN_JOBMEMORY_H
#define MKERNEL_TOOLS_MKRUN_JOBMEMORY_H

#include "Options.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/Kernel.h"

#include <atomic>

namespace mk::run {

struct JobHeader {
  char endpoint[64], job[64], token[128];
  uint64_t heapBytes;
  uint32_t slots;
};

/// How long a rank's launches took, in milliseconds.
struct RankTimes {
  double wall; // of the last launch
  /// On a GPU, of all launches.
  double median, min, max;
  /// Launches that `median` and its neighbours are of; 0: nobody measured them.
  uint64_t timed;
  /// Whether roles and traffic of the last launch were measured.
  uint64_t counted;

  static RankTimes of(const rt::LaunchStats &last, std::vector<double> deviceMs);
};

struct RankBlock {
  enum State : uint32_t { Started, Running, Finished, Failed };
  std::atomic<uint32_t> state;
  RankTimes times;
  /// What this rank sent over a network in all launches, and how; "" without one.
  uint64_t netBytes, netRequests;
  /// BoundKernel::version(), and the times of it and other candidates, if they were measured.
  uint32_t version, numCandidates;
  rt::CandidateTime candidates[MK_MAX_CANDIDATES];
  char network[1024]; // names NICs and says why they do not reach a GPU
  char error[4096];
};

/// Which arguments have a place in the job's memory.
bool isOutput(const rt::Metadata::Arg &arg);
bool isInput(const rt::Metadata::Arg &arg);

class JobMemory {
public:
  /// Launcher: creates the file. Rank: maps `fd`. Both compute the same layout
  /// from the same package and options.
  /// `numRoles`: the most that one of the candidates has.
  static Result<JobMemory> create(const Options &options, const rt::Metadata &metadata,
                                  const rt::JobPlan &plan, size_t numRoles, uint32_t world);
  static Result<JobMemory> map(int fd, const Options &options, const rt::Metadata &metadata,
                               const rt::JobPlan &plan, size_t numRoles, uint32_t world);
  /// The header alone, for a rank that has no layout yet.
  static Result<JobHeader> readHeader(int fd);
  JobMemory(JobMemory &&other) noexcept;
  ~JobMemory();

  int fd() const { return fd_; }
  JobHeader &header() const { return *at<JobHeader>(0); }
  RankBlock &rank(uint32_t r) const { return at<RankBlock>(ranks_)[r]; }
  size_t numRoles() const { return numRoles_; }
  /// Times of the last launch, by role, and traffic, by peer, if RankTimes::counted.
  rt::LaunchStats::Role *roles(uint32_t r) const {
    return at<rt::LaunchStats::Role>(roles_) + r * numRoles_;
  }
  rt::LaunchStats::Peer *peers(uint32_t r) const {
    return at<rt::LaunchStats::Peer>(peers_) + r * world_;
  }
  /// What a rank's CTAs did (mkernel/Check/Log.h), or when (mkernel/Runtime/Timeline.h). Lies
  /// behind everything that is mapped, and takes memory only when it is written.
  enum class Log { Accesses, Times };
  Status writeLog(uint32_t rank, const std::string &bytes, Log log = Log::Accesses) const;
  Result<std::string> readLog(uint32_t rank, Log log = Log::Accesses) const;
  /// Global value of an argument that comes from a file; null for others.
  std::byte *input(size_t arg) const {
    return arg < inputs_.size() ? place(inputs_[arg]) : nullptr;
  }
  /// Global value of an output, one for each copy of it in the mesh; null
  /// when nobody asked for results, or run 1 leaves none.
  std::byte *output(size_t arg, uint32_t copy, int run = 0) const {
    if (arg >= outputs_[run].size()) // scratch that the first candidate does not have
      return nullptr;
    std::byte *base = place(outputs_[run][arg]);
    return base ? base + copy * outputBytes_[arg] : nullptr;
  }
  /// Of each launch that is checked: 2 when there are integer outputs to compare,
  /// whose memory holds something else before the second.
  int runs() const { return runs_; }

private:
  JobMemory() = default;
  void layOut(const Options &options, const rt::Metadata &metadata, const rt::JobPlan &plan,
              size_t numRoles, uint32_t world);
  Status mapFile();
  template <typename T> T *at(uint64_t offset) const {
    return reinterpret_cast<T *>(base_ + offset);
  }
  std::byte *place(uint64_t offset) const {
    return offset ? base_ + offset : nullptr;
  }

  int fd_ = -1;
  std::byte *base_ = nullptr;
  uint64_t bytes_ = 0;
  uint32_t world_ = 0;
  size_t numRoles_ = 0;
  uint64_t ranks_ = 0, roles_ = 0, peers_ = 0; // offsets
  int runs_ = 1;
  std::vector<uint64_t> inputs_, outputs_[2], outputBytes_;
};

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_JOBMEMORY_H
