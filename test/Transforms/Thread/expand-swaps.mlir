// RUN: mk-opt %s -mk-thread-expand-exchanges | FileCheck %s

// Two CTAs each get half of the columns: of a block of 64 rows a thread holds registers 0 to 7 of 16 columns, 0 to 3 of
// which are of the first half.
mk_thread.kernel @swaps threads(384) cluster(2) params(512) shared(8192)
    frame(<launch = 64, failed = 8184>) {
  %w = mk_thread.cta_id
  %t = mk_thread.thread_id
  %x0 = arith.constant 0.0 : f32
  %x1 = arith.constant 1.0 : f32
  // CHECK-DAG: %[[CTA:.*]] = mk_thread.cta_id
  // All have read what came before: the phase in front of this one is over.
  // CHECK: %[[BEFORE:.*]] = arith.xori %[[CTA]]
  // CHECK: mk_thread.mbarrier_wait %[[READ:.*]], %[[BEFORE]]
  // CHECK: mk_thread.mbarrier_arrive %[[FULL:.*]] expect(%c2048_i32)
  // What stays in the CTA is stored, what goes to the other one sent.
  // CHECK: scf.if
  // CHECK: mk_thread.store %{{.*}} to %[[OWN:.*]] : i32 bytes(16)
  // CHECK-NEXT: } else {
  // CHECK: %[[TO:.*]] = mk_thread.map_shared %[[OWN]] in %c0_i32
  // CHECK: %[[TOLD:.*]] = mk_thread.map_shared %[[FULL]] in %c0_i32
  // CHECK: mk_thread.send_shared %{{.*}} to %[[TO]] + 0 told %[[TOLD]]
  // CHECK: scf.if
  // CHECK: mk_thread.store
  // CHECK: %[[OTHER:.*]] = mk_thread.map_shared %[[OWN]] in %c1_i32
  // CHECK: mk_thread.send_shared %{{.*}} to %[[OTHER]] + 0
  // CHECK: mk_thread.mbarrier_wait %[[FULL]], %[[CTA]]
  // CHECK-COUNT-2: mk_thread.load %{{.*}}, 16 : i32 -> i32, i32, i32, i32
  // CHECK: mk_thread.sync_warp
  // CHECK: mk_thread.mbarrier_arrive %[[READ]] in %
  %a:8 = mk_thread.swap_elements %x0, %x0, %x0, %x0, %x1, %x1, %x1, %x1 of tensor<64x16xf32, #mk_sm.mma<warpgroups = 1>>
      ctas 2 in(%w) room <threads = 128, offset = 1024, bytes = 4096> barriers 512 parity(%w) thread(%t)
      report(<kind = 1, role = 0, number = -1>) : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, f32, f32)
  mk_thread.pin %a#0, %a#7 : f32, f32
}
