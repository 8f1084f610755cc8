// RUN: mk-opt %s -split-input-file -mk-sm-assign-stages | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-sm-assign-stages -mk-sm-lay-out-shared=map -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAP

// What CTAs exchange is counted by a cursor of its own, and comes into memory of its own.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
// CHECK-LABEL: mk.kernel @swapped
// CHECK: %[[C:.*]] = mk_sm.cursor slots(1) parity(0)
// CHECK: mk_sm.swap_parts %{{.*}} counted(%[[C]]) : tensor<64x64xf32, #{{.*}}> -> tensor<64x32xf32, #{{.*}}>, tensor<64x32xf32, #{{.*}}>
// MAP-LABEL: kernel 'swapped'
// MAP: 0 {{ *}}16384 {{ *}}128  role 'r': parts 1 x 16384
// MAP: 16 {{ *}}8  role 'r': swaps 2 x 8
mk.kernel @swapped on @mesh (out %s : memref<64x64xf32> [64, 64]) {
  mk.role @r ctas(2) {
    mk_sm.partition consumer warps(4) registers(168) {
      %t = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
      %a, %b = mk_sm.swap_parts %t : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #acc>, tensor<64x32xf32, #acc>
    }
  }
}
