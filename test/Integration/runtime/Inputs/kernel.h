// What the hand-written test kernels share.
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include "mkernel/ABI/HostCalls.h"

typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes_and_strides[];
} descriptor;

static inline descriptor *arg_of(const mk_cta *cta, int i) {
  return (descriptor *)cta->launch->args[i];
}
#define ARG(cta, type, i) ((type *)arg_of(cta, i)->aligned)
#define EXTENT(cta, i, d) (arg_of(cta, i)->sizes_and_strides[d])

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
