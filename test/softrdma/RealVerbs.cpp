//===- RealVerbs.cpp - The same functions from libibverbs -----------------===//

#include "Functions.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace soft {
namespace {

void *symbol(const char *name) {
  static void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  void *found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    fprintf(stderr, "error: %s\n", dlerror());
    exit(1);
  }
  return found;
}

} // namespace

#define FORWARD(result, name, parameters, arguments)                           \
  result name parameters {                                                     \
    static auto *function =                                                    \
        reinterpret_cast<result(*) parameters>(symbol(#name));                 \
    return function arguments;                                                 \
  }

extern "C" {
FORWARD(ibv_device **, ibv_get_device_list, (int *n), (n))
FORWARD(void, ibv_free_device_list, (ibv_device * *list), (list))
FORWARD(const char *, ibv_get_device_name, (ibv_device * device), (device))
FORWARD(ibv_context *, ibv_open_device, (ibv_device * device), (device))
FORWARD(int, ibv_close_device, (ibv_context * context), (context))
FORWARD(int, ibv_get_async_event, (ibv_context * c, ibv_async_event *e), (c, e))
FORWARD(void, ibv_ack_async_event, (ibv_async_event * event), (event))
FORWARD(int, ibv_query_gid, (ibv_context * c, uint8_t p, int i, ibv_gid *g),
        (c, p, i, g))
FORWARD(int, _ibv_query_gid_ex,
        (ibv_context * c, uint32_t p, uint32_t i, ibv_gid_entry *e, uint32_t f,
         size_t s),
        (c, p, i, e, f, s))
FORWARD(ibv_pd *, ibv_alloc_pd, (ibv_context * context), (context))
FORWARD(int, ibv_dealloc_pd, (ibv_pd * pd), (pd))
FORWARD(ibv_mr *, ibv_reg_mr, (ibv_pd * p, void *a, size_t n, int access),
        (p, a, n, access))
FORWARD(ibv_mr *, ibv_reg_dmabuf_mr,
        (ibv_pd * p, uint64_t o, size_t n, uint64_t iova, int fd, int access),
        (p, o, n, iova, fd, access))
FORWARD(int, ibv_dereg_mr, (ibv_mr * mr), (mr))
FORWARD(ibv_comp_channel *, ibv_create_comp_channel, (ibv_context * c), (c))
FORWARD(int, ibv_destroy_comp_channel, (ibv_comp_channel * channel), (channel))
FORWARD(int, ibv_destroy_cq, (ibv_cq * cq), (cq))
FORWARD(int, ibv_get_cq_event, (ibv_comp_channel * c, ibv_cq **cq, void **user),
        (c, cq, user))
FORWARD(void, ibv_ack_cq_events, (ibv_cq * cq, unsigned n), (cq, n))
FORWARD(ibv_qp_ex *, ibv_qp_to_qp_ex, (ibv_qp * qp), (qp))
FORWARD(int, ibv_modify_qp, (ibv_qp * qp, ibv_qp_attr *a, int mask),
        (qp, a, mask))
FORWARD(int, ibv_destroy_qp, (ibv_qp * qp), (qp))
FORWARD(ibv_ah *, ibv_create_ah, (ibv_pd * pd, ibv_ah_attr *a), (pd, a))
FORWARD(int, ibv_destroy_ah, (ibv_ah * ah), (ah))

// Tests of what only the software NIC has are skipped.
int efadv_query_device(ibv_context *, efadv_device_attr *, uint32_t) {
  abort();
}
ibv_cq_ex *efadv_create_cq(ibv_context *, ibv_cq_init_attr_ex *,
                           efadv_cq_init_attr *, uint32_t) {
  abort();
}
ibv_qp *efadv_create_qp_ex(ibv_context *, ibv_qp_init_attr_ex *,
                           efadv_qp_init_attr *, uint32_t) {
  abort();
}
int softrdma_objects() { abort(); }
void softrdma_pause(int, int) { abort(); }
int softrdma_deliver(int, uint64_t) { abort(); }
int softrdma_settle(int milliseconds) {
  usleep(unsigned(milliseconds) * 100);
  return 1;
}
} // extern "C"
} // namespace soft
