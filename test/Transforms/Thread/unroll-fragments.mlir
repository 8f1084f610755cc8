// RUN: mk-opt %s -split-input-file -mk-thread-unroll-fragments -verify-diagnostics | FileCheck %s

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>

// Element by element; two f32 become 16-bit floats at once, and such ones stay packed.
// CHECK-LABEL: mk_thread.kernel @elementwise
mk_thread.kernel @elementwise threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %u = mk_thread.param 24 : i32
  %v = mk_thread.param 28 : i32
  // CHECK: %[[X:.*]] = llvm.bitcast %{{.*}} : i32 to f32
  // CHECK: %[[Y:.*]] = llvm.bitcast %{{.*}} : i32 to f32
  %x = llvm.bitcast %u : i32 to f32
  %y = llvm.bitcast %v : i32 to f32
  %a = mk_thread.hold_elements %x, %y, %x, %y : f32, f32, f32, f32 -> tensor<64x8xf32, #acc>
  %two = arith.constant dense<2.0> : tensor<64x8xf32, #acc>
  // CHECK: %[[A:.*]] = arith.mulf %[[X]], %cst fastmath<contract> : f32
  // CHECK: %[[B:.*]] = arith.mulf %[[Y]], %cst fastmath<contract> : f32
  // CHECK-COUNT-2: arith.mulf
  %b = arith.mulf %a, %two : tensor<64x8xf32, #acc>
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%[[B]], %[[A]])
  %c = arith.truncf %b : tensor<64x8xf32, #acc> to tensor<64x8xbf16, #acc>
  // CHECK: %[[W:.*]] = llvm.bitcast %[[P]] : vector<2xbf16> to i32
  %w:2 = mk_thread.take_elements %c : tensor<64x8xbf16, #acc> -> i32, i32
  // CHECK: mk_thread.pin %[[W]]
  %p = mk_thread.pin %w#0 : i32
}

// -----

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>

// On demand: where elements are taken, with what loads need, once for all takers in a block and those in it.
// CHECK-LABEL: mk_thread.kernel @on_demand
mk_thread.kernel @on_demand threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  %yes = arith.cmpi eq, %w, %w : i32
  // CHECK: mk_thread.cta_id
  // CHECK-NOT: mk_thread.load_elements
  %r = mk_thread.on_demand : tensor<64xf32, #row> {
    %at = mk_thread.param pinned 32 : i64
    %l:2 = mk_thread.load_elements [0, 1] of tensor<64xf32, #row> at %at strides(%n) offsets(%n) limits(%n) thread(%w) : f32, f32
  }
  %s = mk_thread.on_demand : tensor<64x8xf32, #acc> {
    %t = mk_thread.spread %r : tensor<64xf32, #row> to tensor<64x8xf32, #acc>
  }
  %u = mk_thread.on_demand : tensor<64x8xf32, #acc> {
    %t = arith.addf %s, %s : tensor<64x8xf32, #acc>
  }
  // CHECK: scf.if
  scf.if %yes {
    // CHECK: %[[AT:.*]] = mk_thread.param pinned 32
    // CHECK: %[[L:.*]] = mk_thread.load_elements [0] of {{.*}} at %[[AT]]
    mk_thread.load_ahead [0, 1] of %u : tensor<64x8xf32, #acc>
    // CHECK: %[[A:.*]] = arith.addf %[[L]], %[[L]]
    // CHECK: mk_thread.pin %[[A]]
    %a = mk_thread.take_elements only [0] of %u : tensor<64x8xf32, #acc> -> f32
    %p = mk_thread.pin %a : f32
    // CHECK-NOT: arith.addf
    // CHECK: mk_thread.pin %[[A]]
    %b = mk_thread.take_elements only [0] of %u : tensor<64x8xf32, #acc> -> f32
    %q = mk_thread.pin %b : f32
  }
  // What another block has is not there.
  // CHECK: mk_thread.load_elements [1] of
  // CHECK: arith.addf
  %c = mk_thread.take_elements only [2] of %u : tensor<64x8xf32, #acc> -> f32
  %d = mk_thread.pin %c : f32
}

// -----

#acc = #mk_sm.mma<warpgroups = 1>

// What is spilled comes back in runs of four.
// CHECK-LABEL: mk_thread.kernel @reload
mk_thread.kernel @reload threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  %r = mk_thread.on_demand : tensor<64x16xf32, #acc> {
    %l:8 = mk_thread.reload_elements [0, 1, 2, 3, 4, 5, 6, 7] of tensor<64x16xf32, #acc> at %n step 2048 where %w
        : f32, f32, f32, f32, f32, f32, f32, f32
  }
  // CHECK: %[[L:.*]]:4 = mk_thread.reload_elements [4, 5, 6, 7] of {{.*}} step 2048
  // CHECK: mk_thread.pin %[[L]]#1
  %a = mk_thread.take_elements only [5] of %r : tensor<64x16xf32, #acc> -> f32
  %b = mk_thread.pin %a : f32
}

// -----

#acc = #mk_sm.mma<warpgroups = 1>

// Quads share four blocks, then two; what is left is loaded as it is. They exchange where the first element is taken.
// CHECK-LABEL: mk_thread.kernel @wide
mk_thread.kernel @wide threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  %yes = arith.cmpi eq, %w, %w : i32
  %r = mk_thread.on_demand : tensor<64x56xbf16, #acc> {
    %l:28 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27] of tensor<64x56xbf16, #acc> at %n strides(%n, %n)
        offsets(%n, %n) limits(%n, %n) together(%yes) wide(%yes) thread(%w)
        : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  }
  // CHECK: %[[FOUR:.*]]:16 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] quads 4 of {{.*}} together(%[[YES:.*]]) wide(%[[YES]])
  // CHECK: %[[TWO:.*]]:8 = mk_thread.load_elements [16, 17, 18, 19, 20, 21, 22, 23] quads 2 of {{.*}} together(%[[YES]]) wide(%[[YES]])
  // CHECK: %[[OTHERS:.*]]:4 = mk_thread.load_elements [24, 25, 26, 27] of {{.*}} together(%[[YES]]) thread
  // CHECK-NOT: exchange_quads
  mk_thread.load_ahead [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27] of %r : tensor<64x56xbf16, #acc>
  // CHECK: mk_thread.sync_warp
  mk_thread.sync_warp
  // CHECK: scf.if
  scf.if %yes {
    // CHECK: %[[E:.*]]:16 = mk_thread.exchange_quads 4 %[[FOUR]]#0,
    // CHECK-NOT: exchange_quads
    // CHECK: arith.extf %[[E]]#3
    %a = mk_thread.take_elements only [3] of %r : tensor<64x56xbf16, #acc> -> bf16
    %b = arith.extf %a : bf16 to f32
    %p = mk_thread.pin %b : f32
    // CHECK-NOT: exchange_quads
    // CHECK: arith.extf %[[E]]#8
    %c = mk_thread.take_elements only [8] of %r : tensor<64x56xbf16, #acc> -> bf16
    %d = arith.extf %c : bf16 to f32
    %q = mk_thread.pin %d : f32
  }
  // What was exchanged in a block is not there behind it.
  // CHECK: %[[F:.*]]:16 = mk_thread.exchange_quads 4 %[[FOUR]]#0,
  // CHECK: arith.extf %[[F]]#3
  %a = mk_thread.take_elements only [3] of %r : tensor<64x56xbf16, #acc> -> bf16
  %b = arith.extf %a : bf16 to f32
  %p = mk_thread.pin %b : f32
  // CHECK: arith.extf %[[OTHERS]]#1
  %c = mk_thread.take_elements only [25] of %r : tensor<64x56xbf16, #acc> -> bf16
  %d = arith.extf %c : bf16 to f32
  %q = mk_thread.pin %d : f32
}

// -----

#acc = #mk_sm.mma<warpgroups = 1>

// The same of a tile that is loaded whole. One element is loaded alone.
// CHECK-LABEL: mk_thread.kernel @whole
mk_thread.kernel @whole threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %n = mk_thread.param 24 : i64
  %yes = arith.cmpi eq, %w, %w : i32
  // CHECK: %[[L:.*]]:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] quads 2 of
  // CHECK: %[[E:.*]]:8 = mk_thread.exchange_quads 2 %[[L]]#0,
  %l:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] of tensor<64x16xbf16, #acc> at %n strides(%n, %n)
      offsets(%n, %n) limits(%n, %n) together(%yes) wide(%yes) thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK: arith.extf %[[E]]#5
  %b = arith.extf %l#5 : bf16 to f32
  %p = mk_thread.pin %b : f32
  %r = mk_thread.on_demand : tensor<64x16xbf16, #acc> {
    %m:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] of tensor<64x16xbf16, #acc> at %n strides(%n, %n)
        offsets(%n, %n) limits(%n, %n) together(%yes) wide(%yes) thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  }
  // CHECK: %[[M:.*]] = mk_thread.load_elements [5] of {{.*}} limits(%{{.*}}, %{{.*}}) thread
  // CHECK: arith.extf %[[M]]
  %a = mk_thread.take_elements only [5] of %r : tensor<64x16xbf16, #acc> -> bf16
  %c = arith.extf %a : bf16 to f32
  %q = mk_thread.pin %c : f32
}

// -----

mk_thread.kernel @left threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %t = arith.constant dense<0.0> : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has a fragment, of which there is no code for single elements}}
  mk_thread.spill_fragment %t to %g step 2048 where %w : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
}
