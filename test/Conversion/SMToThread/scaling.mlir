// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-skip-rescaling -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -canonicalize | FileCheck %s

// A tile that a loop carries and scales by rows: warps whose factors are all one go past
// the products.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @scaling on @mesh dims(uniform M, uniform N) (
    in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant dense<2.0> : tensor<64x64xf32, #acc>
  %small = arith.constant dense<2.0> : tensor<64x32xf32, #acc>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %f = mk.load %a[%c0] : memref<?xf32> -> tensor<64xf32, #row>
      %b = mk.broadcast %f dims [1] : tensor<64xf32, #row> -> tensor<64x64xf32, #acc>
      // Two rows of a thread; 32 products.
      // CHECK: scf.for {{.*}} iter_args
      // CHECK: %[[X:.*]] = arith.cmpf une, %[[F:.*]], %{{.*}} : f32
      // CHECK: %[[Y:.*]] = arith.cmpf une, %[[G:.*]], %{{.*}} : f32
      // CHECK: %[[ANY:.*]] = arith.ori %[[X]], %[[Y]]
      // CHECK: %[[SOME:.*]] = nvvm.vote.sync any %{{.*}}, %[[ANY]]
      // CHECK: scf.if %[[SOME]] -> (f32, f32,
      // CHECK: arith.mulf %{{.*}}, %[[F]] fastmath<contract>
      // CHECK-COUNT-31: arith.mulf
      // CHECK: else
      // CHECK-NOT: arith.mulf
      // CHECK: scf.yield
      %x = scf.for %i = %c0 to %N step %c1 iter_args(%t = %start) -> (tensor<64x64xf32, #acc>) {
        %next = arith.mulf %b, %t : tensor<64x64xf32, #acc>
        scf.yield %next : tensor<64x64xf32, #acc>
      }
      mk.store %x, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      // What is not carried, and what is small, is just scaled.
      // CHECK: scf.for
      // CHECK-NOT: nvvm.vote
      %d = mk.broadcast %f dims [1] : tensor<64xf32, #row> -> tensor<64x32xf32, #acc>
      %y = scf.for %i = %c0 to %N step %c1 iter_args(%t = %small) -> (tensor<64x32xf32, #acc>) {
        %next = arith.mulf %t, %d : tensor<64x32xf32, #acc>
        scf.yield %next : tensor<64x32xf32, #acc>
      }
      mk.store %y, %c[%c0, %c0] : tensor<64x32xf32, #acc>, memref<?x?xf32>
      %z = arith.mulf %x, %b : tensor<64x64xf32, #acc>
      mk.store %z, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
    }
  }
}
