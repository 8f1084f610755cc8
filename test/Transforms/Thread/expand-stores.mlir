// RUN: mk-opt %s -mk-thread-expand-stores | FileCheck %s

// Rows in pieces of 16 bytes or of 4 where addresses are aligned so, else element by element.
// CHECK-LABEL: mk_thread.kernel @stores
mk_thread.kernel @stores threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: scf.if
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c512_i32 step %c128_i32
  // CHECK: mk_thread.store {{.*}} : i64 bytes(16) if
  // CHECK: llvm.loop_annotation
  // CHECK: else
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c2048_i32 step %c128_i32
  // CHECK: mk_thread.store {{.*}} : i64 bytes(4) if
  // CHECK: else
  // CHECK-COUNT-2: mk_thread.store {{.*}} : i64 bytes(2) if
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 bf16 thread(%w)
  // What is added is always added element by element.
  // CHECK-NOT: bytes(16)
  // CHECK: mk_thread.store {{.*}} : f32 to {{.*}} bytes(4) if %{{.*}} add(f32, sys)
  // CHECK-NOT: mk_thread.store
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 f32 add sys thread(%w)
}
