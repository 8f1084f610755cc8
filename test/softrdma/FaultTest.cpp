//===- FaultTest.cpp - Failures as NICs report them -----------------------===//

#include "SoftRdmaTest.h"

#include <cerrno>
#include <poll.h>
#include <set>

namespace soft::test {
namespace {

TEST(SoftRdmaFault, SrdErrorsConcernOneRequest) {
  SOFT_ONLY();
  Wire w;
  uint32_t key = w.a.peerKey;
  w.a.peerKey = key + 1;
  ASSERT_EQ(w.a.write(7, 0, 0, 64, 1), 0);
  Completion c = w.a.next();
  EXPECT_EQ(c.id, 7u);
  EXPECT_EQ(c.status, kWcRemAccess);
  EXPECT_EQ(c.vendor, 7u);
  w.a.peerKey = key;
  ASSERT_EQ(w.a.write(8, 0, 0, 64, 2), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  EXPECT_EQ(w.b.next().imm, 2u);
}

TEST(SoftRdmaFault, BoundsOfTheRemoteRegion) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    Wire w(o);
    ASSERT_EQ(w.a.write(1, 0, (1 << 20) - 8, 8), 0);
    EXPECT_EQ(w.a.next().status, 0u);
    ASSERT_EQ(w.a.write(1, 0, (1 << 20) - 7, 8), 0);
    EXPECT_EQ(w.a.next().status, kWcRemAccess);
  }
}

TEST(SoftRdmaFault, RegionsThatAreNotForRemoteWrites) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    o.access = kAccessLocalWrite;
    Wire w(o);
    ASSERT_EQ(w.a.write(1, 0, 0, 8), 0);
    EXPECT_EQ(w.a.next().status, kWcRemAccess);
  }
}

TEST(SoftRdmaFault, LocalKeysAreChecked) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    Wire w(o);
    ASSERT_EQ(w.a.write(1, (1 << 20) - 7, 0, 8), 0);
    EXPECT_EQ(w.a.next().status, kWcLocProt);
  }
}

TEST(SoftRdmaFault, AWrongQkeyIsDroppedInSilence) {
  SOFT_ONLY();
  Knob timeout("TIMEOUT", "50000");
  Wire w;
  w.a.options.qkey = 0x4321;
  ASSERT_EQ(w.a.write(1, 0, 0, 8, 1), 0);
  EXPECT_EQ(w.a.next().status, kWcRespTimeout);
  Completion c;
  EXPECT_FALSE(w.b.poll(c, 5));
}

TEST(SoftRdmaFault, AnRcErrorEndsTheQueuePairAndFlushes) {
  Wire w(rc());
  uint32_t key = w.a.peerKey;
  ASSERT_EQ(w.a.write(1, 0, 0, 64, 1), 0);
  w.a.peerKey = key + 1;
  ASSERT_EQ(w.a.write(2, 0, 0, 64, 2, false), 0);
  w.a.peerKey = key;
  ASSERT_EQ(w.a.write(3, 0, 0, 64, 3, false), 0);
  ASSERT_EQ(w.a.write(4, 0, 0, 64, 4), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  // Those without a completion have one if they fail.
  Completion c = w.a.next();
  EXPECT_EQ(c.id, 2u);
  EXPECT_EQ(c.status, kWcRemAccess);
  // In no order between the two queues: requests, and what was posted to
  // receive, which is flushed on both ends.
  std::vector<uint64_t> flushed;
  for (uint32_t i = 0; i < 2 + w.a.options.recvDepth; ++i) {
    c = w.a.next();
    EXPECT_EQ(c.status, kWcFlush);
    if (c.id < 1000000)
      flushed.push_back(c.id);
  }
  EXPECT_EQ(flushed, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(w.b.next().imm, 1u);
  EXPECT_NE(w.b.next().status, 0u);
  if (!kReal) { // not every driver tells
    ibv_async_event e{};
    ASSERT_EQ(ibv_get_async_event(w.b.context, &e), 0);
    EXPECT_EQ(e.event_type, kEventQpAccessError);
    EXPECT_EQ(e.element.qp, w.b.qp);
  }
  // So is what comes later.
  ASSERT_EQ(w.a.write(9, 0, 0, 8), 0);
  EXPECT_EQ(w.a.next().status, kWcFlush);
}

TEST(SoftRdmaFault, NothingPostedToReceive) {
  Options o = rc();
  o.recvDepth = 1;
  o.rnrRetry = 2;
  {
    Wire w(o);
    ASSERT_EQ(w.a.write(1, 0, 0, 8, 1), 0);
    EXPECT_EQ(w.a.next().status, 0u);
    ASSERT_EQ(w.a.write(2, 0, 0, 8, 2), 0);
    EXPECT_EQ(w.a.next().status, kWcRnrRetryExceeded);
  }
  o.rnrRetry = 7;
  {
    Wire w(o);
    ASSERT_EQ(w.a.write(1, 0, 0, 8, 1), 0);
    ASSERT_EQ(w.a.write(2, 0, 0, 8, 2), 0);
    EXPECT_EQ(w.a.next().status, 0u);
    Completion c;
    EXPECT_FALSE(w.a.poll(c, 30)) << "it tries for ever";
    EXPECT_EQ(w.b.next().imm, 1u);
    ASSERT_EQ(w.b.receive(5), 0);
    EXPECT_EQ(w.b.next().imm, 2u);
    EXPECT_EQ(w.a.next().status, 0u);
  }
  if (kReal)
    return;
  o.srd = true;
  o.unsolicited = false;
  o.rnrRetry = 0;
  Wire w(o);
  ASSERT_EQ(w.a.write(1, 0, 0, 8, 1), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  ASSERT_EQ(w.a.write(2, 0, 0, 8, 2), 0);
  EXPECT_EQ(w.a.next().status, kWcRnrRetryExceeded);
}

TEST(SoftRdmaFault, RcResendsWhatIsLost) {
  Knob loss("LOSS", "5%"), timeout("TIMEOUT", "10000");
  Wire w(rc());
  for (uint32_t i = 0; i < 100; ++i) {
    *w.a.words(i * 8192 + 8000) = i + 1;
    ASSERT_EQ(w.a.write(i, i * 8192, i * 8192, 8192, i), 0);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(w.a.next().status, 0u);
    EXPECT_EQ(w.b.next().imm, i);
    EXPECT_EQ(*w.b.words(i * 8192 + 8000), i + 1);
  }
}

TEST(SoftRdmaFault, SrdReportsWhatIsLost) {
  SOFT_ONLY();
  Knob loss("LOSS", "1"), timeout("TIMEOUT", "20000");
  Wire w;
  ASSERT_EQ(w.a.write(1, 0, 0, 8), 0);
  Completion c = w.a.next();
  EXPECT_EQ(c.status, kWcRespTimeout);
  EXPECT_EQ(c.vendor, 15u) << "of a peer that never answered";
}

TEST(SoftRdmaFault, APeerThatIsGone) {
  for (bool srd : protocols()) {
    Knob timeout("TIMEOUT", "10000");
    Options o;
    o.srd = srd;
    End a(o);
    {
      End b(o);
      a.connect(b);
    }
    ASSERT_EQ(a.write(1, 0, 0, 8), 0);
    Completion c = a.next();
    // A new context may have the number of the old one; never its queue pair.
    EXPECT_EQ(c.status, srd ? kWcRespTimeout : kWcRetryExceeded);
  }
}

TEST(SoftRdmaFault, TheNthFailsAndIsNotDelivered) {
  SOFT_ONLY();
  Knob nth("FAIL_NTH", "2");
  Wire w;
  for (int i = 1; i <= 3; ++i)
    ASSERT_EQ(w.a.write(uint64_t(i), 0, 0, 8, i), 0);
  int failed = 0;
  for (int i = 0; i < 3; ++i) {
    Completion c = w.a.next();
    failed += c.status != 0;
    EXPECT_EQ(c.status, c.id == 2 ? kWcRespTimeout : 0u);
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(w.b.next().imm + w.b.next().imm, 4u);
  Completion c;
  EXPECT_FALSE(w.b.poll(c, 5));
}

TEST(SoftRdmaFault, TheNthFailsAndIsDelivered) {
  SOFT_ONLY();
  for (bool srd : protocols()) {
    Knob nth("FAIL_NTH", "1"), late("FAIL_LATE", "1");
    Options o;
    o.srd = srd;
    Wire w(o);
    ASSERT_EQ(w.a.write(1, 0, 0, 8, 5), 0);
    EXPECT_NE(w.a.next().status, 0u);
    EXPECT_EQ(w.b.next().imm, 5u);
  }
}

TEST(SoftRdmaFault, RcFailsInOrder) {
  SOFT_ONLY();
  Knob nth("FAIL_NTH", "3"), status("FAIL_STATUS", "9");
  Wire w(rc());
  for (int i = 1; i <= 4; ++i)
    ASSERT_EQ(w.a.write(uint64_t(i), 0, 0, 8, i), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  EXPECT_EQ(w.a.next().status, 0u);
  EXPECT_EQ(w.a.next().status, kWcRemInvReq);
  EXPECT_EQ(w.a.next().status, kWcFlush);
  EXPECT_EQ(w.b.next().imm, 1u);
  EXPECT_EQ(w.b.next().imm, 2u);
  Completion c;
  EXPECT_FALSE(w.b.poll(c, 5));
}

TEST(SoftRdmaFault, ALostAcknowledgement) {
  SOFT_ONLY();
  Knob lost("ACK_LOST", "1"), timeout("TIMEOUT", "20000");
  Wire w;
  ASSERT_EQ(w.a.write(1, 0, 0, 8, 5), 0);
  EXPECT_EQ(w.b.next().imm, 5u);
  EXPECT_EQ(w.a.next().status, kWcRespTimeout);
}

TEST(SoftRdmaFault, ADeadNicOfOneVictim) {
  SOFT_ONLY();
  for (bool srd : protocols()) {
    Knob dead("DEAD_NIC", "2"), victims("VICTIMS", "1"),
        timeout("TIMEOUT", "10000"),
        job("JOB", "victim" + std::to_string(getpid()));
    Options o;
    o.srd = srd;
    Wire w(o);
    for (int i = 1; i <= 3; ++i)
      ASSERT_EQ(w.a.write(uint64_t(i), 0, 0, 8, i), 0);
    uint32_t last = 0;
    for (int i = 0; i < 3; ++i)
      last = w.a.next().status;
    EXPECT_NE(last, 0u);
    // The other one's NIC is fine, its peer does not answer.
    ASSERT_EQ(w.b.write(1, 0, 0, 8, 1), 0);
    Completion c;
    do
      c = w.b.next();
    while (c.opcode == kWcRecvRdmaWithImm);
    EXPECT_EQ(c.status, srd ? kWcRespTimeout : kWcRetryExceeded);
  }
}

TEST(SoftRdmaFault, ALinkThatGoesDownSaysSo) {
  SOFT_ONLY();
  Knob down("LINK_DOWN", "1"), timeout("TIMEOUT", "10000");
  Wire w(rc());
  ASSERT_EQ(w.a.write(1, 0, 0, 8), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  ASSERT_EQ(w.a.write(2, 0, 0, 8), 0);
  ibv_async_event e{};
  ASSERT_EQ(ibv_get_async_event(w.a.context, &e), 0);
  EXPECT_EQ(e.event_type, kEventPortError);
  EXPECT_EQ(e.element.port_num, 1);
  EXPECT_EQ(w.a.next().status, kWcRetryExceeded);
}

// As InfiniBand has it: the entry is lost, the queue takes no more, and the queue
// pairs that complete there are at an end. Events say both.
TEST(SoftRdmaFault, AnOverrunEndsTheQueueAndItsQueuePairs) {
  SOFT_ONLY();
  for (bool srd : protocols()) {
    Knob overrun("OVERRUN", "event"), jitter("JITTER", "0");
    Options o;
    o.srd = srd;
    o.cqDepth = 4;
    o.sendDepth = 16;
    o.recvDepth = srd ? 256 : 1;
    Wire w(o);
    for (int i = 1; i <= 4; ++i)
      ASSERT_EQ(w.a.write(uint64_t(i), 0, 0, 8), 0);
    ASSERT_TRUE(softrdma_settle(2000));
    pollfd told{w.a.context->async_fd, POLLIN, 0};
    EXPECT_EQ(poll(&told, 1, 20), 0) << "it holds as many as were asked for";
    ASSERT_EQ(w.a.write(5, 0, 0, 8), 0);
    ibv_async_event e{};
    ASSERT_EQ(ibv_get_async_event(w.a.context, &e), 0);
    EXPECT_EQ(e.event_type, kEventCqError);
    EXPECT_EQ(e.element.cq, reinterpret_cast<ibv_cq *>(w.a.cq));
    ASSERT_EQ(ibv_get_async_event(w.a.context, &e), 0);
    EXPECT_EQ(e.event_type, kEventQpFatal);
    EXPECT_EQ(e.element.qp, w.a.qp);
    std::set<uint64_t> seen; // what was in it can be read
    for (int i = 0; i < 4; ++i) {
      Completion c = w.a.next();
      EXPECT_EQ(c.status, 0u);
      seen.insert(c.id);
    }
    EXPECT_EQ(seen.size(), 4u);
    Completion c;
    EXPECT_FALSE(w.a.poll(c, 20)) << "nothing comes behind it, nothing is flushed";
  }
}

TEST(SoftRdmaFault, AnOverrunThatNothingTellsOf) {
  SOFT_ONLY();
  Knob overrun("OVERRUN", "silent"), entries("CQ_ENTRIES", "4"), jitter("JITTER", "0");
  Wire w;
  for (int i = 1; i <= 8; ++i)
    ASSERT_EQ(w.a.write(uint64_t(i), 0, 0, 8), 0);
  ASSERT_TRUE(softrdma_settle(2000));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(w.a.next().status, 0u);
  Completion c;
  EXPECT_FALSE(w.a.poll(c, 20));
  ASSERT_EQ(w.a.write(9, 0, 0, 8), 0);
  EXPECT_EQ(w.a.next().id, 9u) << "the queue goes on";
}

TEST(SoftRdmaFault, ObjectsAreCounted) {
  SOFT_ONLY();
  int before = softrdma_objects();
  {
    Wire w;
    // Of each end: context, domain, region, channel or not, queue, queue pair.
    EXPECT_GE(softrdma_objects(), before + 10);
  }
  EXPECT_EQ(softrdma_objects(), before);
}

TEST(SoftRdmaFault, ARegistrationIsRefused) {
  SOFT_ONLY();
  Knob refuse("REFUSE_REG", "2");
  int n = 0;
  ibv_device **list = ibv_get_device_list(&n);
  ibv_context *context = ibv_open_device(list[0]);
  ibv_pd *pd = ibv_alloc_pd(context);
  char bytes[64];
  ibv_mr *first = ibv_reg_mr(pd, bytes, sizeof bytes, kAccessLocalWrite);
  ASSERT_TRUE(first);
  errno = 0;
  EXPECT_FALSE(ibv_reg_mr(pd, bytes, sizeof bytes, kAccessLocalWrite));
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv_dereg_mr(first), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
  ibv_free_device_list(list);
}

TEST(SoftRdmaFaultDeathTest, AnOverrunOfTheCompletionQueueAborts) {
  SOFT_ONLY();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Options o;
        o.cqDepth = 4;
        o.sendDepth = 16;
        Wire w(o);
        for (int i = 0; i < 8; ++i)
          w.a.write(1, 0, 0, 8);
        usleep(500000);
      },
      "overrun of a completion queue of 4 entries");
}

} // namespace
} // namespace soft::test
