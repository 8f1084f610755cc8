//===- LayoutTest.cpp - Verbs.h against the real headers ------------------===//

#include <infiniband/efadv.h>
#include <infiniband/verbs.h>

#include "Verbs.h"

#include <gtest/gtest.h>

#define SAME_SIZE(type) static_assert(sizeof(soft::type) == sizeof(struct type))
#define SAME(type, member)                                                     \
  static_assert(offsetof(soft::type, member) == offsetof(struct type, member))
#define SAME_AS(type, member, of)                                              \
  static_assert(offsetof(soft::type, member) == offsetof(struct type, of))

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

SAME_SIZE(ibv_device);
SAME(ibv_device, name);
SAME(ibv_device, ibdev_path);
SAME_SIZE(ibv_context);
SAME(ibv_context, ops);
SAME(ibv_context, async_fd);
SAME(ibv_context, abi_compat);
SAME_SIZE(ibv_context_ops);
SAME(ibv_context_ops, poll_cq);
SAME(ibv_context_ops, req_notify_cq);
SAME(ibv_context_ops, post_send);
SAME(ibv_context_ops, post_recv);
SAME_SIZE(verbs_context);
SAME(verbs_context, query_port);
SAME(verbs_context, create_cq_ex);
SAME(verbs_context, query_device_ex);
SAME(verbs_context, create_qp_ex);
SAME(verbs_context, sz);
SAME(verbs_context, context);
SAME_SIZE(ibv_port_attr);
SAME(ibv_port_attr, lid);
SAME(ibv_port_attr, active_width);
SAME(ibv_port_attr, link_layer);
SAME_SIZE(ibv_device_attr);
SAME(ibv_device_attr, max_qp_wr);
SAME(ibv_device_attr, max_cqe);
SAME(ibv_device_attr, max_qp_init_rd_atom);
SAME(ibv_device_attr, max_ah);
SAME(ibv_device_attr, phys_port_cnt);
SAME_SIZE(ibv_gid_entry);
SAME(ibv_gid_entry, gid_type);
SAME_SIZE(ibv_pd);
SAME_SIZE(ibv_mr);
SAME(ibv_mr, rkey);
SAME_SIZE(ibv_ah);
SAME_SIZE(ibv_ah_attr);
SAME(ibv_ah_attr, is_global);
SAME(ibv_ah_attr, grh.sgid_index);
SAME_SIZE(ibv_comp_channel);
SAME(ibv_comp_channel, fd);
SAME_SIZE(ibv_async_event);
SAME(ibv_async_event, event_type);
SAME_SIZE(ibv_wc);
SAME(ibv_wc, imm_data);
SAME(ibv_wc, wc_flags);
SAME_SIZE(ibv_cq);
SAME_SIZE(ibv_cq_ex);
SAME(ibv_cq_ex, comp_mask);
SAME(ibv_cq_ex, wr_id);
SAME(ibv_cq_ex, start_poll);
SAME(ibv_cq_ex, read_src_qp);
SAME(ibv_cq_ex, read_wc_flags);
SAME(ibv_cq_ex, read_slid);
SAME_SIZE(ibv_cq_init_attr_ex);
SAME(ibv_cq_init_attr_ex, wc_flags);
SAME_SIZE(ibv_qp);
SAME(ibv_qp, qp_num);
SAME_SIZE(ibv_qp_ex);
SAME(ibv_qp_ex, wr_id);
SAME(ibv_qp_ex, wr_rdma_write);
SAME(ibv_qp_ex, wr_rdma_write_imm);
SAME(ibv_qp_ex, wr_set_ud_addr);
SAME(ibv_qp_ex, wr_set_inline_data);
SAME(ibv_qp_ex, wr_set_sge);
SAME(ibv_qp_ex, wr_set_sge_list);
SAME(ibv_qp_ex, wr_start);
SAME(ibv_qp_ex, wr_complete);
SAME(ibv_qp_ex, wr_abort);
SAME_SIZE(ibv_qp_init_attr);
SAME_SIZE(ibv_qp_init_attr_ex);
SAME(ibv_qp_init_attr_ex, comp_mask);
SAME(ibv_qp_init_attr_ex, pd);
SAME(ibv_qp_init_attr_ex, send_ops_flags);
SAME_SIZE(ibv_qp_attr);
SAME(ibv_qp_attr, ah_attr);
SAME(ibv_qp_attr, min_rnr_timer);
SAME(ibv_qp_attr, rnr_retry);
SAME_SIZE(ibv_recv_wr);
SAME_SIZE(efadv_qp_init_attr);
SAME(efadv_qp_init_attr, driver_qp_type);
SAME_SIZE(efadv_device_attr);
SAME(efadv_device_attr, device_caps);
SAME_SIZE(efadv_cq_init_attr);
static_assert(offsetof(soft::efadv_qp_init_attr, flags) == 12);

static_assert(int(soft::kWcRespTimeout) == IBV_WC_RESP_TIMEOUT_ERR);
static_assert(int(soft::kWcRemAccess) == IBV_WC_REM_ACCESS_ERR);
static_assert(int(soft::kWcRemInvRdReq) == IBV_WC_REM_INV_RD_REQ_ERR);
static_assert(int(soft::kWcRetryExceeded) == IBV_WC_RETRY_EXC_ERR);
static_assert(int(soft::kWcRnrRetryExceeded) == IBV_WC_RNR_RETRY_EXC_ERR);
static_assert(int(soft::kWcFlush) == IBV_WC_WR_FLUSH_ERR);
static_assert(int(soft::kWcGeneral) == IBV_WC_GENERAL_ERR);
static_assert(int(soft::kWcRecvRdmaWithImm) == IBV_WC_RECV_RDMA_WITH_IMM);
static_assert(int(soft::kError) == IBV_QPS_ERR);
static_assert(int(soft::kEventPortError) == IBV_EVENT_PORT_ERR);
static_assert(int(soft::kEventQpAccessError) == IBV_EVENT_QP_ACCESS_ERR);
static_assert(int(soft::kEventDeviceFatal) == IBV_EVENT_DEVICE_FATAL);
static_assert(soft::kMaskDestQpn == IBV_QP_DEST_QPN);
static_assert(soft::kMaskSqPsn == IBV_QP_SQ_PSN);
static_assert(soft::kMaskMinRnr == IBV_QP_MIN_RNR_TIMER);
static_assert(soft::kMaskRdAtomic == IBV_QP_MAX_QP_RD_ATOMIC);
static_assert(soft::kMaskDestRdAtomic == IBV_QP_MAX_DEST_RD_ATOMIC);
static_assert(soft::kAttrSendOps == IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
static_assert(soft::kAccessRelaxed == IBV_ACCESS_RELAXED_ORDERING);

TEST(SoftRdmaLayout, IsTheRealOne) {} // by the assertions above
