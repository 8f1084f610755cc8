// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#runs = #mk_sm.blocked<threads = 128, vector = 2>

// CHECK: mk_thread.kernel @fragments
mk_thread.kernel @fragments threads(256) cluster(1) params(512) shared(20480)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 0.0 : f32
  %y = arith.constant 0.0 : bf16
  %yes = arith.constant true
  // CHECK: %[[A:.*]] = mk_thread.hold_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32, f32 -> tensor<64x8xf32, #mk_sm.mma<{{.*}}>
  %a = mk_thread.hold_elements %x, %x, %x, %x : f32, f32, f32, f32 -> tensor<64x8xf32, #acc>
  // CHECK: %[[B:.*]] = mk_thread.hold_elements %{{.*}}, %{{.*}} : i32, i32 -> tensor<64x8xbf16, #mk_sm.mma<{{.*}}>
  %b = mk_thread.hold_elements %w, %w : i32, i32 -> tensor<64x8xbf16, #acc>
  // CHECK: mk_thread.take_elements %[[A]] : tensor<64x8xf32, #mk_sm.mma<{{.*}}> -> f32, f32, f32, f32
  %c:4 = mk_thread.take_elements %a : tensor<64x8xf32, #acc> -> f32, f32, f32, f32
  // CHECK: mk_thread.take_elements only [2, 3] of %[[B]] : tensor<64x8xbf16, #mk_sm.mma<{{.*}}> -> i32
  %d = mk_thread.take_elements only [2, 3] of %b : tensor<64x8xbf16, #acc> -> i32
  // CHECK: mk_thread.load_ahead [2, 3] of %[[B]] : tensor<64x8xbf16, #mk_sm.mma<{{.*}}>
  mk_thread.load_ahead [2, 3] of %b : tensor<64x8xbf16, #acc>
  // CHECK: %[[R:.*]] = mk_thread.on_demand : tensor<64xf32, #mk_sm.slice<{{.*}}> {
  // CHECK-NEXT: mk_thread.load_elements [0, 1]
  %r = mk_thread.on_demand : tensor<64xf32, #row> {
    %l:2 = mk_thread.load_elements [0, 1] of tensor<64xf32, #row> at %g strides(%g) offsets(%g) limits(%g) thread(%w) : f32, f32
  }
  // CHECK: mk_thread.spread %[[R]] : tensor<64xf32, #mk_sm.slice<{{.*}}> to tensor<64x8xf32, #mk_sm.mma<{{.*}}>
  %s = mk_thread.spread %r : tensor<64xf32, #row> to tensor<64x8xf32, #acc>
  %one = mk_thread.hold_elements %x : f32 -> tensor<f32>
  // CHECK: mk_thread.spread %{{.*}} : tensor<f32> to tensor<8x32xf32, #mk_sm.blocked<{{.*}}>
  %t = mk_thread.spread %one : tensor<f32> to tensor<8x32xf32, #runs>
  // CHECK: mk_thread.spread %[[A]] : tensor<64x8xf32, #mk_sm.mma<{{.*}}> to tensor<8x64xf32, #mk_sm.transposed<{{.*}}>
  %u = mk_thread.spread %a : tensor<64x8xf32, #acc> to tensor<8x64xf32, #mk_sm.transposed<of = #acc>>
  // CHECK: mk_thread.store_fragment %[[A]] to %[[G:.*]] strides(%[[G]], %[[G]]) offsets(%[[G]], %[[G]]) limits(%[[G]], %[[G]]) together(%{{.*}}) grouped 32 materialize thread(%{{.*}}) : tensor<64x8xf32, #mk_sm.mma<{{.*}}>
  mk_thread.store_fragment %a to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) together(%yes) grouped 32 materialize
      thread(%w) : tensor<64x8xf32, #acc>
  // CHECK: mk_thread.store_fragment %[[A]] to {{.*}} limits(%{{.*}}) add sys grouped 32 thread(
  mk_thread.store_fragment %a to %g strides(%g, %g) offsets(%g, %g) limits(%g, %g) add sys grouped 32 thread(%w)
      : tensor<64x8xf32, #acc>
  %wide = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
  // CHECK: mk_thread.stage_fragment %{{.*}} in 1024 buffers 1 regular barrier 2 where %{{.*}} maps(%[[G]] : i64) at(%{{.*}}, %{{.*}}) rows 64 add unrolled : tensor<64x64xbf16, #mk_sm.mma<{{.*}}> {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  mk_thread.stage_fragment %wide in 1024 buffers 1 regular barrier 2 where %yes maps(%g : i64) at(%w, %w) rows 64 add
      unrolled : tensor<64x64xbf16, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
  // CHECK: mk_thread.stage_fragment %{{.*}} in 1024 buffers 2 barrier 2 where %{{.*}} at() rows 32 : tensor<64x64xbf16, #mk_sm.mma<{{.*}}> {
  mk_thread.stage_fragment %wide in 1024 buffers 2 barrier 2 where %yes at() rows 32 : tensor<64x64xbf16, #acc> {
  ^bb0(%i: i32, %j: i32, %k: i32):
    mk_thread.sync_warp
  }
  // CHECK: mk_thread.stage_rows %{{.*}} in 1024 buffers 2 alone barrier 2 to %[[G]] strides(%[[G]], %[[G]]) rows(%{{.*}}, %{{.*}}) columns(%{{.*}}, %{{.*}}) unrolled : tensor<64x64xbf16, #mk_sm.mma<{{.*}}>
  mk_thread.stage_rows %wide in 1024 buffers 2 alone barrier 2 to %g strides(%g, %g) rows(%w, %w) columns(%w, %w) unrolled
      : tensor<64x64xbf16, #acc>
  // CHECK: mk_thread.spill_fragment %[[A]] to %[[G]] step 2048 where %{{.*}} : tensor<64x8xf32, #mk_sm.mma<{{.*}}>
  mk_thread.spill_fragment %a to %g step 2048 where %w : tensor<64x8xf32, #acc>
  // CHECK: mk_thread.reload_elements [0, 1, 2, 3] of tensor<64x8xf32, #mk_sm.mma<{{.*}}> at %[[G]] step 2048 where %{{.*}} : f32, f32, f32, f32
  %e:4 = mk_thread.reload_elements [0, 1, 2, 3] of tensor<64x8xf32, #acc> at %g step 2048 where %w : f32, f32, f32, f32
}
