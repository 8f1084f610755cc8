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
