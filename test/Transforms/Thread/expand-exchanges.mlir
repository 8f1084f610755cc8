// RUN: mk-opt %s -mk-thread-expand-exchanges | FileCheck %s

#runs = #mk_sm.blocked<threads = 128, vector = 2>
#dealt = #mk_sm.blocked<threads = 128, vector = 1>
#warp = #mk_sm.blocked<threads = 32, vector = 1>

mk_thread.kernel @exchanges threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %x = arith.constant 2.0 : f32
  // Threads write what they hold, and read what they are to have.
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK-COUNT-2: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4){{$}}
  // CHECK: mk_thread.sync %{{.*}}, 128
  // CHECK-COUNT-2: mk_thread.load %{{.*}}, 4 : i32 -> i32
  // CHECK-NOT: mk_thread.sync
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #runs> to tensor<8x32xf32, #dealt> strides [32, 1]
      in <threads = 128, offset = 1024, bytes = 1024> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
  // One warp meets without a barrier. Elements of a column are the same: one is read.
  // CHECK: mk_thread.sync_warp
  // CHECK: mk_thread.store
  // CHECK: mk_thread.sync_warp
  // CHECK: mk_thread.load
  // CHECK-NOT: mk_thread.load
  %b:2 = mk_thread.exchange_elements %x of tensor<32xf32, #warp> to tensor<2x32xf32, #warp> strides [0, 1]
      in <threads = 32, offset = 1024, bytes = 128> thread(%w) : (f32) -> (f32, f32)
  // In two parts, for lack of room: what is not in a part is neither written nor read.
  // CHECK-COUNT-2: mk_thread.sync_cta
  // CHECK-COUNT-2: mk_thread.store %{{.*}} bytes(4) if %
  // CHECK-COUNT-2: mk_thread.load %{{.*}}, 4 if %{{.*}} else(%{{.*}} : i32)
  // CHECK-COUNT-2: mk_thread.store %{{.*}} bytes(4) if %
  // CHECK-COUNT-2: mk_thread.load %{{.*}}, 4 if %{{.*}} else(%{{.*}} : i32)
  mk_thread.sync_cta
  mk_thread.sync_cta
  %c:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #runs> to tensor<8x32xf32, #dealt> strides [32, 1]
      in <threads = 128, offset = 1024, bytes = 512> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
  // Rows of which columns are read in runs have an odd number of pairs of words: 16 elements of 16 bits 5. Each run of two rows begins a pair
  // further. Two elements are written at once.
  // CHECK: arith.muli %{{.*}}, %c20_i64 : i64
  // CHECK: %[[START:.*]] = arith.divui %{{.*}}, %c2_i64
  // CHECK: arith.muli %[[START]], %c4_i64
  // CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
  // CHECK: mk_thread.store %[[WORD]] : i32 to %{{.*}} : i32 bytes(4){{$}}
  // CHECK-COUNT-2: mk_thread.load %{{.*}}, 2 : i32 -> i16
  // CHECK-NOT: mk_thread.load
  %y = arith.constant 2.0 : bf16
  %d:2 = mk_thread.exchange_elements %y, %y of tensor<16x16xbf16, #runs> to tensor<16x16xbf16, #runs> strides [1, 16]
      in <threads = 128, offset = 1024, bytes = 1024> thread(%w) barrier(%w) : (bf16, bf16) -> (bf16, bf16)
  mk_thread.pin %d#0, %d#1 : bf16, bf16
  mk_thread.pin %a#0, %a#1, %b#0, %b#1, %c#0, %c#1 : f32, f32, f32, f32, f32, f32
}
