//===- Job.h - Being one rank of a job that others start --------*- C++ -*-===//
//
// torchrun, mpirun (Open MPI) and srun start a process for each rank and tell it
// who it is by environment variables. A Job is made from those: it finds the
// other ranks, learns which of them share a host, and gives contexts their
// connection.
//
//   MK_ASSIGN(auto job, Job::join({}));
//   MK_ASSIGN(Package package, jit::compile(*job, source, options));
//   MK_ASSIGN(Mesh mesh, resolveMesh(package.metadata(), {}, job->nodes(),
//                                    job->ranksPerNode()));
//   MK_ASSIGN(auto context, Context::create(ContextOptions::of(*job, mesh)));
//   ...
//   MK_TRY(context->close());
//   MK_TRY(job->leave());
//
// Rank 0 holds the store. docs/jobs.md says which variables are read, where the
// store listens and who is let in.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_JOB_H
#define MKERNEL_RUNTIME_JOB_H

#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Store.h"

#include <map>

namespace mk::rt {

/// Variables by name.
using Environment = std::map<std::string, std::string, std::less<>>;
Environment currentEnvironment();

/// What a launcher says about this process.
struct JobPlace {
  std::string source; // "torchrun", "mpirun" or "srun"
  std::string id;     // tells apart the jobs of a user
  uint32_t rank = 0, world = 1;
  /// Place among the ranks of the node, and their number; nothing: not said.
  std::optional<uint32_t> localRank, localWorld;
  std::string localRankFrom, localWorldFrom; // the variables that said it
  std::optional<uint32_t> node; // number of the node; nothing: not said
  /// Where rank 0 is, "host:port"; empty: not said.
  std::string store;
  /// All ranks are on this host, for sure.
  bool oneHost = false;
  /// A secret that the launcher gave all ranks; mostly empty.
  std::string token;
};

/// The place that the variables describe; nothing when no launcher has set any.
/// `source` is "auto", "none", or the only launcher to listen to.
///
/// InvalidArgument: a set of variables is incomplete (the message names what is
/// missing), a value makes no sense, or two launchers say different things (the
/// message names both).
Result<std::optional<JobPlace>> findPlace(const Environment &environment,
                                          std::string_view source = "auto");

/// First host of a SLURM node list: "node[07-09,11],login" gives "node07".
std::string firstHost(std::string_view nodelist);

struct JobOptions {
  /// Launcher to listen to, or "auto" or "none". Empty: MK_JOB, else auto.
  std::string source;
  /// Where rank 0 shall listen, "host:port". Empty: MK_STORE, else what the
  /// launcher says.
  std::string store;
  /// Secret of the job, at least 16 characters. Empty: MK_JOB_TOKEN, else what
  /// ranks of one host agree on by themselves.
  std::string token;
  /// Which node this rank is on, for nodes emulated on one host: a number, or
  /// "rank/8" for eight ranks of a node in a row. Empty: MK_NODE, else the host.
  std::string node;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60); // to meet
  /// A rank of which the store hears nothing for so long, or a store of which a rank hears
  /// nothing, is lost, whatever else waits for it; zero: it is not while its connection is there.
  std::chrono::nanoseconds silence = std::chrono::seconds(30);
};

/// findPlace() of this process's environment and these options.
Result<std::optional<JobPlace>> findPlace(const JobOptions &options);

class Job {
public:
  /// Waits for all ranks. FailedPrecondition when no launcher has started this
  /// process; DeadlineExceeded names the ranks that did not come.
  static Result<std::unique_ptr<Job>> join(JobOptions options);
  static Result<std::unique_ptr<Job>> join(JobPlace place, JobOptions options);
  /// Without leave() before it, the other ranks see this one as lost.
  ~Job();
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

  uint32_t rank() const { return place_.rank; }
  uint32_t world() const { return place_.world; }
  const JobPlace &place() const { return place_; }
  /// Nodes of this job, numbered by their first ranks.
  uint32_t nodes() const { return numNodes_; }
  uint32_t nodeOf(uint32_t rank) const { return nodeOfRank_[rank]; }
  bool sameHost(uint32_t rank) const {
    return machineOfRank_[rank] == machineOfRank_[place_.rank];
  }
  /// 0: nodes have different numbers of ranks.
  uint32_t ranksPerNode() const { return ranksPerNode_; }
  /// Place among the ranks of this node.
  uint32_t localRank() const { return localRank_; }
  /// "4 ranks on 2 nodes, started by torchrun".
  std::string describe() const;

  /// InvalidArgument unless the mesh has a rank for each of the job, and joins
  /// by link axes just those that share a node.
  Status checkMesh(const Mesh &mesh) const;

  /// What `make` gives on rank 0, its errors included, on every rank. Collective,
  /// as are the following; `what` is for messages. Any size.
  Result<std::string>
  broadcast(std::string_view what,
            const std::function<Result<std::string>()> &make,
            Deadline deadline);
  /// Rank 0 calls `take` with what each other rank has, one after the other.
  Status collect(std::string_view what, std::string_view mine,
                 const std::function<Status(uint32_t, std::string)> &take,
                 Deadline deadline);

  /// Tells all ranks why this one cannot go on. Nothing on success.
  void fail(const Status &why);
  /// Waits for all ranks and ends the job; at once when it has failed, with its
  /// first cause. Idempotent.
  Status leave();

  /// The connection, and a fresh name for what a context keeps in the store.
  std::shared_ptr<StoreClient> store() { return store_; }
  std::string nextScope() { return str("context", contexts_++); }
  /// How many there have been.
  uint64_t contexts() const { return contexts_; }

private:
  Job() = default;
  Status connect(Deadline deadline);
  Status findNodes(Deadline deadline);

  JobPlace place_;
  JobOptions options_;
  std::unique_ptr<StoreServer> server_; // rank 0
  std::shared_ptr<StoreClient> store_;
  std::vector<uint32_t> nodeOfRank_;
  std::vector<std::string> hostOfRank_, machineOfRank_;
  uint32_t numNodes_ = 1, ranksPerNode_ = 1, localRank_ = 0;
  uint64_t contexts_ = 0, messages_ = 0;
  bool left_ = false, failed_ = false;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_JOB_H
