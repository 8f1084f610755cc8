//===- SweepKernel.cpp - Puts other data into the L2 cache ----------------===//

#include "device/cuda/SweepKernel.h"

using namespace mk::rt;
using namespace mk::rt::cuda;

static constexpr uint64_t kUnknownCache = 64 << 20;

// Threads walk over the memory in steps of all threads together. All of it is 0, which nobody but
// the host knows: so it has to be read, and nothing is ever stored.
const char *SweepKernel::ptx() {
  return R"(.version 8.0
.target sm_90
.address_size 64

.visible .entry mk_sweep(.param .align 8 .b8 args[16])
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;

  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d0, %r0, %r1;
  cvt.u64.u32 %d1, %r2;
  add.u64 %d0, %d0, %d1;
  shl.b64 %d0, %d0, 4;             // byte
  mul.wide.u32 %d1, %r3, %r1;
  shl.b64 %d1, %d1, 4;             // step
  ld.param.u64 %d2, [args];        // from
  ld.param.u64 %d3, [args+8];      // bytes
  mov.u32 %r7, 0;
NEXT:
  setp.ge.u64 %p, %d0, %d3;
  @%p bra END;
  add.u64 %d4, %d2, %d0;
  ld.global.v4.b32 {%r0, %r4, %r5, %r6}, [%d4];
  or.b32 %r0, %r0, %r4;
  or.b32 %r5, %r5, %r6;
  or.b32 %r0, %r0, %r5;
  or.b32 %r7, %r7, %r0;
  add.u64 %d0, %d0, %d1;
  bra NEXT;
END:
  setp.eq.u32 %p, %r7, 0;
  @%p bra DONE;
  st.global.u32 [%d2], %r7;
DONE:
  ret;
}
)";
}

Result<SweepKernel> SweepKernel::load(std::shared_ptr<Gpu> device) {
  SweepKernel sweep;
  int cache = device->attribute(kL2CacheSize);
  sweep.params_.bytes = 2 * (cache > 0 ? uint64_t(cache) / 16 * 16 : kUnknownCache);
  MK_ASSIGN(sweep.memory_,
            DeviceMemory::allocate(device, sweep.params_.bytes,
                                   "what clears the cache between measured launches"));
  sweep.params_.from = sweep.memory_.address();
  MK_ASSIGN(sweep.kernel_, OwnKernel::load(std::move(device), ptx(), "mk_sweep",
                                           "the kernel that clears the cache"));
  return sweep;
}

int SweepKernel::launch(StreamHandle stream) {
  return kernel_->launch(&params_, kernel_->countCtas(params_.bytes / 16), stream);
}
