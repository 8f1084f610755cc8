// Kernels that must end with a report. Dimension MODE says how rank 0 is wrong.
#include "kernel.h"

#include <signal.h>
#include <stdlib.h>

enum { A };

int64_t mk_plan(const mk_launch *l, int64_t *out) {
  *out++ = 8, *out++ = 8;
  *out++ = 4, *out++ = 1;     // signal 'ready'
  *out++ = 2, *out++ = 1;     // signal 'own'
  *out++ = 3; // counter
  *out++ = 1;                 // queue
  return 0;
}

void mk_role_0(const mk_cta *cta) {
  const mk_launch *l = cta->launch;
  float *a = ARG(cta, float, A), tile[4] = {1, 2, 3, 4};
  int64_t two[] = {2, 2}, strides[] = {8, 1}, one = 1, record = 1;
  int64_t peer = l->world - 1;
  mkrt_item(cta, 0, 3, 1, -1, -1);
  if (l->rank == 0 && cta->linear == 0) {
    switch (l->dims[0]) {
    case 0: // strided
      mkrt_put(cta, a, a + 2, MK_F32, 2, two, strides, strides, peer, 0, 0, 0);
      break;
    case 1: // no such element
      mkrt_put(cta, a, a + 2, MK_F32, 1, &one, &one, &one, peer, 0, 4, 0);
      break;
    case 2: // store across the network
      mkrt_store(cta, a, tile, MK_F32, 1, &one, &one, &one, peer, 0, 0, 0);
      break;
    case 3:
      signal(SIGSEGV, SIG_DFL); // a sanitizer's own handler
      raise(SIGSEGV);
      break;
    case 4: // addition across the network
      mkrt_put(cta, a, a + 2, MK_F32, 1, &one, &one, &one, peer, 0, 0,
               MK_PUT_ADD);
      break;
    case 5: // never comes
      mkrt_wait(cta, 0, 2, 1);
      break;
    case 6: // one arrival too many
      mkrt_signal(cta, 0, 1, 0, 2, 0);
      break;
    case 7: // source not in the heap
      mkrt_put(cta, a, tile, MK_F32, 1, &one, &one, &one, peer, 0, 0, 0);
      break;
    case 8: // beyond the heap
      mkrt_put(cta, a + (1 << 24), a, MK_F32, 1, &one, &one, &one, peer, 0, 0,
               0);
      break;
    case 9: // a full queue
      mkrt_push(cta, 0, &record, -1);
      mkrt_push(cta, 0, &record, -1);
      break;
    case 10: // local signal of a peer
      mkrt_signal(cta, 1, 0, peer, 1, 0);
      break;
    case 11: // neither returns nor waits
      for (volatile int go = 1; go;) {
      }
      break;
    case 12:
      mkrt_put(cta, a, a, MK_F32, 1, &one, &one, &one, 99, 0, 0, 0);
      break;
    case 13:
      mkrt_pop(cta, 0, 0, &record);
      break;
    case 14:
      mkrt_count(cta, 0, 3, 1);
      break;
    case 15:
      _Exit(3);
    case 16: // never returns, and nobody waits for it
      for (volatile int go = 1; go;) {
      }
      break;
    case 17: // slow, with an item now and then
      for (int64_t item = 0; item < 400; ++item) {
        mkrt_item(cta, 0, item, -1, -1, -1);
        for (volatile int i = 0; i < 2000000; ++i) {
        }
      }
      break;
    }
  } else if (l->dims[0] == 5 || l->dims[0] == 11) {
    mkrt_wait(cta, 0, 3, 1);
  }
}
