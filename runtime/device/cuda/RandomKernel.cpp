//===- RandomKernel.cpp - Random values made by a GPU ---------------------===//

#include "device/cuda/RandomKernel.h"

#include <algorithm>
#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(RandomParams, low) == 32 && offsetof(RandomParams, type) == 48 &&
              offsetof(RandomParams, dims) == 56 && sizeof(RandomParams) == 184);
static_assert(MK_F64 == 1 && MK_F32 == 2 && MK_F16 == 3 && MK_BF16 == 4 &&
              MK_F8E4M3 == 5 && MK_F8E5M2 == 6 && MK_I64 == 7 && MK_I32 == 8 &&
              MK_I16 == 9 && MK_I8 == 10 && MK_I1 == 11);

// Threads walk over the shard's elements in steps of all threads together.
const char *RandomKernel::ptx() {
  return R"(.version 8.0
.target sm_90
.address_size 64

.visible .entry mk_random(.param .align 8 .b8 args[184])
{
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %r<8>;
  .reg .b64 %d<24>;
  .reg .f32 %f, %zero;
  .reg .f64 %g;

  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d0, %r0, %r1;
  cvt.u64.u32 %d1, %r2;
  add.u64 %d0, %d0, %d1;           // element of the shard
  mul.wide.u32 %d1, %r3, %r1;      // step
  ld.param.u64 %d2, [args];        // to
  ld.param.u64 %d3, [args+8];      // elements
  ld.param.u64 %d4, [args+16];     // first
  ld.param.u64 %d5, [args+24];     // key
  ld.param.u64 %d6, [args+32];     // low
  ld.param.u64 %d7, [args+40];     // count
  ld.param.u32 %r4, [args+48];     // type
  ld.param.u32 %r5, [args+52];     // dims
  mov.f32 %zero, 0f00000000;
NEXT:
  setp.ge.u64 %p, %d0, %d3;
  @%p bra END;
  mov.u64 %d8, %d4;                // its place in the whole
  mov.u64 %d9, %d0;
  mov.b64 %d10, args;
  mov.u32 %r6, 0;
DIM:
  setp.ge.u32 %p, %r6, %r5;
  @%p bra BITS;
  ld.param.u64 %d11, [%d10+56];    // size
  ld.param.u64 %d12, [%d10+64];    // stride
  div.u64 %d13, %d9, %d11;
  mul.lo.u64 %d14, %d13, %d11;
  sub.u64 %d14, %d9, %d14;
  mul.lo.u64 %d14, %d14, %d12;
  add.u64 %d8, %d8, %d14;
  mov.u64 %d9, %d13;
  add.u64 %d10, %d10, 16;
  add.u32 %r6, %r6, 1;
  bra DIM;
BITS:
  mul.lo.u64 %d8, %d8, 0x9e3779b97f4a7c15;
  add.u64 %d8, %d8, %d5;
  shr.u64 %d9, %d8, 30;
  xor.b64 %d8, %d8, %d9;
  mul.lo.u64 %d8, %d8, 0xbf58476d1ce4e5b9;
  shr.u64 %d9, %d8, 27;
  xor.b64 %d8, %d8, %d9;
  mul.lo.u64 %d8, %d8, 0x94d049bb133111eb;
  shr.u64 %d9, %d8, 31;
  xor.b64 %d8, %d8, %d9;
  setp.ge.u32 %p, %r4, 7;
  @%p bra INTEGER;
  and.b64 %d9, %d8, 0xffff;
  shr.u64 %d10, %d8, 16;
  and.b64 %d10, %d10, 0xffff;
  add.u64 %d9, %d9, %d10;
  shr.u64 %d10, %d8, 32;
  and.b64 %d10, %d10, 0xffff;
  add.u64 %d9, %d9, %d10;
  shr.u64 %d10, %d8, 48;
  add.u64 %d9, %d9, %d10;
  cvt.u32.u64 %r6, %d9;
  sub.u32 %r6, %r6, 131070;
  cvt.rn.f32.s32 %f, %r6;
  mul.rn.f32 %f, %f, 0f37800000;   // 2^-16, exact
  setp.eq.u32 %p, %r4, 1;
  @%p bra F64;
  setp.eq.u32 %p, %r4, 2;
  @%p bra F32;
  setp.eq.u32 %p, %r4, 3;
  @%p bra F16;
  setp.eq.u32 %p, %r4, 4;
  @%p bra BF16;
  setp.eq.u32 %p, %r4, 5;
  @%p bra E4M3;
  cvt.rn.satfinite.e5m2x2.f32 %h, %zero, %f;
  bra STORE1;
E4M3:
  cvt.rn.satfinite.e4m3x2.f32 %h, %zero, %f;
  bra STORE1;
F16:
  cvt.rn.f16.f32 %h, %f;
  bra STORE2;
BF16:
  cvt.rn.bf16.f32 %h, %f;
  bra STORE2;
F32:
  mov.b32 %r7, %f;
  bra STORE4;
F64:
  cvt.f64.f32 %g, %f;
  mov.b64 %d10, %g;
  bra STORE8;
INTEGER:
  mul.hi.u64 %d10, %d8, %d7;
  add.u64 %d10, %d10, %d6;
  setp.eq.u32 %p, %r4, 7;
  @%p bra STORE8;
  cvt.u32.u64 %r7, %d10;
  setp.eq.u32 %p, %r4, 8;
  @%p bra STORE4;
  cvt.u16.u32 %h, %r7;
  setp.eq.u32 %p, %r4, 9;
  @%p bra STORE2;
STORE1:
  add.u64 %d9, %d2, %d0;
  st.global.u8 [%d9], %h;
  bra STEP;
STORE2:
  shl.b64 %d9, %d0, 1;
  add.u64 %d9, %d9, %d2;
  st.global.u16 [%d9], %h;
  bra STEP;
STORE4:
  shl.b64 %d9, %d0, 2;
  add.u64 %d9, %d9, %d2;
  st.global.u32 [%d9], %r7;
  bra STEP;
STORE8:
  shl.b64 %d9, %d0, 3;
  add.u64 %d9, %d9, %d2;
  st.global.u64 [%d9], %d10;
STEP:
  add.u64 %d0, %d0, %d1;
  bra NEXT;
END:
  ret;
}
)";
}

Result<std::unique_ptr<RandomKernel>>
RandomKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(std::unique_ptr<OwnKernel> kernel,
            OwnKernel::load(std::move(device), ptx(), "mk_random", "the kernel that makes random values"));
  return std::unique_ptr<RandomKernel>(new RandomKernel(std::move(kernel)));
}

int RandomKernel::launch(const RandomValues &values, const ShardLayout &layout,
                         uint64_t to, StreamHandle stream) const {
  if (layout.elements == 0)
    return kSuccess;
  RandomParams params;
  params.to = to;
  params.elements = layout.elements;
  params.first = layout.first;
  params.key = values.key();
  params.low = values.low();
  params.count = values.count();
  params.type = uint32_t(values.type());
  params.numDims = uint32_t(layout.dims.size());
  std::copy(layout.dims.begin(), layout.dims.end(), params.dims);
  return kernel_->launch(&params, kernel_->countCtas(layout.elements), stream);
}
