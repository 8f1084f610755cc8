// RUN: mk-opt %s -mk-thread-expand-reductions | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#column = #mk_sm.slice<axis = 0, of = #acc>
#runs = #mk_sm.blocked<threads = 128, vector = 2>
#fours = #mk_sm.blocked<threads = 128, vector = 4>
#dealt = #mk_sm.blocked<threads = 128, vector = 1>

mk_thread.kernel @reductions threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 2.0 : f32
  // Of a thread, then of the four lanes of a row.
  // CHECK-COUNT-2: arith.addf
  // CHECK: llvm.nvvm.shfl.sync.bfly
  // CHECK: arith.addf
  // CHECK-COUNT-3: llvm.nvvm.shfl.sync.bfly
  // CHECK-NOT: mk_thread
  // CHECK: mk_thread.pin
  %a:2 = mk_thread.reduce_elements add %x, %x, %x, %x of tensor<64x8xf32, #acc> along 1
      to tensor<64xf32, #row> chains 1 : (f32, f32, f32, f32) -> (f32, f32)
  mk_thread.pin %a#0, %a#1 : f32, f32
  // What a thread has of a row: no lane is asked.
  // CHECK-COUNT-4: arith.addf
  // CHECK-NOT: shfl
  // CHECK: mk_thread.pin
  %b:4 = mk_thread.reduce_elements add %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x16xf32, #acc> along 1
      to tensor<64x8xf32, #acc> chains 1 : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  mk_thread.pin %b#0, %b#1, %b#2, %b#3 : f32, f32, f32, f32
  // Columns: of a thread, of eight lanes, of the four warps.
  // CHECK-COUNT-2: arith.maximumf
  // CHECK-COUNT-6: llvm.nvvm.shfl.sync.bfly
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK-COUNT-2: mk_thread.store %{{.*}} bytes(4) if %
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK-COUNT-8: mk_thread.load %{{.*}}, 4 : i32 -> i32
  %c:2 = mk_thread.reduce_elements max %x, %x, %x, %x of tensor<64x8xf32, #acc> along 0
      to tensor<8xf32, #column> chains 1 in <threads = 128, offset = 1024, bytes = 128> thread(%w) barrier(%w)
      : (f32, f32, f32, f32) -> (f32, f32)
  mk_thread.pin %c#0, %c#1 : f32, f32
  // Tiles dealt out: runs of a thread, parts in shared memory, groups of lanes, results.
  // CHECK: arith.mulf
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: mk_thread.store %{{.*}} bytes(4){{$}}
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: arith.mulf
  // CHECK-COUNT-4: llvm.nvvm.shfl.sync.bfly
  // CHECK: mk_thread.store %{{.*}} bytes(4) if %
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK: mk_thread.load %{{.*}}, 4 if %
  %d = mk_thread.reduce_elements mul %x, %x of tensor<8x32xf32, #runs> along 1
      to tensor<8xf32, #dealt> chains 1 in <threads = 128, offset = 1024, bytes = 1024> thread(%w) barrier(%w)
      : (f32, f32) -> f32
  mk_thread.pin %d : f32
  // Of a tile that is dealt out, what a thread has of each column, and of each row.
  // CHECK-COUNT-4: arith.addf
  // CHECK-NOT: arith.addf
  // CHECK: mk_thread.pin
  %f:4 = mk_thread.reduce_elements add %x, %x, %x, %x, %x, %x, %x, %x of tensor<32x32xf32, #fours> along 0
      to tensor<16x32xf32, #fours> chains 1 : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  mk_thread.pin %f#0, %f#1, %f#2, %f#3 : f32, f32, f32, f32
  // CHECK-COUNT-6: arith.addf
  // CHECK-NOT: arith.addf
  // CHECK: mk_thread.pin
  %g:2 = mk_thread.reduce_elements add %x, %x, %x, %x, %x, %x, %x, %x of tensor<32x32xf32, #fours> along 1
      to tensor<32x8xf32, #dealt> chains 1 : (f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32)
  mk_thread.pin %g#0, %g#1 : f32, f32
}
