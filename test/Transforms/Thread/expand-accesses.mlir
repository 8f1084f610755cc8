// RUN: mk-opt %s -mk-thread-expand-accesses | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#runs = #mk_sm.blocked<threads = 128, vector = 4>

mk_thread.kernel @accesses threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 2.0 : f32
  %h = arith.constant 2.0 : bf16
  %yes = arith.constant true
  // Runs at once, or each element by itself.
  // CHECK: scf.if %{{.*}} -> (f32, f32, f32, f32)
  // CHECK: mk_thread.load %{{.*}}, 16 if
  // CHECK: else
  // CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 if
  %a:4 = mk_thread.load_elements [0, 1, 2, 3] of tensor<4x128xf32, #runs> at %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) pad(%x : f32) together(%yes) thread(%w) : f32, f32, f32, f32
  // CHECK: mk_thread.load %{{.*}}, 2 if %{{.*}} else(%{{.*}} : i16)
  // CHECK: llvm.bitcast %{{.*}} : i16 to bf16
  %b = mk_thread.load_elements [1] of tensor<4x128xbf16, #runs> at %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) thread(%w) : bf16
  // 16-bit elements go two in a word.
  // CHECK: mk_thread.store %{{.*}}, %{{.*}} : i32, i32 to %{{.*}} : i64 bytes(8) if
  mk_thread.store_elements %h, %h, %h, %b as [0, 1, 2, 3] of tensor<4x128xbf16, #runs> to %g strides(%g, %g)
      offsets(%g, %g) limits(%g, %g) runs thread(%w) : bf16, bf16, bf16, bf16
  // CHECK: scf.if
  // CHECK: mk_thread.store %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32 to %{{.*}} : i64 bytes(16) if
  // CHECK: else
  // CHECK-COUNT-4: mk_thread.store %{{.*}} : i32 to %{{.*}} : i64 bytes(4) if
  mk_thread.store_elements %a#0, %a#1, %a#2, %a#3 as [0, 1, 2, 3] of tensor<4x128xf32, #runs> to %g strides(%g, %g)
      offsets(%g, %g) limits(%g, %g) together(%yes) thread(%w) : f32, f32, f32, f32
  // Of four lanes that hold a row one stores it.
  // CHECK: arith.andi %{{.*}}, %c3_i32
  // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i64 bytes(4) if
  // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i64 bytes(4) if
  mk_thread.store_elements %x, %a#0 as [0, 1] of tensor<64xf32, #row> to %g strides(%g) offsets(%g) limits(%g)
      thread(%w) : f32, f32
  // CHECK: mk_thread.store %{{.*}} : f32 to %{{.*}} : i64 bytes(4) if %{{.*}} add(f32, sys)
  mk_thread.store_elements %x as [1] of tensor<4x128xf32, #runs> to %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) add sys thread(%w) : f32

  // All at once by one lane, or each element by itself: 32 lanes twice, and 4 lanes.
  // CHECK: arith.cmpi sge, %{{.*}}, %c68_i64
  // CHECK: arith.cmpi eq, %{{.*}}, %c4_i64
  // CHECK: scf.if
  // CHECK: nvvm.elect.sync
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 272
  // CHECK: mk_thread.copy_bulk %{{.*}} to %{{.*}}, %c272_i32 counted by
  // CHECK: else
  // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = {{ *}}ca
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.shared.global
  // CHECK: nvvm.cp.async.mbarrier.arrive
  // CHECK-NEXT: mk_thread.sync_warp
  mk_thread.copy_elements %g stride(%g) offset(%g) limit(%g) to %w counted by %w lane(%w) of tensor<68xf32>
  // No multiple of 16 bytes comes at once.
  // CHECK-NOT: copy_bulk
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = {{ *}}ca
  mk_thread.copy_elements %g stride(%g) offset(%g) limit(%g) to %w counted by %w lane(%w) of tensor<33xf64>
  // Rows of two accumulators, 8 apart.
  // CHECK: mk_thread.sync_warp
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NEXT: mk_thread.sync_warp
  %r:2 = mk_thread.read_elements [0, 1] of tensor<64xf32, #row> at %w columns 64 thread(%w) : f32, f32
}

// Two columns of a row at a time, in the swizzle of the copy engine. Elements 34 and 35 of a thread are in column
// 64, 8 rows below its first: in the second chunk of the first source, 64 rows of 128 bytes and 8 more behind its begin. Elements 66
// and 67 are in column 128, with which the second source begins.
// CHECK-LABEL: mk_thread.kernel @chunks
mk_thread.kernel @chunks threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK-DAG: %[[PAST:.*]] = arith.constant 9216 : i32
  // CHECK-DAG: %[[BELOW:.*]] = arith.constant 1024 : i32
  // CHECK-DAG: %[[BLOCK:.*]] = arith.constant 32 : i32
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  // CHECK: %[[V:.*]] = mk_thread.thread_id
  %w = mk_thread.cta_id
  %v = mk_thread.thread_id
  // CHECK: %[[FIRST:.*]] = arith.addi %[[W]], %[[ROW:.*]] : i32
  // CHECK: %[[PIECE:.*]] = arith.xori
  // CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[PIECE]]
  // CHECK: arith.addi %[[AT]], %[[PAST]]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xbf16>
  // CHECK: %[[SECOND:.*]] = arith.addi %[[V]], %[[ROW]] : i32
  // CHECK: %[[AT:.*]] = arith.addi %[[SECOND]], %[[PIECE]]
  // CHECK: arith.addi %[[AT]], %[[BELOW]]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xbf16>
  %a:4 = mk_thread.read_elements [34, 35, 66, 67] of tensor<64x192xbf16, #acc> at %w, %v columns 128 thread(%w)
      : bf16, bf16, bf16, bf16
  // CHECK: arith.xori %{{.*}}, %[[BLOCK]]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
  %b:2 = mk_thread.read_elements [4, 5] of tensor<64x32xf32, #acc> at %w columns 32 thread(%w) : f32, f32
  // 16 bytes of what is dealt out, in the chunk where the thread's columns are.
  // CHECK: %[[IN_ROW:.*]] = arith.muli %{{.*}}, %c2_i32
  // CHECK: %[[IN_CHUNK:.*]] = arith.andi %[[IN_ROW]], %c127_i32
  // CHECK: arith.xori %[[IN_CHUNK]],
  // CHECK: arith.subi %[[IN_ROW]], %{{.*}} : i32
  // CHECK: arith.muli %{{.*}}, %c64_i32
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<8xbf16>
  %c:8 = mk_thread.read_elements [0, 1, 2, 3, 4, 5, 6, 7] of tensor<64x128xbf16, #mk_sm.blocked<threads = 128, vector = 8>>
      at %w columns 128 thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
}

// Four threads share a row: 16 bytes each, or words, or single elements at the same places; then each bit of the thread's
// number changes places with one of the register's.
// CHECK-LABEL: mk_thread.kernel @quads
mk_thread.kernel @quads threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %m = mk_thread.param 32 : i64
  %some = arith.cmpi eq, %w, %w : i32
  %all = arith.cmpi slt, %w, %w : i32
  // CHECK: %[[LOADED:.*]]:8 = scf.if %{{.*}} -> (i32, i32, i32, i32, i32, i32, i32, i32)
  // CHECK: %[[UP:.*]]:4 = mk_thread.load %{{.*}}, 16 if
  // CHECK: %[[DOWN:.*]]:4 = mk_thread.load %{{.*}}, 16 if
  // CHECK: scf.yield %[[UP]]#0, %[[DOWN]]#0, %[[UP]]#1, %[[DOWN]]#1, %[[UP]]#2, %[[DOWN]]#2, %[[UP]]#3, %[[DOWN]]#3
  // CHECK: else
  // CHECK: scf.if
  // CHECK-COUNT-8: mk_thread.load %{{.*}}, 4 if
  // CHECK: else
  // CHECK-COUNT-16: mk_thread.load %{{.*}}, 2 if
  %a:16 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] quads 4
      of tensor<64x32xbf16, #acc> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %m) together(%some) wide(%all)
      thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK: %[[ID:.*]] = mk_thread.thread_id pinned
  // CHECK: %[[LOW:.*]] = arith.andi %[[ID]], %c1_i32
  // CHECK: %[[ODD:.*]] = arith.cmpi ne, %[[LOW]], %c0_i32
  // CHECK: %[[HIGH:.*]] = arith.andi %[[ID]], %c2_i32
  // CHECK: %[[BEHIND:.*]] = arith.cmpi ne, %[[HIGH]], %c0_i32
  // CHECK: %[[SENT:.*]] = arith.select %[[ODD]], %[[LOADED]]#0, %[[LOADED]]#2
  // CHECK: %[[GOT:.*]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"(%{{.*}}, %[[SENT]], %c1_i32
  // CHECK: %[[A:.*]] = arith.select %[[ODD]], %[[GOT]], %[[LOADED]]#0
  // CHECK: %[[B:.*]] = arith.select %[[ODD]], %[[LOADED]]#2, %[[GOT]]
  // CHECK-COUNT-3: "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK: %[[SENT:.*]] = arith.select %[[BEHIND]], %[[A]],
  // CHECK: "llvm.nvvm.shfl.sync.bfly.i32"(%{{.*}}, %[[SENT]], %c2_i32
  // CHECK-COUNT-3: "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: shfl
  %b:16 = mk_thread.exchange_quads 4 %a#0, %a#1, %a#2, %a#3, %a#4, %a#5, %a#6, %a#7, %a#8, %a#9, %a#10, %a#11, %a#12,
      %a#13, %a#14, %a#15 : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  %p:2 = mk_thread.pin %b#0, %b#15 : bf16, bf16
  // Two blocks: 8 bytes.
  // CHECK: %[[UP:.*]]:2 = mk_thread.load %{{.*}}, 8 if
  // CHECK: %[[DOWN:.*]]:2 = mk_thread.load %{{.*}}, 8 if
  // CHECK: scf.yield %[[UP]]#0, %[[DOWN]]#0, %[[UP]]#1, %[[DOWN]]#1
  // CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 if
  // CHECK: else
  // CHECK-COUNT-8: mk_thread.load %{{.*}}, 2 if
  %c:8 = mk_thread.load_elements [4, 5, 6, 7, 8, 9, 10, 11] quads 2
      of tensor<64x32xbf16, #acc> at %g strides(%g, %g) offsets(%g, %g) limits(%g, %m) together(%some) wide(%all)
      thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK-COUNT-4: "llvm.nvvm.shfl.sync.bfly.i32"
  // CHECK-NOT: shfl
  %d:8 = mk_thread.exchange_quads 2 %c#0, %c#1, %c#2, %c#3, %c#4, %c#5, %c#6, %c#7
      : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  %q:2 = mk_thread.pin %d#0, %d#7 : bf16, bf16
}
