//===- Verbs.h - The binary interface of libibverbs and efadv ---*- C++ -*-===//
//
// What the software NIC offers to programs: the structs that inline verbs reach
// into, with the layout that libibverbs keeps stable. Written apart from the
// transports' declarations on purpose: a wrong offset in one of the two shows.
// LayoutTest.cpp compares them with the real headers where those are installed.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_SOFTRDMA_VERBS_H
#define MKERNEL_TEST_SOFTRDMA_VERBS_H

#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace soft {

// Enumerators that are used here.
enum QpState : uint32_t { kReset, kInit, kRtr, kRts, kSqd, kSqe, kError };
enum QpType : uint32_t { kTypeRc = 2, kTypeDriver = 0xff };
enum WcStatus : uint32_t {
  kWcSuccess = 0,
  kWcLocLen = 1,
  kWcLocQpOp = 2,
  kWcLocProt = 4,
  kWcFlush = 5,
  kWcRemInvReq = 9,
  kWcRemAccess = 10,
  kWcRemOp = 11,
  kWcRetryExceeded = 12,
  kWcRnrRetryExceeded = 13,
  kWcRemInvRdReq = 15,
  kWcFatal = 19,
  kWcRespTimeout = 20,
  kWcGeneral = 21,
};
enum WcOpcode : uint32_t {
  kWcSend = 0,
  kWcRdmaWrite = 1,
  kWcRecv = 128,
  kWcRecvRdmaWithImm = 129
};
enum EventType : uint32_t {
  kEventCqError = 0,
  kEventQpFatal = 1,
  kEventQpAccessError = 3,
  kEventDeviceFatal = 8,
  kEventPortActive = 9,
  kEventPortError = 10
};
constexpr unsigned kSendSignaled = 2, kSendSolicited = 4, kSendInline = 8;
constexpr unsigned kAccessLocalWrite = 1, kAccessRemoteWrite = 2,
                   kAccessRemoteAtomic = 8, kAccessRelaxed = 1u << 20;
constexpr unsigned kWcWithImm = 2;
constexpr uint64_t kOpWrite = 1, kOpWriteImm = 2, kOpSend = 4, kOpSendImm = 8,
                   kOpRead = 16;
constexpr uint32_t kAttrPd = 1, kAttrSendOps = 64;
constexpr int kMaskState = 1 << 0, kMaskAccess = 1 << 3, kMaskPkey = 1 << 4,
              kMaskPort = 1 << 5, kMaskQkey = 1 << 6, kMaskAv = 1 << 7,
              kMaskMtu = 1 << 8, kMaskTimeout = 1 << 9, kMaskRetry = 1 << 10,
              kMaskRnrRetry = 1 << 11, kMaskRqPsn = 1 << 12,
              kMaskRdAtomic = 1 << 13, kMaskMinRnr = 1 << 15,
              kMaskSqPsn = 1 << 16, kMaskDestRdAtomic = 1 << 17,
              kMaskDestQpn = 1 << 20;
constexpr uint8_t kLinkUnspecified = 0, kLinkInfiniBand = 1, kLinkEthernet = 2;
constexpr uint32_t kGidIb = 0, kGidRoceV1 = 1, kGidRoceV2 = 2;
// Of EFA. Older headers do not name the later ones.
constexpr uint32_t kEfaRead = 1 << 0, kEfaRnrRetry = 1 << 1,
                   kEfaCqWithSgid = 1 << 2, kEfaWrite = 1 << 3,
                   kEfaUnsolicited = 1 << 4;
constexpr uint16_t kEfaQpUnsolicited = 1;

union ibv_gid {
  uint8_t raw[16];
  struct {
    uint64_t subnet_prefix, interface_id;
  } global;
};

struct ibv_device {
  void *ops[2];
  int32_t node_type; // 1: a channel adapter; 7: EFA, unspecified
  int32_t transport_type;
  char name[64], dev_name[64], dev_path[256], ibdev_path[256];
};

struct ibv_context;
struct ibv_cq;
struct ibv_cq_ex;
struct ibv_qp;
struct ibv_qp_ex;
struct ibv_ah;
struct ibv_wc;
struct ibv_recv_wr;
struct ibv_send_wr;
struct ibv_sge {
  uint64_t addr;
  uint32_t length, lkey;
};
struct ibv_data_buf {
  void *addr;
  size_t length;
};

struct ibv_context_ops {
  void *compat0[11];
  int (*poll_cq)(ibv_cq *, int, ibv_wc *);
  int (*req_notify_cq)(ibv_cq *, int);
  void *compat1[7];
  void *post_srq_recv;
  void *compat2[4];
  int (*post_send)(ibv_qp *, ibv_send_wr *, ibv_send_wr **);
  int (*post_recv)(ibv_qp *, ibv_recv_wr *, ibv_recv_wr **);
  void *compat3[5];
};

struct ibv_context {
  ibv_device *device;
  ibv_context_ops ops;
  int cmd_fd, async_fd, num_comp_vectors;
  pthread_mutex_t mutex;
  void *abi_compat; // all ones: a verbs_context is around it
};

struct ibv_port_attr {
  uint32_t state, max_mtu, active_mtu;
  int32_t gid_tbl_len;
  uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
  uint16_t pkey_tbl_len, lid, sm_lid;
  uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply;
  uint8_t active_width, active_speed, phys_state, link_layer, flags;
  uint16_t port_cap_flags2;
};

struct ibv_device_attr {
  char fw_ver[64];
  uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
  uint32_t vendor_id, vendor_part_id, hw_ver;
  int32_t max_qp, max_qp_wr;
  uint32_t device_cap_flags;
  int32_t max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
  int32_t max_qp_rd_atom, unused0[2], max_qp_init_rd_atom, unused1[10], max_ah,
      unused2[2], max_srq, max_srq_wr, max_srq_sge;
  uint16_t max_pkeys;
  uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct ibv_cq_init_attr_ex;
struct ibv_qp_init_attr_ex;

// Members are counted from the end: `sz` says how many there are.
struct verbs_context {
  int (*query_port)(ibv_context *, uint8_t, ibv_port_attr *, size_t);
  void *unused0[24];
  ibv_cq_ex *(*create_cq_ex)(ibv_context *, ibv_cq_init_attr_ex *);
  void *priv;
  int (*query_device_ex)(ibv_context *, const void *, ibv_device_attr *,
                         size_t);
  void *unused1[5];
  ibv_qp *(*create_qp_ex)(ibv_context *, ibv_qp_init_attr_ex *);
  void *unused2[4];
  uint64_t placeholder;
  size_t sz;
  ibv_context context;
};

struct ibv_gid_entry {
  ibv_gid gid;
  uint32_t gid_index, port_num, gid_type, ndev_ifindex;
};

struct ibv_pd {
  ibv_context *context;
  uint32_t handle;
};
struct ibv_mr {
  ibv_context *context;
  ibv_pd *pd;
  void *addr;
  size_t length;
  uint32_t handle, lkey, rkey;
};
struct ibv_ah {
  ibv_context *context;
  ibv_pd *pd;
  uint32_t handle;
};
struct ibv_global_route {
  ibv_gid dgid;
  uint32_t flow_label;
  uint8_t sgid_index, hop_limit, traffic_class;
};
struct ibv_ah_attr {
  ibv_global_route grh;
  uint16_t dlid;
  uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct ibv_comp_channel {
  ibv_context *context;
  int fd, refcnt;
};
struct ibv_async_event {
  union {
    ibv_cq *cq;
    ibv_qp *qp;
    int port_num;
  } element;
  uint32_t event_type;
};

struct ibv_wc {
  uint64_t wr_id;
  uint32_t status, opcode, vendor_err, byte_len;
  uint32_t imm_data; // of the network's byte order
  uint32_t qp_num, src_qp, wc_flags;
  uint16_t pkey_index, slid;
  uint8_t sl, dlid_path_bits;
};

struct ibv_cq {
  ibv_context *context;
  ibv_comp_channel *channel;
  void *cq_context;
  uint32_t handle;
  int32_t cqe;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t comp_events_completed, async_events_completed;
};
struct ibv_poll_cq_attr {
  uint32_t comp_mask;
};
struct ibv_cq_ex : ibv_cq {
  uint32_t comp_mask, status;
  uint64_t wr_id;
  int (*start_poll)(ibv_cq_ex *, ibv_poll_cq_attr *);
  int (*next_poll)(ibv_cq_ex *);
  void (*end_poll)(ibv_cq_ex *);
  uint32_t (*read_opcode)(ibv_cq_ex *);
  uint32_t (*read_vendor_err)(ibv_cq_ex *);
  uint32_t (*read_byte_len)(ibv_cq_ex *);
  uint32_t (*read_imm_data)(ibv_cq_ex *);
  uint32_t (*read_qp_num)(ibv_cq_ex *);
  uint32_t (*read_src_qp)(ibv_cq_ex *);
  unsigned (*read_wc_flags)(ibv_cq_ex *);
  uint32_t (*read_slid)(ibv_cq_ex *);
  void *unused[7];
};
struct ibv_cq_init_attr_ex {
  uint32_t cqe;
  void *cq_context;
  ibv_comp_channel *channel;
  uint32_t comp_vector;
  uint64_t wc_flags;
  uint32_t comp_mask, flags;
  ibv_pd *parent_domain;
};

struct ibv_qp {
  ibv_context *context;
  void *qp_context;
  ibv_pd *pd;
  ibv_cq *send_cq, *recv_cq;
  void *srq;
  uint32_t handle, qp_num, state, qp_type;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t events_completed;
};
struct ibv_qp_ex : ibv_qp {
  uint64_t comp_mask, wr_id;
  unsigned wr_flags;
  void *unused0[5];
  void (*wr_rdma_write)(ibv_qp_ex *, uint32_t, uint64_t);
  void (*wr_rdma_write_imm)(ibv_qp_ex *, uint32_t, uint64_t, uint32_t);
  void *unused1[4];
  void (*wr_set_ud_addr)(ibv_qp_ex *, ibv_ah *, uint32_t, uint32_t);
  void *unused2;
  void (*wr_set_inline_data)(ibv_qp_ex *, void *, size_t);
  void (*wr_set_inline_data_list)(ibv_qp_ex *, size_t, const ibv_data_buf *);
  void (*wr_set_sge)(ibv_qp_ex *, uint32_t, uint64_t, uint32_t);
  void (*wr_set_sge_list)(ibv_qp_ex *, size_t, const ibv_sge *);
  void (*wr_start)(ibv_qp_ex *);
  int (*wr_complete)(ibv_qp_ex *);
  void (*wr_abort)(ibv_qp_ex *);
  void *unused3;
};

struct ibv_qp_cap {
  uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge,
      max_inline_data;
};
struct ibv_qp_init_attr {
  void *qp_context;
  ibv_cq *send_cq, *recv_cq;
  void *srq;
  ibv_qp_cap cap;
  uint32_t qp_type;
  int32_t sq_sig_all;
};
struct ibv_qp_init_attr_ex {
  void *qp_context;
  ibv_cq *send_cq, *recv_cq;
  void *srq;
  ibv_qp_cap cap;
  uint32_t qp_type;
  int32_t sq_sig_all;
  uint32_t comp_mask;
  ibv_pd *pd;
  void *xrcd;
  uint32_t create_flags;
  uint16_t max_tso_header;
  void *rwq_ind_tbl;
  uint64_t rx_hash_conf[3];
  uint32_t source_qpn;
  uint64_t send_ops_flags;
};
struct ibv_qp_attr {
  uint32_t qp_state, cur_qp_state, path_mtu, path_mig_state;
  uint32_t qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags;
  ibv_qp_cap cap;
  ibv_ah_attr ah_attr, alt_ah_attr;
  uint16_t pkey_index, alt_pkey_index;
  uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic;
  uint8_t min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num,
      alt_timeout;
  uint32_t rate_limit;
};
struct ibv_recv_wr {
  uint64_t wr_id;
  ibv_recv_wr *next;
  ibv_sge *sg_list;
  int num_sge;
};

struct efadv_qp_init_attr {
  uint64_t comp_mask;
  uint32_t driver_qp_type; // 0: SRD
  uint16_t flags;          // reserved in old headers
  uint8_t sl, reserved;
};
struct efadv_device_attr {
  uint64_t comp_mask;
  uint32_t max_sq_wr, max_rq_wr;
  uint16_t max_sq_sge, max_rq_sge, inline_buf_size;
  uint8_t reserved[2];
  uint32_t device_caps, max_rdma_size;
};
struct efadv_cq_init_attr {
  uint64_t comp_mask, wc_flags;
};

} // namespace soft

#endif // MKERNEL_TEST_SOFTRDMA_VERBS_H
