// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s --mlir-print-op-generic | mk-opt | FileCheck %s

// When fragments are computed, and what is agreed on after a failure.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#column = #mk_sm.slice<axis = 0, of = #acc>

// CHECK-LABEL: mk.kernel @fragments
mk.kernel @fragments on @mesh (in %a : memref<64x64xf32> [64, 64], in %f : memref<64xf32> [64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: %[[X:.*]] = mk.load
      // CHECK: %[[D:.*]] = mk_sm.defer %[[X]] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #acc>
      %d = mk_sm.defer %x : tensor<64x64xf32, #acc>
      // CHECK: mk_sm.materialize %[[D]] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      %w = mk_sm.materialize %d : tensor<64x64xf32, #acc>
      mk.store %w, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
      // CHECK: mk_sm.partial_sum %{{.*}} axis 0 : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>
      %v = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>
      %q = mk_sm.partial_sum %v axis 0 : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>
      mk.store %q, %c[%c0, %c0] : tensor<16x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>, memref<64x64xf32>
      // CHECK: mk_sm.partial_sum %{{.*}} : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>
      %u = mk_sm.partial_sum %v : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 8>>
      mk.store %u, %c[%c0, %c0] : tensor<64x8xf32, #mk_sm.blocked<threads = 128, vector = 1>>, memref<64x64xf32>
      %y = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32, #acc>
      %rows = mk.load %f[%c0] : memref<64xf32> -> tensor<64xf32, #row>
      %columns = mk.load %f[%c0] : memref<64xf32> -> tensor<64xf32, #column>
      // CHECK: mk_sm.rescale %{{.*}} by %{{.*}} along 1 : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
      %r = mk_sm.rescale %y by %rows along 1 : tensor<64x64xf32, #acc>, tensor<64xf32, #row>
      // CHECK: mk_sm.rescale %{{.*}} by %{{.*}} along 0 :
      %s = mk_sm.rescale %r by %columns along 0 : tensor<64x64xf32, #acc>, tensor<64xf32, #column>
      mk.store %s, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}

// Of the result of a matrix op in flight, which the warp waits for.
// CHECK-LABEL: mk.kernel @rescale_in_flight
mk.kernel @rescale_in_flight on @mesh (in %f : memref<64xf32> [64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !mk_sm.ring<2, tensor<64x64xbf16>> -> !mk_sm.slot<tensor<64x64xbf16>>
      %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<64x64xbf16>> -> !mk_sm.staged<tensor<64x64xbf16>>
      %rows = mk.load %f[%c0] : memref<64xf32> -> tensor<64xf32, #row>
      // CHECK: %[[DOT:.*]] = mk_sm.mma %
      %d = mk_sm.mma %x, %x, %zero : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<64x64xbf16>>, tensor<64x64xf32, #acc>
      // CHECK: mk_sm.rescale in_flight %[[DOT]] by %{{.*}} along 1 : tensor<64x64xf32
      %r = mk_sm.rescale in_flight %d by %rows along 1 : tensor<64x64xf32, #acc>, tensor<64xf32, #row>
      mk_sm.release %ring : !mk_sm.ring<2, tensor<64x64xbf16>>
      mk.store %r, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<64x64xf32>
    }
  }
}

// CHECK-LABEL: mk.kernel @agreed
mk.kernel @agreed on @mesh (scratch %list : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1_i32 = arith.constant 1 : i32
  mk.role @r ctas(1) {
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: mk_sm.load_agreed %list[%c0] : memref<1xi32>
      %v = mk_sm.load_agreed %list[%c0] : memref<1xi32>
    }
    mk_sm.partition consumer warps(4) registers(168) agrees {
      scf.while : () -> () {
        %v = mk_sm.load_agreed %list[%c0] : memref<1xi32>
        // CHECK: %[[MORE:.*]] = arith.cmpi
        %more = arith.cmpi ult, %v, %c1_i32 : i32
        // CHECK: mk_sm.until_failed %[[MORE]]
        %goes_on = mk_sm.until_failed %more
        scf.condition(%goes_on)
      } do {
        scf.yield
      }
    }
  }
}
