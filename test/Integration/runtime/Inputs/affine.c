// C = 2 * A + 1 for a GPU target. The device code is no kernel: it names one of
// the fake driver's (test/unit/cuda/FakeCuda.h), which are not of this size in
// memory and time. Behind its matrices the kernel has one object of each kind. The code
// of a second variant is the same; the metadata have one.
#include "kernel.h"

#define CODE                                                                             \
  "// fake: affine params=568 maps=2 dims=2\n"                                           \
  ".version 8.6\n.target sm_90a\n.address_size 64\n"                                     \
  ".visible .entry mk_kernel(.param .align 64 .b8 p[536]) { ret; }\n"
const char mk_device_code_0[] = CODE;
const uint64_t mk_device_bytes_0 = sizeof(mk_device_code_0) - 1;
const char mk_device_code_1[] = CODE "// the second";
const uint64_t mk_device_bytes_1 = sizeof(mk_device_code_1) - 1;

int64_t mk_plan(const mk_launch *l, int64_t *out) {
  int64_t m = l->dims[0], n = l->dims[1];
  if (n < 1)
    return 1;
  for (int i = 0; i < 2; ++i)
    *out++ = m, *out++ = n;
  *out++ = m, *out++ = 3, *out++ = 2; // ready: m x 3, 2 arrivals
  *out++ = 5;                         // done
  *out++ = 8;                         // items
  return 0;
}

int64_t mk_reference(void *const *d, int64_t row, int64_t rows) {
  descriptor *a = d[0], *c = d[1];
  int64_t m = a->sizes_and_strides[0], n = a->sizes_and_strides[1];
  int64_t stop = rows < 0 ? m : row + rows;
  for (int64_t i = row * n; i < stop * n; ++i)
    ((double *)c->aligned)[i] = 2 * ((double *)a->aligned)[i] + 1;
  return 0;
}
