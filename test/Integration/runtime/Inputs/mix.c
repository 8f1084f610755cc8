// ACC = the sum of all elements of X, on every rank. Exercises what allgather
// does not: dimensions of each rank's own, dynamic arrivals, queues, counters,
// listed rows, remote addition and preparation.
//
// The shard of source s goes to the ranks of every node whose last coordinate
// is s mod G. Each of those sums its sources and adds the sum to the result of
// all ranks of its node.
#include "kernel.h"

enum { X, COUNT, COUNTS, RECV, ACC };
enum { COUNTED, GOT, ADDED }; // signals
enum { CAP = 64, CHUNK = 4 };

static int64_t gpus(const mk_launch *l) { return l->axis_sizes[1]; }
static int64_t gpu(const mk_launch *l) { return l->coords[1]; }
static int64_t sources(const mk_launch *l) { // of this rank
  return l->axis_sizes[0];
}

int64_t mk_plan(const mk_launch *l, int64_t *out) {
  if (l->dims[0] > CAP)
    return 1;
  *out++ = l->dims[0], *out++ = 2;        // x
  *out++ = 1;                             // count
  *out++ = l->world;                      // counts
  *out++ = l->world, *out++ = CAP * 2;    // recv
  *out++ = 1;                             // acc
  *out++ = l->world, *out++ = 1;          // counted
  *out++ = l->world, *out++ = -1;         // got
  *out++ = gpus(l);                       // added
  *out++ = sources(l);                    // queue
  return 0;
}

void mk_prepare(const mk_cta *cta) {
  if (cta->index == 0)
    *ARG(cta, float, ACC) = 0;
}

void mk_role_0(const mk_cta *cta) { // send
  const mk_launch *l = cta->launch;
  int64_t t = l->dims[0], me = l->rank, one = 1;
  if (cta->index == 0) {
    // Only this CTA writes the source, and settles before anyone reads on.
    *ARG(cta, int32_t, COUNT) = (int32_t)t;
    for (int64_t p = gpu(l); p < l->world; p += gpus(l))
      mkrt_put(cta, ARG(cta, int32_t, COUNTS) + me, ARG(cta, int32_t, COUNT),
               MK_I32, 1, &one, &one, &one, p, COUNTED, me, 0);
    mkrt_settle(cta);
  }
  for (int64_t c = cta->index; c * CHUNK < t; c += cta->count) {
    mkrt_item(cta, 0, c, -1, -1, -1);
    // Rows in reverse, with one left out in the middle of nowhere.
    int32_t rows[CHUNK];
    int64_t n = min64(CHUNK, t - c * CHUNK);
    for (int64_t i = 0; i < n; ++i)
      rows[i] = (int32_t)(t - 1 - (c * CHUNK + i));
    for (int64_t p = gpu(l); p < l->world; p += gpus(l))
      mkrt_put_rows(cta,
                    ARG(cta, int32_t, RECV) + me * CAP * 2 + c * CHUNK * 2,
                    ARG(cta, int32_t, X), MK_I32, n, rows, 2, 2, 2, p, GOT, me,
                    0);
  }
}

void mk_role_1(const mk_cta *cta) { // place
  const mk_launch *l = cta->launch;
  if (cta->index >= cta->count)
    return; // a helper has no share of a static loop
  for (int64_t i = cta->index; i < sources(l); i += cta->count) {
    int64_t s = i * gpus(l) + gpu(l);
    mkrt_item(cta, 1, s, -1, -1, -1);
    mkrt_wait(cta, COUNTED, s, 1);
    int64_t n = ARG(cta, int32_t, COUNTS)[s];
    mkrt_wait(cta, GOT, s, ceil_div(n, CHUNK));
    int64_t record[] = {s, n};
    mkrt_push(cta, 0, record, -1);
  }
}

void mk_role_2(const mk_cta *cta) { // sum
  const mk_launch *l = cta->launch;
  int64_t one = 1;
  for (int64_t e; (e = mkrt_ticket(cta, 2)) < sources(l);) {
    int64_t record[2];
    mkrt_item(cta, 2, e, -1, -1, -1);
    mkrt_pop(cta, 0, e, record);
    int64_t sum = 0;
    for (int64_t i = 0; i < record[1] * 2; ++i)
      sum += ARG(cta, int32_t, RECV)[record[0] * CAP * 2 + i];
    int64_t before = mkrt_count(cta, 0, 0, sum + (INT64_C(1) << 40));
    if ((before >> 40) + 1 < sources(l))
      continue;
    float total = (float)((before + sum) & 0xffffffff);
    int64_t node = l->rank / gpus(l);
    for (int64_t g = 0; g < gpus(l); ++g)
      mkrt_store(cta, ARG(cta, float, ACC), &total, MK_F32, 1, &one, &one, &one,
                 node * gpus(l) + g, ADDED, 0, MK_PUT_ADD);
  }
}

int64_t mk_reference(void *const *d, int64_t row, int64_t rows) {
  descriptor *x = d[0], *acc = d[1];
  double sum = 0;
  int64_t n = x->sizes_and_strides[0] * x->sizes_and_strides[1];
  for (int64_t i = 0; i < n; ++i)
    sum += (double)((int64_t *)x->aligned)[i];
  *(double *)acc->aligned = sum;
  return 0;
}
