//===- JobEnvironmentTest.cpp - What launchers tell a rank ----------------===//

#include "Support.h"

#include "mkernel/Runtime/Job.h"

namespace mk::rt::test {
namespace {

const Environment kTorchrun = {{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"MASTER_ADDR", "10.1.2.3"},
                               {"MASTER_PORT", "29500"}};
const Environment kMpirun = {{"OMPI_COMM_WORLD_RANK", "5"},
                             {"OMPI_COMM_WORLD_SIZE", "8"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                             {"PMIX_NAMESPACE", "1234"},
                             {"PMIX_RANK", "5"}};
const Environment kSrun = {{"SLURM_PROCID", "5"},
                           {"SLURM_NTASKS", "8"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODEID", "1"},
                           {"SLURM_JOB_ID", "77"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NODELIST", "gpu[03-04]"}};

Environment merge(Environment a, const Environment &b) {
  a.insert(b.begin(), b.end());
  return a;
}
Environment with(Environment e, const char *name, const char *value) {
  e[name] = value;
  return e;
}
Environment without(Environment e, const char *name) {
  e.erase(name);
  return e;
}
JobPlace place(const Environment &e, std::string_view source = "auto") {
  auto found = findPlace(e, source);
  EXPECT_OK(found);
  if (!found || !*found)
    return {};
  return **found;
}
Status failure(const Environment &e, std::string_view source = "auto") {
  return findPlace(e, source).status();
}

TEST(JobEnvironment, NoLauncher) {
  EXPECT_FALSE(*findPlace(Environment{}, "auto"));
  // Of torch itself, not of a launcher.
  EXPECT_FALSE(*findPlace({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}, "auto"));
  EXPECT_FALSE(*findPlace(kTorchrun, "none"));
}

TEST(JobEnvironment, Torchrun) {
  JobPlace p = place(kTorchrun);
  EXPECT_EQ(p.source, "torchrun");
  EXPECT_EQ(p.rank, 5u);
  EXPECT_EQ(p.world, 8u);
  EXPECT_EQ(p.localRank, 1u);
  EXPECT_FALSE(p.localWorld);
  EXPECT_FALSE(p.oneHost);
  EXPECT_EQ(p.store, "10.1.2.3:29501"); // 29500 is torch's own
  EXPECT_TRUE(place(with(kTorchrun, "MASTER_ADDR", "127.0.0.1")).oneHost);
  EXPECT_TRUE(place(with(kTorchrun, "LOCAL_WORLD_SIZE", "8")).oneHost);
  EXPECT_FALSE(place(with(kTorchrun, "LOCAL_WORLD_SIZE", "4")).oneHost);
  EXPECT_EQ(place(with(kTorchrun, "GROUP_RANK", "2")).node, 2u);
  EXPECT_EQ(place(with(kTorchrun, "MASTER_ADDR", "fd00::1")).store,
            "[fd00::1]:29501");
}

TEST(JobEnvironment, Mpirun) {
  JobPlace p = place(kMpirun);
  EXPECT_EQ(p.source, "mpirun");
  EXPECT_EQ(p.rank, 5u);
  EXPECT_EQ(p.world, 8u);
  EXPECT_EQ(p.localWorld, 4u);
  EXPECT_EQ(p.store, ""); // it does not say
  EXPECT_NE(place(with(kMpirun, "PMIX_NAMESPACE", "1235")).id, p.id);
  p = place(merge(kMpirun, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "7"}}));
  EXPECT_EQ(p.store, "h:8");
  EXPECT_EQ(place(with(kMpirun, "OMPI_MCA_orte_precondition_transports",
                       "0123456789abcdef-0123456789abcdef"))
                .token,
            "0123456789abcdef-0123456789abcdef");
}

TEST(JobEnvironment, Srun) {
  JobPlace p = place(kSrun);
  EXPECT_EQ(p.source, "srun");
  EXPECT_EQ(p.rank, 5u);
  EXPECT_EQ(p.world, 8u);
  EXPECT_EQ(p.node, 1u);
  EXPECT_EQ(p.id, "77.0");
  EXPECT_THAT(p.store, testing::StartsWith("gpu03:2"));
  EXPECT_NE(place(with(kSrun, "SLURM_STEP_ID", "1")).store, p.store);
  EXPECT_TRUE(place(with(kSrun, "SLURM_NNODES", "1")).oneHost);
  // A step may have fewer tasks than its allocation.
  EXPECT_EQ(place(with(kSrun, "SLURM_STEP_NUM_TASKS", "6")).world, 6u);
  // The process of a batch script is no task.
  EXPECT_FALSE(*findPlace(
      with(without(kSrun, "SLURM_STEP_ID"), "ENVIRONMENT", "BATCH"), "auto"));
}

TEST(JobEnvironment, IncompleteNamesWhatIsMissing) {
  for (const auto &[all, source] :
       {std::pair{kTorchrun, "torchrun"}, {kMpirun, "mpirun"}, {kSrun, "srun"}})
    for (const auto &[name, value] : all) {
      std::string optional[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE",
                                "PMIX_RANK", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                "SLURM_STEP_NODELIST", "SLURM_PROCID"};
      if (std::find(std::begin(optional), std::end(optional), name) !=
          std::end(optional)) {
        EXPECT_OK(findPlace(without(all, name.c_str()), "auto")) << name;
        continue;
      }
      Status s = failure(without(all, name.c_str()));
      EXPECT_ERROR(s, InvalidArgument, name + " is missing: start the ranks with "
                                           + source);
      EXPECT_THAT(s.message(), HasSubstr("--job none"));
    }
  EXPECT_ERROR(failure({{"PMIX_RANK", "0"}}), InvalidArgument,
               "PMIX_RANK is set, but OMPI_COMM_WORLD_SIZE is missing");
}

TEST(JobEnvironment, ConflictsNameBoth) {
  // Those that agree are one.
  EXPECT_EQ(place(merge(kTorchrun, kMpirun)).source, "torchrun");
  EXPECT_EQ(place(merge(kMpirun, kSrun)).source, "mpirun");
  Status s = failure(merge(with(kTorchrun, "RANK", "4"), kMpirun));
  EXPECT_ERROR(s, InvalidArgument,
               "torchrun RANK=4, mpirun OMPI_COMM_WORLD_RANK=5");
  EXPECT_THAT(s.message(), HasSubstr("--job torchrun or --job mpirun"));
  EXPECT_ERROR(failure(merge(kMpirun, with(kSrun, "SLURM_NTASKS", "2"))),
               InvalidArgument, "mpirun OMPI_COMM_WORLD_SIZE=8, srun "
                                "SLURM_NTASKS=2");
  EXPECT_ERROR(failure(with(kMpirun, "PMIX_RANK", "3")), InvalidArgument,
               "PMIx PMIX_RANK=3");
  // Part of a set that contradicts counts too.
  EXPECT_ERROR(failure(with(kMpirun, "RANK", "1")), InvalidArgument,
               "torchrun RANK=1, mpirun");
  EXPECT_EQ(place(with(kMpirun, "RANK", "5")).source, "mpirun");
  EXPECT_ERROR(failure(merge(with(kTorchrun, "LOCAL_WORLD_SIZE", "2"), kMpirun)),
               InvalidArgument,
               "torchrun LOCAL_WORLD_SIZE=2, mpirun "
               "OMPI_COMM_WORLD_LOCAL_SIZE=4");
  EXPECT_ERROR(failure(merge(with(kTorchrun, "GROUP_RANK", "0"), kSrun)),
               InvalidArgument, "torchrun GROUP_RANK=0, srun SLURM_NODEID=1");
  // A launcher inside another's allocation is chosen by name.
  Environment inside = merge(with(kTorchrun, "RANK", "4"), kSrun);
  EXPECT_EQ(place(inside, "torchrun").rank, 4u);
  EXPECT_EQ(place(inside, "srun").rank, 5u);
}

TEST(JobEnvironment, ValuesMakeSense) {
  EXPECT_ERROR(failure(with(kTorchrun, "RANK", "x")), InvalidArgument,
               "RANK=x makes no sense");
  EXPECT_ERROR(failure(with(kTorchrun, "RANK", "8")), InvalidArgument,
               "RANK=8 does not fit WORLD_SIZE=8");
  for (const char *number : {"0", "-1", "1.5", "0x8", " 8", "8 ", "eight", "+8",
                             "99999999999999999999", "65537"})
    EXPECT_ERROR(failure(with(kTorchrun, "WORLD_SIZE", number)), InvalidArgument,
                 str("WORLD_SIZE=", number, " makes no sense: an integer from 1 "
                     "to 65536 is expected; unset it"));
  EXPECT_ERROR(failure(with(kTorchrun, "LOCAL_WORLD_SIZE", "9")),
               InvalidArgument, "LOCAL_WORLD_SIZE=9 does not fit WORLD_SIZE=8");
  EXPECT_ERROR(failure(with(kTorchrun, "LOCAL_RANK", "6")), InvalidArgument,
               "LOCAL_RANK=6 does not fit RANK=5");
  EXPECT_ERROR(failure(with(kSrun, "SLURM_STEP_NUM_TASKS", "5")),
               InvalidArgument, "SLURM_PROCID=5 does not fit "
                                "SLURM_STEP_NUM_TASKS=5 (ranks count from 0): "
                                "start the ranks with srun");
  EXPECT_ERROR(failure(with(kTorchrun, "MASTER_PORT", "http")),
               InvalidArgument, "MASTER_PORT=http makes no sense");
  EXPECT_ERROR(failure(with(kTorchrun, "MASTER_ADDR", "")), InvalidArgument,
               "MASTER_ADDR is missing");
  EXPECT_ERROR(failure(with(kTorchrun, "MASTER_PORT", "70000")),
               InvalidArgument, "MASTER_PORT=70000 makes no sense");
  EXPECT_ERROR(failure(with(kMpirun, "OMPI_COMM_WORLD_LOCAL_RANK", "4")),
               InvalidArgument, "does not fit OMPI_COMM_WORLD_LOCAL_SIZE=4");
  EXPECT_ERROR(failure(kTorchrun, "slurm"), InvalidArgument,
               "auto, none, torchrun, mpirun or srun is possible");
  EXPECT_ERROR(failure(kTorchrun, "mpirun"), InvalidArgument,
               "none of the variables of mpirun is set");
}

TEST(JobEnvironment, NodeLists) {
  EXPECT_EQ(firstHost("login"), "login");
  EXPECT_EQ(firstHost("a,b"), "a");
  EXPECT_EQ(firstHost("node[07-09,11],login"), "node07");
  EXPECT_EQ(firstHost("n[3,5]-ib[1-2],x"), "n3-ib1");
  EXPECT_EQ(firstHost("rack[1-2]node[3-4]"), "rack1node3");
  EXPECT_EQ(firstHost("broken[1"), "broken");
  EXPECT_EQ(firstHost(""), "");
}

} // namespace
} // namespace mk::rt::test
