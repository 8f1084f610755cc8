//===- Functions.h - What the software NIC's library exports ----*- C++ -*-===//
#ifndef MKERNEL_TEST_SOFTRDMA_FUNCTIONS_H
#define MKERNEL_TEST_SOFTRDMA_FUNCTIONS_H

#include "Verbs.h"

namespace soft {
extern "C" {

ibv_device **ibv_get_device_list(int *n);
void ibv_free_device_list(ibv_device **list);
const char *ibv_get_device_name(ibv_device *device);
uint64_t ibv_get_device_guid(ibv_device *device);
int ibv_fork_init();
ibv_context *ibv_open_device(ibv_device *device);
int ibv_close_device(ibv_context *context);
int ibv_get_async_event(ibv_context *context, ibv_async_event *event);
void ibv_ack_async_event(ibv_async_event *event);
const char *ibv_event_type_str(uint32_t type);
int ibv_query_device(ibv_context *context, ibv_device_attr *attr);
int ibv_query_port(ibv_context *context, uint8_t port, ibv_port_attr *attr);
int ibv_query_gid(ibv_context *context, uint8_t port, int index, ibv_gid *gid);
int _ibv_query_gid_ex(ibv_context *context, uint32_t port, uint32_t index,
                      ibv_gid_entry *entry, uint32_t flags, size_t size);
ibv_pd *ibv_alloc_pd(ibv_context *context);
int ibv_dealloc_pd(ibv_pd *pd);
ibv_mr *ibv_reg_mr(ibv_pd *pd, void *address, size_t bytes, int access);
ibv_mr *ibv_reg_mr_iova(ibv_pd *pd, void *address, size_t bytes, uint64_t iova,
                        int access);
ibv_mr *ibv_reg_mr_iova2(ibv_pd *pd, void *address, size_t bytes, uint64_t iova,
                         unsigned access);
ibv_mr *ibv_reg_dmabuf_mr(ibv_pd *pd, uint64_t offset, size_t bytes,
                          uint64_t iova, int fd, int access);
int ibv_dereg_mr(ibv_mr *mr);
ibv_comp_channel *ibv_create_comp_channel(ibv_context *context);
int ibv_destroy_comp_channel(ibv_comp_channel *channel);
ibv_cq *ibv_create_cq(ibv_context *context, int depth, void *user,
                      ibv_comp_channel *channel, int vector);
int ibv_destroy_cq(ibv_cq *cq);
int ibv_get_cq_event(ibv_comp_channel *channel, ibv_cq **cq, void **user);
void ibv_ack_cq_events(ibv_cq *cq, unsigned n);
ibv_qp_ex *ibv_qp_to_qp_ex(ibv_qp *qp);
int ibv_modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask);
int ibv_destroy_qp(ibv_qp *qp);
ibv_ah *ibv_create_ah(ibv_pd *pd, ibv_ah_attr *attr);
int ibv_destroy_ah(ibv_ah *ah);
const char *ibv_wc_status_str(uint32_t status);

int efadv_query_device(ibv_context *context, efadv_device_attr *attr,
                       uint32_t size);
ibv_cq_ex *efadv_create_cq(ibv_context *context, ibv_cq_init_attr_ex *attr,
                           efadv_cq_init_attr *efa, uint32_t size);
ibv_qp *efadv_create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr,
                           efadv_qp_init_attr *efa, uint32_t size);
int efadv_query_ah(ibv_ah *ah, void *attr, uint32_t size);

// For tests in the process. Contexts are numbered in the order in which they
// were opened, among those that are open; -1 means all.
int softrdma_contexts();
/// All that the process has made and not given back: contexts, regions, queues ...
int softrdma_objects();
/// The most entries that a completion queue of the context held, and how many it
/// can; -1: there is no such context.
int softrdma_cq_peak(int context, int *capacity);
/// While paused, no data packet leaves.
void softrdma_pause(int context, int on);
/// While paused: sends the SRD data packet that the context posted as number
/// `packet` (from 0), and waits for all that follows from it. 0: there is none.
int softrdma_deliver(int context, uint64_t packet);
/// Waits until nothing is under way between contexts of this process; 0:
/// something still is.
int softrdma_settle(int milliseconds);

} // extern "C"
} // namespace soft

#endif // MKERNEL_TEST_SOFTRDMA_FUNCTIONS_H
