//===- PackKernel.cpp - Copies an argument's rows to other strides --------===//

#include "device/cuda/PackKernel.h"

#include <algorithm>
#include <cstddef>

using namespace mk::rt;
using namespace mk::rt::cuda;

static_assert(offsetof(PackCopy, rowBytes) == 32 && offsetof(PackCopy, units) == 48 &&
              offsetof(PackCopy, segments) == 52 && offsetof(PackCopy, logLanes) == 56 &&
              offsetof(PackCopy, numDims) == 60 && offsetof(PackCopy, dims) == 64 &&
              offsetof(PackCopy, firstCta) == 128 && offsetof(PackCopy, ctas) == 132 &&
              sizeof(PackCopy) == 136 && sizeof(PackParams) == 2176 && OwnKernel::kThreads == 256);

// Both blocks of 16 bytes that a piece may lie in are loaded, and what is in front of it shifted out.
const char *PackKernel::ptx() {
  return R"(.version 8.0
.target sm_90
.address_size 64

.visible .entry mk_pack(.param .align 8 .b8 mk_pack_param_0[2176])
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b32 %w<16>;
  .reg .b64 %d<20>;

  mov.u32 %r0, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mov.b64 %d19, mk_pack_param_0;   // the copy that this CTA takes part in
FIND:
  ld.param.u32 %r1, [%d19+128];    // its first CTA
  ld.param.u32 %r3, [%d19+132];    // and how many
  add.u32 %r15, %r1, %r3;
  setp.lt.u32 %p0, %r0, %r15;
  @%p0 bra FOUND;
  add.u64 %d19, %d19, 136;
  bra FIND;
FOUND:
  sub.u32 %r0, %r0, %r1;
  shl.b32 %r0, %r0, 8;
  add.u32 %r0, %r0, %r2;           // thread
  shl.b32 %r3, %r3, 8;             // of so many
  ld.param.u64 %d0, [%d19];        // to
  ld.param.u64 %d1, [%d19+8];      // from
  ld.param.u64 %d2, [%d19+16];     // begin
  ld.param.u64 %d3, [%d19+24];     // end
  ld.param.u64 %d4, [%d19+32];     // bytes of a row
  ld.param.u64 %d5, [%d19+40];     // pitch
  ld.param.u32 %r4, [%d19+48];     // units
  ld.param.u32 %r5, [%d19+52];     // segments of a row
  ld.param.u32 %r6, [%d19+56];     // log of lanes
  ld.param.u32 %r7, [%d19+60];     // dims
  mov.u32 %r8, 1;
  shl.b32 %r8, %r8, %r6;
  sub.u32 %r8, %r8, 1;
  and.b32 %r8, %r8, %r0;           // lane
  shr.u32 %r0, %r0, %r6;           // unit
  shr.u32 %r3, %r3, %r6;           // step
NEXT:
  setp.ge.u32 %p0, %r0, %r4;
  @%p0 bra END;
  div.u32 %r9, %r0, %r5;           // row
  mul.lo.u32 %r10, %r9, %r5;
  sub.u32 %r10, %r0, %r10;         // segment
  shl.b32 %r10, %r10, %r6;
  add.u32 %r10, %r10, %r8;         // piece
  mul.wide.u32 %d6, %r10, 16;      // its first byte in the row
  setp.ge.u64 %p0, %d6, %d4;
  @%p0 bra STEP;
  cvt.u64.u32 %d7, %r9;
  mul.lo.u64 %d8, %d7, %d5;
  add.u64 %d8, %d8, %d6;
  add.u64 %d8, %d8, %d0;           // to
  add.u64 %d9, %d1, %d6;           // from
  mov.u64 %d10, %d19;
  mov.u32 %r11, 1;
DIM:
  ld.param.u64 %d12, [%d10+72];    // stride
  setp.ge.u32 %p0, %r11, %r7;
  @%p0 bra LAST;
  ld.param.u64 %d11, [%d10+64];    // size
  div.u64 %d13, %d7, %d11;
  mul.lo.u64 %d14, %d13, %d11;
  sub.u64 %d14, %d7, %d14;
  mul.lo.u64 %d14, %d14, %d12;
  add.u64 %d9, %d9, %d14;
  mov.u64 %d7, %d13;
  add.u64 %d10, %d10, 16;
  add.u32 %r11, %r11, 1;
  bra DIM;
LAST:
  mul.lo.u64 %d14, %d7, %d12;
  add.u64 %d9, %d9, %d14;
  sub.u64 %d15, %d4, %d6;          // bytes that are left of the row
  min.u64 %d15, %d15, 16;
  and.b64 %d16, %d9, 15;           // in front of it in the first block
  sub.u64 %d17, %d9, %d16;         // first block
  add.u64 %d18, %d16, %d15;
  setp.gt.u64 %p1, %d18, 16;       // the second one is needed
  add.u64 %d18, %d17, 16;
  @%p1 add.u64 %d18, %d18, 16;
  setp.lt.u64 %p0, %d17, %d2;
  @%p0 bra BYTES;
  setp.gt.u64 %p0, %d18, %d3;
  @%p0 bra BYTES;
  mov.u32 %w4, 0;
  mov.u32 %w5, 0;
  mov.u32 %w6, 0;
  mov.u32 %w7, 0;
  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%d17];
  @%p1 ld.global.v4.b32 {%w4, %w5, %w6, %w7}, [%d17+16];
  cvt.u32.u64 %r12, %d16;
  and.b32 %r13, %r12, 4;
  setp.ne.u32 %p2, %r13, 0;        // by one word
  and.b32 %r13, %r12, 8;
  setp.ne.u32 %p3, %r13, 0;        // by two
  and.b32 %r13, %r12, 3;
  shl.b32 %r13, %r13, 3;           // by bits
  selp.b32 %w0, %w1, %w0, %p2;
  selp.b32 %w1, %w2, %w1, %p2;
  selp.b32 %w2, %w3, %w2, %p2;
  selp.b32 %w3, %w4, %w3, %p2;
  selp.b32 %w4, %w5, %w4, %p2;
  selp.b32 %w5, %w6, %w5, %p2;
  selp.b32 %w6, %w7, %w6, %p2;
  selp.b32 %w0, %w2, %w0, %p3;
  selp.b32 %w1, %w3, %w1, %p3;
  selp.b32 %w2, %w4, %w2, %p3;
  selp.b32 %w3, %w5, %w3, %p3;
  selp.b32 %w4, %w6, %w4, %p3;
  shf.r.wrap.b32 %w0, %w0, %w1, %r13;
  shf.r.wrap.b32 %w1, %w1, %w2, %r13;
  shf.r.wrap.b32 %w2, %w2, %w3, %r13;
  shf.r.wrap.b32 %w3, %w3, %w4, %r13;
  st.global.v4.b32 [%d8], {%w0, %w1, %w2, %w3};
  bra STEP;
BYTES:
  add.u64 %d15, %d15, %d9;
BYTE:
  ld.global.u8 %r14, [%d9];
  st.global.u8 [%d8], %r14;
  add.u64 %d9, %d9, 1;
  add.u64 %d8, %d8, 1;
  setp.lt.u64 %p0, %d9, %d15;
  @%p0 bra BYTE;
STEP:
  add.u32 %r0, %r0, %r3;
  bra NEXT;
END:
  ret;
}
)";
}

Result<std::unique_ptr<PackKernel>> PackKernel::load(std::shared_ptr<Gpu> device) {
  MK_ASSIGN(std::unique_ptr<OwnKernel> kernel,
            OwnKernel::load(std::move(device), ptx(), "mk_pack",
                            "the kernel that copies arguments to where rows are aligned"));
  return std::unique_ptr<PackKernel>(new PackKernel(std::move(kernel)));
}

int PackKernel::launch(std::span<const PackCopy> copies, StreamHandle stream) const {
  uint64_t bytes = 0;
  for (const PackCopy &copy : copies)
    bytes += copy.units * copy.unitBytes();
  while (!copies.empty()) {
    PackParams params;
    uint32_t ctas = 0;
    size_t count = std::min(copies.size(), size_t(PackParams::kMaxCopies));
    for (size_t i = 0; i < count; ++i) {
      PackCopy &copy = params.copies[i] = copies[i];
      // As large a share of the GPU as of the bytes.
      double share = double(copy.units * copy.unitBytes()) / double(bytes);
      copy.firstCta = ctas;
      copy.ctas = kernel_->countCtas(uint64_t(copy.units) << copy.logLanes, share);
      ctas += copy.ctas;
    }
    if (int code = kernel_->launch(&params, ctas, stream); code != kSuccess)
      return code;
    copies = copies.subspan(count);
  }
  return kSuccess;
}
