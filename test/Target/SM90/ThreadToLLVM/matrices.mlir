// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Products, what orders them, and single instructions.

// A division is a routine: one of 32 bits where both fit.
// CHECK-LABEL: llvm.func weak @mk_divide(
// CHECK: arith.ori
// CHECK: %[[LARGE:.*]] = nvvm.vote.sync  any
// CHECK: llvm.cond_br %[[LARGE]], ^[[BITS:bb.*]], ^
// CHECK: "div.u32 $0, $1, $2;"
// CHECK: llvm.br ^[[END:.*]](%
// CHECK: ^[[BITS]]:
// CHECK: "clz.b64 $0, $1;"
// CHECK: llvm.br ^[[NEXT:.*]](%
// CHECK: ^[[NEXT]](
// CHECK: nvvm.vote.sync  all
// CHECK: arith.select
// CHECK: llvm.br ^[[NEXT]](%{{.*}}) {loop_annotation = #{{.*}}}
// CHECK: ^[[END]](

// CHECK-LABEL: llvm.func @matrices
mk_thread.kernel @matrices threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  %g = mk_thread.param 16 : i64
  %f = arith.constant 1.0 : f32
  %t = mk_thread.thread_id
  %some = arith.cmpi eq, %t, %s : i32
  // Without an accumulator nothing is tied, and scale-d is 0. Offsets are added to descriptors.
  // CHECK: %[[LEFT:.*]] = llvm.inline_asm {{.*}} "add.u64 $0, $1, 2;", "=l,l"
  // CHECK: %[[SCALE:.*]] = llvm.inline_asm {{.*}} "setp.ne.b32 $0, $1, 0;", "=b,r" %c0_i32
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $4, $5, $6, 1, 1, 0, 1;", "=f,=f,=f,=f,l,l,b" %[[LEFT]], %{{.*}}, %[[SCALE]] :
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 2 right(%g) + 0 transposed
      -> f32, f32, f32, f32
  // The accumulator is tied; a left operand in registers has no bit that transposes it.
  // CHECK: "add.u64 $0, $1, 4;", "=l,l"
  // CHECK: "setp.ne.b32 $0, $1, 0;", "=b,r" %c1_i32
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, $13, 1, 1, 0;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,b"
  %y:4 = mk_thread.wgmma n(8) k(16) "f16" * "f16" left(%s, %s, %s, %s : i32, i32, i32, i32) + 0
      right(%g) + 4 acc(%x#0, %x#1, %x#2, %x#3 : f32, f32, f32, f32) -> f32, f32, f32, f32
  // Whether it counts, at run time. Types of 8 and 32 bits have no such bits at all.
  // CHECK: %[[COUNTS:.*]] = arith.extui %
  // CHECK-SAME: : i1 to i32
  // CHECK: %[[SCALE:.*]] = llvm.inline_asm {{.*}} "setp.ne.b32 $0, $1, 0;", "=b,r" %[[COUNTS]] :
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {$0, $1, $2, $3}, $8, $9, $10, 1, 1;", "=f,=f,=f,=f,0,1,2,3,l,l,b"
  // CHECK-SAME: %[[SCALE]] :
  %z:4 = mk_thread.wgmma n(8) k(32) "e4m3" * "e5m2" left(%g : i64) + 0
      right(%g) + 0 acc(%y#0, %y#1, %y#2, %y#3 : f32, f32, f32, f32) accumulate(%some)
      -> f32, f32, f32, f32
  // What a fence or a wait orders passes through it.
  // CHECK: "wgmma.fence.sync.aligned;", "~{memory}" : () -> ()
  mk_thread.wgmma_fence none
  // CHECK: "wgmma.fence.sync.aligned;", "=f,=r,0,1"
  %v:2 = mk_thread.wgmma_fence %z#0, %s : f32, i32
  // CHECK: "wgmma.commit_group.sync.aligned;", ""
  mk_thread.wgmma_commit
  // CHECK: "wgmma.wait_group.sync.aligned 1;", "~{memory}"
  mk_thread.wgmma_wait 1
  // CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,0"
  %w = mk_thread.wgmma_wait 0, %v#0 : f32
  // CHECK: "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
  mk_thread.stmatrix %s, %s, %s, %s, %s
  // CHECK: "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
  mk_thread.stmatrix %s, %s, %s, %s, %s transpose
  // CHECK: "", "=f,=l,0,1"
  %u:2 = mk_thread.pin %w, %g : f32, i64
  // What depends on operands alone has no effects.
  // CHECK: llvm.inline_asm asm_dialect = att "mul.hi.u32 $0, $1, $1;", "=r,r"
  %own = mk_thread.divergent_zero %s
  // CHECK: llvm.inline_asm asm_dialect = att "rcp.approx.f32 $0, $1;", "=f,f"
  %0 = mk_thread.approximate rcp %f
  // CHECK: "sin.approx.f32 $0, $1;"
  %2 = mk_thread.approximate sin %f
  // CHECK: "cos.approx.f32 $0, $1;"
  %3 = mk_thread.approximate cos %f
  // The first operand of the instruction becomes the upper byte.
  // CHECK: "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "=h,f,f" %[[HIGH:.*]], %[[LOW:.*]] :
  %bits = mk_thread.to_fp8 f8E5M2 %u#0, %f
  // CHECK: "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h"
  %halves = mk_thread.from_fp8 f8E4M3FN %bits
  // CHECK: "lop3.b32 $0, $1, 983055, 1124090624, 234;", "=r,r" %
  %merged = mk_thread.masked_or %halves, mask 983055 bits 1124090624
  // CHECK: llvm.call @mk_divide(
  %q = mk_thread.divide %g, %g
}
