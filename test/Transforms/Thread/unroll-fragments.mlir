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

mk_thread.kernel @left threads(256) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %t = arith.constant dense<0.0> : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
  // expected-error @+1 {{has a fragment, of which there is no code for single elements}}
  mk_thread.spill_fragment %t to %g step 2048 where %w : tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>
}
