//===- Library.h - libibverbs and libefa, loaded when asked -----*- C++ -*-===//
//
// One binary runs with and without rdma-core. The data path does not pass
// through here: posting and polling are calls through pointers that a provider
// puts into its queue pairs and completion queues.
//
// Nothing but this table may call an exported ibv_ function. The inline ones of
// verbs.h go through the context; ibv_query_port among the exported ones is for
// old programs only.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_RDMA_LIBRARY_H
#define MKERNEL_RUNTIME_TRANSPORT_RDMA_LIBRARY_H

#include "mkernel/Runtime/Status.h"

#include <infiniband/efadv.h>
#include <infiniband/verbs.h>

namespace mk::rt::rdma {

#define MK_IBVERBS_FUNCTIONS(X)                                                \
  X(get_device_list)                                                           \
  X(free_device_list)                                                          \
  X(get_device_name)                                                           \
  X(open_device)                                                               \
  X(close_device)                                                              \
  X(get_async_event)                                                           \
  X(ack_async_event)                                                           \
  X(query_device)                                                              \
  X(query_gid)                                                                 \
  X(alloc_pd)                                                                  \
  X(dealloc_pd)                                                                \
  X(reg_mr)                                                                    \
  X(dereg_mr)                                                                  \
  X(create_comp_channel)                                                       \
  X(destroy_comp_channel)                                                      \
  X(get_cq_event)                                                              \
  X(ack_cq_events)                                                             \
  X(destroy_cq)                                                                \
  X(qp_to_qp_ex)                                                               \
  X(modify_qp)                                                                 \
  X(destroy_qp)                                                                \
  X(create_ah)                                                                 \
  X(destroy_ah)                                                                \
  X(wc_status_str)                                                             \
  X(event_type_str)

/// May be missing, and then be null.
#define MK_IBVERBS_OPTIONAL(X)                                                 \
  X(reg_mr_iova2)                                                              \
  X(reg_dmabuf_mr)

#define MK_EFA_FUNCTIONS(X)                                                    \
  X(query_device)                                                              \
  X(create_cq)                                                                 \
  X(create_qp_ex)                                                              \
  X(query_ah)

struct Library {
#define MK_DECLARE(name) decltype(&::ibv_##name) name = nullptr;
  MK_IBVERBS_FUNCTIONS(MK_DECLARE)
  MK_IBVERBS_OPTIONAL(MK_DECLARE)
#undef MK_DECLARE
  decltype(&::_ibv_query_gid_ex) query_gid_ex = nullptr; // may be null
  struct {
#define MK_DECLARE(name) decltype(&::efadv_##name) name = nullptr;
    MK_EFA_FUNCTIONS(MK_DECLARE)
#undef MK_DECLARE
  } efa; // null unless asked for

  /// Loads libibverbs (MK_IBVERBS_LIBRARY) and, with `efa`, libefa
  /// (MK_EFA_LIBRARY). They stay loaded. Unavailable names the package that is
  /// missing.
  static Result<Library> load(bool efa);
};

/// Of a port, or errno. The exported function of this name knows an older
/// structure.
inline int queryPort(ibv_context *context, uint32_t port, ibv_port_attr &attr) {
  attr = {};
  verbs_context *verbs = verbs_get_ctx_op(context, query_port);
  return verbs ? verbs->query_port(context, static_cast<uint8_t>(port), &attr,
                                   sizeof(attr))
               : ENOSYS;
}

} // namespace mk::rt::rdma

#endif // MKERNEL_RUNTIME_TRANSPORT_RDMA_LIBRARY_H
