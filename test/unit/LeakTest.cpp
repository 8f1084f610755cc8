//===- LeakTest.cpp - What a failed job leaves in a process ---------------===//
//
// Descriptors, threads and mappings of this process, before and after jobs that
// end in every possible way.
//
//===----------------------------------------------------------------------===//

#include "Holdings.h"

#include "mkernel/Runtime/Context.h"
#include "mkernel/Runtime/Job.h"

namespace mk::rt::test {
namespace {

enum class Fault { None, Lost, Refused, HeapSize, Exhausted, WrongToken };

/// One rank of a job of two nodes; what goes wrong does so on rank 1.
void runRank(uint32_t rank, Fault fault, const std::string &id) {
  JobPlace place;
  place.source = "mpirun";
  place.id = id;
  place.rank = rank;
  place.world = 3;
  place.oneHost = true;
  JobOptions options;
  options.timeout = 2s;
  options.node = str(rank / 2);
  options.token = "0123456789abcdef";
  if (fault == Fault::WrongToken && rank == 1)
    options.token = "fedcba9876543210";
  auto job = rt::Job::join(place, options);
  if (!job)
    return;
  auto mesh = Mesh::create({{"rank", 3, LinkKind::Net}});
  ContextOptions context = ContextOptions::of(**job, *mesh);
  context.slots = 64;
  context.heapBytes = 1 << 20;
  context.timeout = 2s;
  if (fault == Fault::HeapSize && rank == 1)
    context.heapBytes = 4096;
  if (fault == Fault::Lost && rank == 1)
    return; // without a word
  if (fault == Fault::Refused && rank == 1) {
    (*job)->fail(error(StatusCode::Internal, "refused"));
    (*job)->leave().ignore();
    return;
  }
  auto made = Context::create(context);
  if (!made) {
    (*job)->fail(made.status());
    (*job)->leave().ignore();
    return;
  }
  if (fault == Fault::Exhausted && rank == 1) {
    auto memory = (*made)->heap().allocate(8 << 20, "argument 'a'");
    EXPECT_ERROR(memory.status(), ResourceExhausted, "argument 'a' needs");
    (*job)->fail(memory.status());
  }
  Status closed = (*made)->close();
  if (fault == Fault::None) {
    EXPECT_OK(closed); // else the failure may come behind its barrier
  }
  made->reset();
  EXPECT_EQ((*job)->leave().isOk(), fault == Fault::None);
}

TEST(Leak, NothingIsLeftInTheProcess) {
  QuietLog quiet;
  auto run = [](Fault fault) {
    std::string id = randomToken();
    rt::test::Job::parallel(3, [&](uint32_t r) { runRank(r, fault, id); });
  };
  run(Fault::None); // what is made once and kept
  for (Fault fault : {Fault::None, Fault::Lost, Fault::Refused, Fault::HeapSize,
                      Fault::Exhausted, Fault::WrongToken}) {
    Holdings before;
    for (int round = 0; round < 2; ++round)
      run(fault);
    EXPECT_TRUE(before.areBack()) << "fault " << int(fault);
  }
}

} // namespace
} // namespace mk::rt::test
