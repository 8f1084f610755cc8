//===- SoftRdmaTest.cpp - Two ends of a wire for the library's tests ------===//

#include "SoftRdmaTest.h"

namespace soft::test {

int nextDevice = 0;

End::End(const Options &o, size_t bytes) : options(o), memory(bytes) {
  int n = 0;
  ibv_device **list = ibv_get_device_list(&n);
  ibv_device *device = nullptr;
  for (int i = 0; i < n; ++i)
    if ((list[i]->node_type == 7) == o.srd)
      device = list[i];
  if (kReal && n)
    device = list[nextDevice++ % n];
  context = ibv_open_device(device);
  EXPECT_TRUE(context);
  pd = ibv_alloc_pd(context);
  if (o.channel)
    channel = ibv_create_comp_channel(context);
  ibv_cq_init_attr_ex ca{};
  ca.cqe = o.cqDepth;
  ca.channel = channel;
  ca.wc_flags = 7; // length, immediate, queue pair
  auto *verbs = reinterpret_cast<verbs_context *>(
      reinterpret_cast<char *>(context) - offsetof(verbs_context, context));
  efadv_cq_init_attr ea{};
  cq = o.srd ? efadv_create_cq(context, &ca, &ea, sizeof ea)
             : verbs->create_cq_ex(context, &ca);
  ibv_qp_init_attr_ex qa{};
  qa.qp_type = o.srd ? kTypeDriver : kTypeRc;
  qa.send_cq = qa.recv_cq = cq;
  qa.cap = {o.sendDepth, o.recvDepth, 1, 1, 0};
  qa.pd = pd;
  qa.comp_mask = kAttrPd | kAttrSendOps;
  qa.send_ops_flags = kOpWrite | kOpWriteImm;
  efadv_qp_init_attr qe{};
  qe.flags = o.unsolicited ? kEfaQpUnsolicited : 0;
  qp = o.srd ? efadv_create_qp_ex(context, &qa, &qe, sizeof qe)
             : verbs->create_qp_ex(context, &qa);
  mr = ibv_reg_mr(pd, memory.data(), bytes, int(o.access));
  EXPECT_EQ(ibv_query_gid(context, 1, o.srd ? 0 : int(o.gidIndex), &gid), 0);
  if (!qp)
    return;
  ibv_qp_attr a{};
  a.qp_state = kInit;
  a.port_num = 1;
  a.qkey = o.qkey;
  a.qp_access_flags = kAccessRemoteWrite;
  EXPECT_EQ(ibv_modify_qp(qp, &a,
                          kMaskState | kMaskPkey | kMaskPort |
                              (o.srd ? kMaskQkey : kMaskAccess)),
            0);
  for (uint32_t i = 0; i < o.recvDepth && !(o.srd && o.unsolicited); ++i)
    EXPECT_EQ(receive(1000000 + i), 0);
}

End::~End() {
  if (qp)
    ibv_destroy_qp(qp);
  if (ah)
    ibv_destroy_ah(ah);
  if (mr)
    ibv_dereg_mr(mr);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  if (channel) {
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  ibv_close_device(context);
}

void End::connect(const End &peer) {
  peerQpn = peer.qp->qp_num;
  peerKey = peer.mr->rkey;
  peerAddress = uint64_t(peer.memory.data());
  ibv_qp_attr a{};
  a.qp_state = kRtr;
  a.ah_attr.is_global = 1;
  a.ah_attr.port_num = 1;
  a.ah_attr.grh.dgid = peer.gid;
  if (options.srd) {
    ah = ibv_create_ah(pd, &a.ah_attr);
    ASSERT_TRUE(ah);
    ASSERT_EQ(ibv_modify_qp(qp, &a, kMaskState), 0);
    a.qp_state = kRts;
    a.rnr_retry = options.rnrRetry;
    ASSERT_EQ(ibv_modify_qp(qp, &a, kMaskState | kMaskSqPsn | kMaskRnrRetry),
              0);
    return;
  }
  a.ah_attr.grh.sgid_index = uint8_t(options.gidIndex);
  a.path_mtu = 5;
  a.dest_qp_num = peer.qp->qp_num;
  a.rq_psn = peer.qp->qp_num * 7;
  a.min_rnr_timer = 12;
  ASSERT_EQ(ibv_modify_qp(qp, &a,
                          kMaskState | kMaskAv | kMaskMtu | kMaskDestQpn |
                              kMaskRqPsn | kMaskDestRdAtomic | kMaskMinRnr),
            0);
  a.qp_state = kRts;
  a.sq_psn = qp->qp_num * 7;
  a.timeout = options.timeout;
  a.retry_cnt = options.retries;
  a.rnr_retry = options.rnrRetry;
  ASSERT_EQ(ibv_modify_qp(qp, &a,
                          kMaskState | kMaskTimeout | kMaskRetry |
                              kMaskRnrRetry | kMaskSqPsn | kMaskRdAtomic),
            0);
}

int End::write(uint64_t id, uint64_t from, uint64_t to, uint32_t bytes,
               int64_t imm, bool signaled) {
  ibv_qp_ex *q = ibv_qp_to_qp_ex(qp);
  q->wr_start(q);
  q->wr_id = id;
  q->wr_flags = signaled ? kSendSignaled : 0;
  if (imm < 0)
    q->wr_rdma_write(q, peerKey, peerAddress + to);
  else
    q->wr_rdma_write_imm(q, peerKey, peerAddress + to, htonl(uint32_t(imm)));
  q->wr_set_sge(q, mr->lkey, uint64_t(memory.data()) + from, bytes);
  if (options.srd)
    q->wr_set_ud_addr(q, ah, peerQpn, options.qkey);
  return q->wr_complete(q);
}

int End::receive(uint64_t id) {
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = id;
  return context->ops.post_recv(qp, &wr, &bad);
}

bool End::poll(Completion &c, int milliseconds) {
  auto until = std::chrono::steady_clock::now() +
               std::chrono::milliseconds(milliseconds);
  ibv_poll_cq_attr attr{};
  while (cq->start_poll(cq, &attr)) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    usleep(5);
  }
  c.id = cq->wr_id;
  c.status = cq->status;
  c.opcode = cq->read_opcode(cq);
  c.vendor = cq->read_vendor_err(cq);
  c.bytes = cq->read_byte_len(cq);
  c.imm = ntohl(cq->read_imm_data(cq));
  cq->end_poll(cq);
  return true;
}

Completion End::next(int milliseconds) {
  Completion c;
  EXPECT_TRUE(poll(c, milliseconds)) << "no completion";
  return c;
}

} // namespace soft::test
