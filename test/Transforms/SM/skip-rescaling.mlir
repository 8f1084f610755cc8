// RUN: mk-opt %s -mk-sm-skip-rescaling --remarks=skip-rescaling -verify-diagnostics | FileCheck %s

// Sums that a loop carries and scales by rows: warps whose factors are all one need not multiply.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>

// CHECK-LABEL: mk.kernel @rescaling
mk.kernel @rescaling on @mesh dims(uniform M, uniform N) (
    in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant dense<2.0> : tensor<64x64xf32, #acc>
  %small = arith.constant dense<2.0> : tensor<64x32xf32, #acc>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %f = mk.load %a[%c0] : memref<?xf32> -> tensor<64xf32, #row>
      %b = mk.broadcast %f dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      %d = mk.broadcast %f dims [1] : tensor<64xf32, #row> -> tensor<64x32xf32, #acc>
      // CHECK: scf.for
      // CHECK: mk_sm.rescale %{{.*}} by %{{.*}} along 1 : tensor<64x64xf32
      %x = scf.for %i = %c0 to %N step %c1 iter_args(%t = %start) -> (tensor<64x64xf32, #acc>) {
        // expected-remark @+1 {{mk-sm-skip-rescaling: passed: is left out by warps whose factors are one}}
        %next = arith.mulf %b, %t : tensor<64x64xf32, #acc>
        scf.yield %next : tensor<64x64xf32, #acc>
      }
      // CHECK: scf.for
      // CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x32xf32
      %y = scf.for %i = %c0 to %N step %c1 iter_args(%t = %small) -> (tensor<64x32xf32, #acc>) {
        // expected-remark @+1 {{mk-sm-skip-rescaling: missed: multiplies in each turn: a thread has 16 elements, and looking at factors pays from 32 on}}
        %next = arith.mulf %t, %d : tensor<64x32xf32, #acc>
        scf.yield %next : tensor<64x32xf32, #acc>
      }
      // What is carried is used in the same iteration.
      // CHECK: scf.for
      // CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x64xf32
      %w = scf.for %i = %c0 to %N step %c1 iter_args(%t = %start) -> (tensor<64x64xf32, #acc>) {
        // expected-remark @+1 {{mk-sm-skip-rescaling: missed: multiplies in each iteration: what it gives is used there, and only what the loop carries on as it is may be left out}}
        %scaled = arith.mulf %t, %b : tensor<64x64xf32, #acc>
        %next = arith.addf %scaled, %start : tensor<64x64xf32, #acc>
        scf.yield %next : tensor<64x64xf32, #acc>
      }
      mk.store %w, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      // What is not carried.
      // CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<64x64xf32
      %z = arith.mulf %x, %b : tensor<64x64xf32, #acc>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      mk.store %y, %c[%c0, %c0] : tensor<64x32xf32, #acc>, memref<?x?xf32>
    }
  }
}

// Dots whose sum is scaled are waited for there, behind work on others.

!tile = tensor<64x64xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile>

// CHECK-LABEL: mk.kernel @late
mk.kernel @late on @mesh dims(uniform M, uniform N) (
    in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant dense<2.0> : tensor<64x64xf32, #acc>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %f = mk.load %a[%c0] : memref<?xf32> -> tensor<64xf32, #row>
      // CHECK: scf.for
      // CHECK: %[[DOT:.*]] = mk_sm.mma %
      // CHECK-NOT: mk_sm.mma_wait
      // CHECK: %[[E:.*]] = math.exp2
      // CHECK-NOT: mk_sm.release
      // CHECK: %[[S:.*]] = mk_sm.rescale in_flight %[[DOT]] by %[[E]] along 1
      // CHECK-NEXT: mk_sm.release
      // CHECK-NEXT: scf.yield %[[S]]
      %x = scf.for %i = %c0 to %N step %c1 iter_args(%t = %start) -> (tensor<64x64xf32, #acc>) {
        %slot = mk_sm.wait %ring : !ring -> !mk_sm.slot<!tile>
        %y = mk_sm.tile %slot[0] : !mk_sm.slot<!tile> -> !staged
        %u = mk_sm.mma_fence %t : tensor<64x64xf32, #acc>
        %d = mk_sm.mma %y, %y, %u : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ring : !ring
        %e = math.exp2 %f : tensor<64xf32, #row>
        %b = mk.broadcast %e dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
        // expected-remark @+2 {{mk-sm-skip-rescaling: passed: is left out by warps whose factors are one}}
        // expected-remark @+1 {{mk-sm-skip-rescaling: passed: waits for its dots behind the work on others}}
        %next = arith.mulf %w, %b : tensor<64x64xf32, #acc>
        scf.yield %next : tensor<64x64xf32, #acc>
      }
      mk.store %x, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
    }
  }
}

// Not where warpgroups take turns.
// CHECK-LABEL: mk.kernel @early
mk.kernel @early on @mesh dims(uniform M, uniform N) (
    in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant dense<2.0> : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    %rows = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x64xbf16>>
    mk_sm.partition consumer warps(8) registers(168) {
      %f = mk.load %a[%c0] : memref<?xf32> -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
      %b = mk.broadcast %f dims [1] : tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>> -> tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
      %lhs = mk_sm.wait %rows : !mk_sm.ring<2, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>>
      %z = mk_sm.tile %lhs[0] : !mk_sm.slot<tensor<128x64xbf16>> -> !mk_sm.staged<tensor<128x64xbf16>>
      // CHECK: mk_sm.turn_wait
      // CHECK: mk_sm.turn_pass
      // CHECK: mk_sm.mma_wait 0
      // CHECK: mk_sm.rescale %
      %x = scf.for %i = %c0 to %N step %c1 iter_args(%t = %start) -> (tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>) {
        %slot = mk_sm.wait %ring : !ring -> !mk_sm.slot<!tile>
        %y = mk_sm.tile %slot[0] : !mk_sm.slot<!tile> -> !staged
        mk_sm.turn_wait
        %u = mk_sm.mma_fence %t : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
        %d = mk_sm.mma %z, %y, %u : !mk_sm.staged<tensor<128x64xbf16>>, !staged, tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
        mk_sm.turn_pass
        %w = mk_sm.mma_wait 0, %d : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
        mk_sm.release %ring : !ring
        // expected-remark @+1 {{mk-sm-skip-rescaling: passed: is left out by warps whose factors are one}}
        %next = arith.mulf %w, %b : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
        scf.yield %next : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>
      }
      mk_sm.release %rows : !mk_sm.ring<2, tensor<128x64xbf16>>
      mk.store %x, %c[%c0, %c0] : tensor<128x64xf32, #mk_sm.mma<warpgroups = 2>>, memref<?x?xf32>
    }
  }
}

// In front of the loop the sum is zero: factors that are numbers leave it so. A maximum that may be no number, or infinite from
// the start, may make it one.

// CHECK-LABEL: mk.kernel @first
mk.kernel @first on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %low = arith.constant dense<-1.0e30> : tensor<64xf32, #row>
  %inf = arith.constant dense<0xFF800000> : tensor<64xf32, #row>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %top = mk.load %a[%c0] : memref<?xf32> -> tensor<64xf32, #row>
      %grows_ = arith.cmpf ogt, %top, %low : tensor<64xf32, #row>
      %grows = mk_sm.defer %grows_ : tensor<64xi1, #row>
      %most = arith.select %grows, %top, %low : tensor<64xi1, #row>, tensor<64xf32, #row>
      %old = arith.subf %low, %most : tensor<64xf32, #row>
      %factor = math.exp2 %old : tensor<64xf32, #row>
      %factors = mk.broadcast %factor dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-skip-rescaling: passed: is left out, since the sum is still zero}}
      %o = arith.mulf %factors, %zero : tensor<64x64xf32, #acc>
      // CHECK: mk.store %[[ZERO:.*]], %{{.*}} : tensor<64x64xf32
      mk.store %o, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      // From minus infinity on a difference may be no number.
      %most2 = arith.select %grows, %top, %inf : tensor<64xi1, #row>, tensor<64xf32, #row>
      %old2 = arith.subf %inf, %most2 : tensor<64xf32, #row>
      %factor2 = math.exp2 %old2 : tensor<64xf32, #row>
      %factors2 = mk.broadcast %factor2 dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      // CHECK: %[[P:.*]] = arith.mulf
      // CHECK: mk.store %[[P]]
      %p = arith.mulf %factors2, %zero : tensor<64x64xf32, #acc>
      mk.store %p, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      // Less than what the factor starts from.
      %half = arith.constant dense<-1.0e29> : tensor<64xf32, #row>
      %old3 = arith.subf %half, %most : tensor<64xf32, #row>
      %factor3 = math.exp2 %old3 : tensor<64xf32, #row>
      %factors3 = mk.broadcast %factor3 dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      // CHECK: %[[Q:.*]] = arith.mulf
      // CHECK: mk.store %[[Q]]
      %q = arith.mulf %factors3, %zero : tensor<64x64xf32, #acc>
      mk.store %q, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
    }
  }
}
