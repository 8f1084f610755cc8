//===- ProtocolTest.cpp - Verbs of the software NIC -----------------------===//

#include "SoftRdmaTest.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace soft::test {
namespace {

int post(End &e, unsigned flags, void (*set)(End &, ibv_qp_ex *)) {
  ibv_qp_ex *q = ibv_qp_to_qp_ex(e.qp);
  q->wr_start(q);
  q->wr_id = 1;
  q->wr_flags = flags;
  q->wr_rdma_write(q, e.peerKey, e.peerAddress);
  set(e, q);
  return q->wr_complete(q);
}

TEST(SoftRdmaVerbs, EfaRefusesWhatItDoesNotHave) {
  SOFT_ONLY();
  Wire w;
  auto whole = [](End &e, ibv_qp_ex *q) {
    q->wr_set_sge(q, e.mr->lkey, uint64_t(e.memory.data()), 8);
    q->wr_set_ud_addr(q, e.ah, e.peerQpn, e.options.qkey);
  };
  EXPECT_EQ(post(w.a, kSendSignaled, whole), 0);
  EXPECT_EQ(post(w.a, 0, whole), EINVAL) << "not signalled";
  EXPECT_EQ(post(w.a, kSendSignaled | kSendSolicited, whole), EINVAL);
  EXPECT_EQ(post(w.a, kSendSignaled,
                 [](End &e, ibv_qp_ex *q) {
                   q->wr_set_inline_data(q, e.memory.data(), 8);
                   q->wr_set_ud_addr(q, e.ah, e.peerQpn, e.options.qkey);
                 }),
            EINVAL);
  EXPECT_EQ(post(w.a, kSendSignaled,
                 [](End &e, ibv_qp_ex *q) {
                   q->wr_set_sge(q, e.mr->lkey, uint64_t(e.memory.data()), 8);
                 }),
            EINVAL)
      << "without address";
  EXPECT_EQ(post(w.a, kSendSignaled,
                 [](End &e, ibv_qp_ex *q) {
                   ibv_sge two[2] = {};
                   q->wr_set_sge_list(q, 2, two);
                   q->wr_set_ud_addr(q, e.ah, e.peerQpn, e.options.qkey);
                 }),
            EINVAL);
  EXPECT_EQ(w.a.next().status, 0u);
  Completion c;
  EXPECT_FALSE(w.a.poll(c, 5)) << "what failed was not posted";
}

TEST(SoftRdmaVerbs, CapabilitiesOfOlderEfa) {
  SOFT_ONLY();
  Knob caps("CAPS", "0x1");
  Options o;
  o.sendDepth = 8;
  End e(o);
  EXPECT_FALSE(e.qp);
  efadv_device_attr a{};
  ASSERT_EQ(efadv_query_device(e.context, &a, sizeof a), 0);
  EXPECT_EQ(a.device_caps, 1u);
}

TEST(SoftRdmaVerbs, EfadvIsForEfa) {
  SOFT_ONLY();
  End e(rc());
  efadv_device_attr a{};
  EXPECT_EQ(efadv_query_device(e.context, &a, sizeof a), EOPNOTSUPP);
}

TEST(SoftRdmaVerbs, SlotsOfTheSendQueueAreFreeOncePolled) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    o.sendDepth = 4;
    Wire w(o);
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(w.a.write(1, 0, 0, 8), 0);
    softrdma_settle(1000);
    // Other NICs may have more slots, and free them earlier.
    if (!kReal) {
      EXPECT_EQ(w.a.write(1, 0, 0, 8), ENOMEM) << "completed, but not polled";
    }
    w.a.next();
    EXPECT_EQ(w.a.write(1, 0, 0, 8), 0);
  }
}

TEST(SoftRdmaVerbs, SilentRequestsRetireWithTheNextSignalledOne) {
  Options o = rc();
  o.sendDepth = 8;
  Wire w(o);
  for (int i = 0; i < 7; ++i)
    ASSERT_EQ(w.a.write(1, 0, 0, 8, -1, false), 0);
  Completion c;
  EXPECT_FALSE(w.a.poll(c, 20));
  ASSERT_EQ(w.a.write(2, 0, 0, 8), 0);
  if (!kReal) {
    EXPECT_EQ(w.a.write(3, 0, 0, 8), ENOMEM);
  }
  EXPECT_EQ(w.a.next().id, 2u);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(w.a.write(3, 0, 0, 8, -1, false), 0);
}

TEST(SoftRdmaVerbs, StatesOfQueuePairs) {
  End a(rc()), b(rc());
  ibv_qp_attr attr{};
  attr.qp_state = kRts;
  EXPECT_EQ(ibv_modify_qp(a.qp, &attr, kMaskState), EINVAL) << "from INIT";
  attr.qp_state = kRtr;
  EXPECT_EQ(ibv_modify_qp(a.qp, &attr, kMaskState), EINVAL) << "no address";
  EXPECT_EQ(a.write(1, 0, 0, 8), EINVAL);
  a.connect(b);
  EXPECT_EQ(a.qp->state, kRts);
}

TEST(SoftRdmaVerbs, RoceVersionsDoNotMix) {
  SOFT_ONLY();
  Knob timeout("TIMEOUT", "10000");
  Options o = rc();
  Options v1 = rc();
  v1.gidIndex = 2;
  End a(o), b(v1);
  a.connect(b);
  b.connect(a);
  ASSERT_EQ(a.write(1, 0, 0, 8), 0);
  EXPECT_EQ(a.next().status, kWcRetryExceeded);
}

TEST(SoftRdmaVerbs, AMachineOfSeveralNics) {
  SOFT_ONLY();
  Knob nics("NICS",
            "mlx5_0:ib:400,mlx5_1:roce:200,rdmap0:efa,mlx5_2:roce:down");
  int n = 0;
  ibv_device **list = ibv_get_device_list(&n);
  ASSERT_EQ(n, 4);
  EXPECT_FALSE(list[4]);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "mlx5_0");
  uint8_t layers[] = {kLinkInfiniBand, kLinkEthernet, kLinkUnspecified,
                      kLinkEthernet};
  for (int i = 0; i < 4; ++i) {
    ibv_context *c = ibv_open_device(list[i]);
    ASSERT_TRUE(c);
    ibv_port_attr p{};
    auto *verbs = reinterpret_cast<verbs_context *>(
        reinterpret_cast<char *>(c) - offsetof(verbs_context, context));
    ASSERT_EQ(verbs->query_port(c, 1, &p, sizeof p), 0);
    EXPECT_EQ(p.link_layer, layers[i]);
    EXPECT_EQ(p.state, i == 3 ? 1u : 4u);
    EXPECT_EQ(p.lid != 0, i == 0);
    ibv_gid_entry e{};
    std::string types;
    for (uint32_t g = 0; !_ibv_query_gid_ex(c, 1, g, &e, 0, sizeof e); ++g)
      types += char('0' + e.gid_type);
    EXPECT_EQ(types, layers[i] == kLinkEthernet ? "1212" : "0");
    ibv_close_device(c);
  }
}

TEST(SoftRdmaVerbs, ChannelsTellOfWhatComesAfterTheRequest) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    o.channel = true;
    Wire w(o);
    ASSERT_EQ(w.b.context->ops.req_notify_cq(w.b.cq, 0), 0);
    ASSERT_EQ(w.a.write(1, 0, 0, 8, 1), 0);
    ASSERT_EQ(w.a.write(2, 0, 0, 8, 2), 0);
    ibv_cq *which = nullptr;
    void *user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(w.b.channel, &which, &user), 0);
    EXPECT_EQ(which, w.b.cq);
    w.b.next(), w.b.next();
    pollfd p{w.b.channel->fd, POLLIN, 0};
    EXPECT_EQ(poll(&p, 1, 5), 0) << "one event for each request";
    ibv_ack_cq_events(which, 1);
  }
}

TEST(SoftRdmaVerbs, DmaBuf) {
  SOFT_ONLY();
  End e(rc());
  int fd = memfd_create("softrdma", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  EXPECT_FALSE(ibv_reg_dmabuf_mr(e.pd, 0, 8192, 0x1000, fd, 3));
  EXPECT_EQ(errno, EOPNOTSUPP);
  Knob on("DMABUF", "1");
  Wire w(rc());
  ibv_mr *mr = ibv_reg_dmabuf_mr(w.b.pd, 4096, 4096, 0x1000, fd, 3);
  ASSERT_TRUE(mr);
  w.a.peerKey = mr->rkey;
  w.a.peerAddress = 0x1000;
  *w.a.words(0) = 42;
  ASSERT_EQ(w.a.write(1, 0, 8, 8), 0);
  EXPECT_EQ(w.a.next().status, 0u);
  uint64_t got = 0;
  EXPECT_EQ(pread(fd, &got, 8, 4096 + 8), 8);
  EXPECT_EQ(got, 42u);
  ibv_dereg_mr(mr);
  close(fd);
}

TEST(SoftRdmaVerbs, LargeMessages) {
  for (bool srd : protocols()) {
    Options o;
    o.srd = srd;
    Wire w(o);
    for (uint32_t i = 0; i < 1 << 17; ++i)
      w.a.words(0)[i] = i * 3;
    ASSERT_EQ(w.a.write(1, 0, 0, 1 << 20, 1), 0);
    EXPECT_EQ(w.b.next(20000).imm, 1u);
    EXPECT_EQ(memcmp(w.a.memory.data(), w.b.memory.data(), 1 << 20), 0);
    EXPECT_EQ(w.a.next().status, 0u);
  }
}

struct Address {
  ibv_gid gid;
  uint32_t qpn, key;
  uint64_t address;
};

// Two processes that share a device, as ranks do.
TEST(SoftRdmaVerbs, BetweenProcesses) {
  for (bool srd : protocols()) {
    int toChild[2], toParent[2];
    ASSERT_EQ(pipe(toChild) | pipe(toParent), 0);
    Options o;
    o.srd = srd;
    auto meet = [&](End &e, int in, int out) {
      Address own{e.gid, e.qp->qp_num, e.mr->rkey, uint64_t(e.memory.data())};
      Address peer{};
      if (write(out, &own, sizeof own) != sizeof own ||
          read(in, &peer, sizeof peer) != sizeof peer)
        return false;
      e.peerQpn = peer.qpn, e.peerKey = peer.key, e.peerAddress = peer.address;
      ibv_qp_attr a{};
      a.qp_state = kRtr;
      a.ah_attr.is_global = 1;
      a.ah_attr.port_num = 1;
      a.ah_attr.grh.dgid = peer.gid;
      a.ah_attr.grh.sgid_index = uint8_t(srd ? 0 : o.gidIndex);
      a.path_mtu = 5;
      a.dest_qp_num = peer.qpn;
      int mask = kMaskState;
      if (!srd)
        mask |= kMaskAv | kMaskMtu | kMaskDestQpn | kMaskRqPsn |
                kMaskDestRdAtomic | kMaskMinRnr;
      if (srd)
        e.ah = ibv_create_ah(e.pd, &a.ah_attr);
      if (ibv_modify_qp(e.qp, &a, mask))
        return false;
      a.qp_state = kRts;
      a.timeout = 14, a.retry_cnt = 7, a.rnr_retry = 7;
      mask = kMaskState | kMaskSqPsn;
      if (!srd)
        mask |= kMaskTimeout | kMaskRetry | kMaskRnrRetry | kMaskRdAtomic;
      return !ibv_modify_qp(e.qp, &a, mask);
    };
    pid_t child = fork();
    if (!child) {
      bool ok;
      ++nextDevice;
      {
        End e(o);
        ok = meet(e, toChild[0], toParent[1]);
        *e.words(8) = 77;
        char go;
        ok = ok && read(toChild[0], &go, 1) == 1 && !e.write(1, 8, 16, 8, 5) &&
             !e.next().status;
      }
      _exit(ok ? 0 : 1);
    }
    End e(o);
    ASSERT_TRUE(meet(e, toParent[0], toChild[1]));
    ASSERT_EQ(write(toChild[1], "g", 1), 1);
    EXPECT_EQ(e.next().imm, 5u);
    EXPECT_EQ(*e.words(16), 77u);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    for (int fd : {toChild[0], toChild[1], toParent[0], toParent[1]})
      close(fd);
  }
}

} // namespace
} // namespace soft::test
