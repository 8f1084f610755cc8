// C = 2 * gather(A) + 1. Each rank puts its shard of A, in blocks of rows, to
// all other ranks; the work on a block starts when it has arrived.
#include "kernel.h"

enum { A, FULL, C };
enum { BLOCK = 4 }; // rows

// Rows [begin, end) of A that rank r holds.
static void shard(const mk_launch *l, int64_t r, int64_t *begin, int64_t *end) {
  int64_t m = l->dims[0], c = ceil_div(m, l->world);
  *begin = min64(r * c, m);
  *end = min64((r + 1) * c, m);
}

static int64_t blocks(const mk_launch *l) {
  return ceil_div(ceil_div(l->dims[0], l->world), BLOCK);
}

int64_t mk_plan(const mk_launch *l, int64_t *out) {
  int64_t m = l->dims[0], n = l->dims[1];
  if (n < 1)
    return 1;
  for (int i = 0; i < 3; ++i)
    *out++ = m, *out++ = n;
  *out++ = l->world, *out++ = blocks(l), *out++ = 1; // ready
  *out++ = l->world * blocks(l);                     // counter 'finished'
  return 0;
}

void mk_role_0(const mk_cta *cta) { // send
  const mk_launch *l = cta->launch;
  int64_t n = l->dims[1], begin, end, me = l->rank;
  shard(l, me, &begin, &end);
  int64_t strides[] = {n, 1};
  for (int64_t b = cta->index; b < blocks(l); b += cta->count) {
    int64_t row = begin + b * BLOCK;
    int64_t sizes[] = {min64(BLOCK, end - row), n};
    if (sizes[0] < 0)
      sizes[0] = 0;
    mkrt_item(cta, 0, b, -1, -1, -1);
    for (int64_t step = 1; step < l->world; ++step) {
      int64_t peer = (me + step) % l->world;
      mkrt_put(cta, ARG(cta, float, FULL) + row * n,
               ARG(cta, float, A) + b * BLOCK * n, MK_F32, 2, sizes, strides,
               strides, peer, 0, me * blocks(l) + b, 0);
    }
  }
}

void mk_role_1(const mk_cta *cta) { // work
  const mk_launch *l = cta->launch;
  int64_t n = l->dims[1];
  for (int64_t t; (t = mkrt_ticket(cta, 1)) < l->world * blocks(l);) {
    int64_t src = t / blocks(l), b = t % blocks(l), begin, end;
    mkrt_item(cta, 1, src, b, -1, -1);
    shard(l, src, &begin, &end);
    int64_t row = begin + b * BLOCK, stop = min64(row + BLOCK, end);
    const float *from = ARG(cta, float, FULL) + row * n;
    if (src == l->rank)
      from = ARG(cta, float, A) + b * BLOCK * n;
    else
      mkrt_wait(cta, 0, t, 1);
    float tile[BLOCK * 64];
    for (int64_t r = row; r < stop; ++r)
      for (int64_t c0 = 0; c0 < n; c0 += 64) {
        int64_t width = min64(64, n - c0);
        for (int64_t c = 0; c < width; ++c)
          tile[c] = 2 * from[(r - row) * n + c0 + c] + 1;
        int64_t sizes[] = {1, width}, dst[] = {n, 1}, src_strides[] = {64, 1};
        mkrt_store(cta, ARG(cta, float, C) + r * n + c0, tile, MK_F32, 2, sizes,
                   dst, src_strides, l->rank, MK_NO_SIGNAL, 0, 0);
      }
    mkrt_count(cta, 0, t, 1);
  }
}

int64_t mk_reference(void *const *d, int64_t row, int64_t rows) {
  descriptor *a = d[0], *c = d[1];
  int64_t m = a->sizes_and_strides[0], n = a->sizes_and_strides[1];
  int64_t stop = rows < 0 ? m : row + rows;
  for (int64_t i = row * n; i < stop * n; ++i)
    ((double *)c->aligned)[i] = 2 * ((double *)a->aligned)[i] + 1;
  return 0;
}
