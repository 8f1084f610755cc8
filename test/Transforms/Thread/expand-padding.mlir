// RUN: mk-opt %s -mk-thread-expand-padding | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @trims
mk_thread.kernel @trims threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // Rows that are gone, 16 bytes a lane.
  // CHECK: scf.for %{{.*}} = %c0_i32 to %c2_i32
  // CHECK: mk_thread.store %[[PAD:[^,]*]], %[[PAD]], %[[PAD]], %[[PAD]] : {{.*}} bytes(16) if
  // If columns are gone, a word a lane: of two elements one may stay.
  // CHECK: scf.if
  // CHECK: arith.select %{{.*}}, %c65535_i32, %c0_i32
  // CHECK: arith.select %{{.*}}, %c-65536_i32, %c0_i32
  // CHECK: mk_thread.load
  // CHECK: mk_thread.store {{.*}} bytes(4)
  // CHECK: mk_thread.fence_async shared
  // CHECK-NEXT: mk_thread.sync_warp
  mk_thread.pad_tile %w rows(%w, %w) columns(%w, %w) of 64 x 2 size 2 pad(%w) lane(%w)
}
