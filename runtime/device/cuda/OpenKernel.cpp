//===- OpenKernel.cpp - Opens a launch in front of its kernel -------------===//

#include "device/cuda/OpenKernel.h"

#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(OpenParams, ready) == 40 && offsetof(OpenParams, words) == 48 &&
              offsetof(OpenParams, values) == 56 && offsetof(OpenParams, count) == 64 &&
              offsetof(OpenParams, rank) == 68 && offsetof(OpenParams, world) == 72 &&
              sizeof(OpenParams) == 80);
static_assert(offsetof(mk_gpu_control, epoch) == 0 && offsetof(mk_gpu_control, abort) == 8 &&
              offsetof(mk_gpu_control, claimed) == 12 && offsetof(mk_gpu_control, opened) == 28);
static_assert(offsetof(mk_gpu_report, written) == 0 && offsetof(mk_gpu_report, kind) == 4 &&
              offsetof(mk_gpu_report, role) == 12 && offsetof(mk_gpu_report, wanted) == 32 &&
              offsetof(mk_gpu_report, rank) == 48 && MK_WAIT_READY == 4);

// A wait looks at the abort word and its deadline each 8 ms, as those of kernels do.
const char *OpenKernel::ptx() {
  return R"(.version 8.0
.target sm_90
.address_size 64

.visible .entry mk_open(.param .align 8 .b8 mk_open_param_0[80])
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<24>;

  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra END;
  griddepcontrol.launch_dependents;
  ld.param.u64 %d0, [mk_open_param_0];       // control
  ld.param.u64 %d1, [mk_open_param_0+8];     // report
  ld.param.u64 %d2, [mk_open_param_0+16];    // the job's abort word
  ld.param.u64 %d3, [mk_open_param_0+24];    // deadline
  ld.param.u64 %d4, [mk_open_param_0+32];    // heaps
  ld.param.u64 %d5, [mk_open_param_0+40];    // ready
  ld.param.u64 %d6, [mk_open_param_0+48];    // words
  ld.param.u64 %d7, [mk_open_param_0+56];    // values
  ld.param.u32 %r1, [mk_open_param_0+64];    // count
  ld.param.u32 %r2, [mk_open_param_0+68];    // rank
  ld.param.u32 %r3, [mk_open_param_0+72];    // world
  add.u64 %d8, %d0, 8;
  ld.relaxed.gpu.global.u32 %r4, [%d8];      // a launch before has failed
  setp.ne.u32 %p0, %r4, 0;
  @%p0 bra END;
  ld.global.u32 %r5, [%d0];                  // epoch
  add.u32 %r6, %r5, 1;
  setp.eq.u64 %p0, %d5, 0;
  @%p0 bra WORDS;
  mul.wide.u32 %d9, %r2, 8;
  add.u64 %d9, %d4, %d9;
  ld.global.u64 %d9, [%d9];                  // the own heap
  mul.wide.u32 %d10, %r2, 4;
  add.u64 %d10, %d5, %d10;                   // ready[rank], here
  mov.u32 %r7, 0;
RAISE:
  setp.eq.u32 %p0, %r7, %r2;
  @%p0 bra RAISED;
  mul.wide.u32 %d11, %r7, 8;
  add.u64 %d11, %d4, %d11;
  ld.global.u64 %d11, [%d11];                // the peer's heap
  sub.u64 %d12, %d10, %d9;
  add.u64 %d12, %d12, %d11;
  red.release.sys.global.add.u32 [%d12], 1;
RAISED:
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p0, %r7, %r3;
  @%p0 bra RAISE;
  mov.u32 %r7, 0;
AWAIT:
  setp.eq.u32 %p0, %r7, %r2;
  @%p0 bra READY;
  mul.wide.u32 %d13, %r7, 4;
  add.u64 %d13, %d5, %d13;
  mov.u64 %d14, %globaltimer;
  add.u64 %d18, %d14, 8388608;
POLL:
  ld.acquire.sys.global.u32 %r8, [%d13];
  sub.u32 %r9, %r8, %r6;
  setp.ge.s32 %p0, %r9, 0;
  @%p0 bra READY;
  nanosleep.u32 32;
  mov.u64 %d15, %globaltimer;
  setp.lt.u64 %p0, %d15, %d18;
  @%p0 bra POLL;
  add.u64 %d18, %d15, 8388608;               // looks each 8 ms: the word is in the host's memory
  setp.eq.u64 %p1, %d2, 0;
  @%p1 bra CLOCK;
  ld.relaxed.sys.global.u32 %r10, [%d2];
  setp.ne.u32 %p0, %r10, 0;
  @%p0 bra END;
CLOCK:
  sub.u64 %d15, %d15, %d14;
  setp.lt.u64 %p0, %d15, %d3;
  @%p0 bra POLL;
  bra FAIL;
READY:
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p0, %r7, %r3;
  @%p0 bra AWAIT;
WORDS:
  st.global.u32 [%d0+28], %r6;               // opened
  mov.u32 %r11, 0;
NEXT:
  setp.ge.u32 %p0, %r11, %r1;
  @%p0 bra END;
  mul.wide.u32 %d16, %r11, 8;
  add.u64 %d16, %d6, %d16;
  ld.global.u32 %r12, [%d16];                // arrivals
  ld.global.u32 %r13, [%d16+4];              // number
  mad.lo.u32 %r14, %r5, %r12, %r13;
  mul.wide.u32 %d17, %r11, 4;
  add.u64 %d17, %d7, %d17;
  st.global.u32 [%d17], %r14;
  add.u32 %r11, %r11, 1;
  bra NEXT;
FAIL:
  add.u64 %d18, %d0, 12;
  atom.relaxed.gpu.global.exch.b32 %r15, [%d18], 1;
  setp.ne.u32 %p0, %r15, 0;
  @%p0 bra ABORT;
  cvt.u64.u32 %d19, %r7;
  sub.u32 %r16, %r8, %r5;
  cvt.s64.s32 %d20, %r16;
  mov.u64 %d21, 1;
  st.global.u32 [%d1+4], 4;                  // MK_WAIT_READY
  st.global.u32 [%d1+8], 0;
  st.global.u32 [%d1+12], -1;                // MK_NO_ROLE
  st.global.u32 [%d1+16], 0;
  st.global.u32 [%d1+20], 0;
  st.global.u64 [%d1+24], %d19;
  st.global.u64 [%d1+32], %d21;
  st.global.u64 [%d1+40], %d20;
  st.global.u64 [%d1+48], %d19;
  st.release.sys.global.u32 [%d1], 1;
ABORT:
  st.relaxed.gpu.global.u32 [%d8], 1;
END:
  ret;
}
)";
}

Result<std::unique_ptr<OpenKernel>> OpenKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(auto kernel,
            OwnKernel::load(std::move(device), ptx(), "mk_open", "the kernel that opens a launch"));
  return std::unique_ptr<OpenKernel>(new OpenKernel(std::move(kernel)));
}
