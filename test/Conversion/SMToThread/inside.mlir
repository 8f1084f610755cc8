// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread | FileCheck %s
// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread=bounds=false | FileCheck %s --check-prefix=NONE

// Indices in front of a tile's dimensions are compared where they are not known to exist, and only where something of
// the tile is stored: what is left of it is at least one element in each dimension. No other place is stored to instead.
// NONE-NOT: mk_thread.check

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!t = tensor<64x64xf32, #acc>
!c = memref<?x?x?xf32>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @k on @mesh dims(uniform L, uniform M) (out %c : !c [L, M, M], scratch %s : memref<4x64x64xf32> [4, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = arith.constant dense<1.0> : !t
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: mk_thread.check {{.*}} least [-63, 1, -63, 1] named(2) report(<kind = 13, role = 0, number = 0>){{$}}
      // CHECK: mk_thread.store_fragment
      mk.store %t, %c[%L, %M, %M] : !t, !c
      // CHECK: mk_thread.check {{.*}} least [-63, 1, 1, -63, 1] named(2) report(<kind = 13, role = 0, number = 1>){{$}}
      // CHECK: mk_thread.stage_fragment
      mk_sm.store %t, %c[%L, %M, %M] valid(%M, %c3) through %out : !t, !c, !mk_sm.staging<2>
      // CHECK: mk_thread.check {{.*}} named(65538) report(<kind = 13, role = 0, number = 2>)
      // CHECK: mk_thread.spill_fragment
      mk_sm.spill %t, %s[%L] : !t, memref<4x64x64xf32>
      // CHECK-NOT: mk_thread.check
      mk_sm.spill %t, %s[%c3] : !t, memref<4x64x64xf32>
      mk_sm.spill %t, %s[%L] inside : !t, memref<4x64x64xf32>
      mk.store %t, %c[%L, %M, %M] inside : !t, !c
      mk_sm.store %t, %c[%L, %M, %M] through %out inside : !t, !c, !mk_sm.staging<2>
    }
  }
}
