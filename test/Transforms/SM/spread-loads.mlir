// RUN: mk-opt %s -mk-sm-spread-loads --remarks=spread-loads -verify-diagnostics -o %t && FileCheck %s --input-file=%t
// RUN: mk-opt %t -mk-sm-spread-loads | diff - %t

// A row that is broadcast is loaded by each thread that needs it, where the load stands.
mk.mesh @mesh (gpu = 1 via link)
#runs = #mk_sm.blocked<threads = 128, vector = 8>
#single = #mk_sm.blocked<threads = 128, vector = 1>
#acc = #mk_sm.mma<warpgroups = 1>
!row = tensor<256xbf16, #single>
!wide = tensor<256xf32, #single>
!tile = tensor<8x256xf32, #runs>

// CHECK-LABEL: mk.kernel @rows
// CHECK: %[[X:.*]] = mk.load %a[%c0] pad(%cst : bf16) spread : memref<?xbf16> -> tensor<8x256xbf16, #mk_sm.blocked<threads = 128, vector = 8>>
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[X]] : {{.*}} to tensor<8x256xf32, #mk_sm.blocked<threads = 128, vector = 8>>
// CHECK-NEXT: arith.addf %[[W]], %[[W]]
// Here the row itself is used, too.
// CHECK: mk.load %a[%c0] spread
// CHECK-NEXT: mk.load %a[%c0] : memref<?xbf16> -> tensor<256xbf16
// CHECK: mk.store
mk.kernel @rows on @mesh dims(uniform M) (in %a : memref<?xbf16> [M], out %b : memref<?xbf16> [M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0.0 : bf16
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(232) {
      // expected-remark @+1 {{mk-sm-spread-loads: passed: is loaded by each thread that needs it (in role 'r')}}
      %x = mk.load %a[%c0] pad(%none : bf16) : memref<?xbf16> -> !row
      %w = arith.extf %x : !row to !wide
      %y = mk.broadcast %w dims [0] : !wide -> !tile
      %z = arith.addf %y, %y : !tile
      mk.store %z, %c[%c0, %c0] : !tile, memref<?x?xf32>
      // expected-remark @+1 {{mk-sm-spread-loads: passed: is loaded by each thread that needs it (in role 'r')}}
      %u = mk.load %a[%c0] : memref<?xbf16> -> !row
      %v = arith.extf %u : !row to !wide
      %t = mk.broadcast %v dims [0] : !wide -> !tile
      mk.store %t, %c[%c0, %c0] : !tile, memref<?x?xf32>
      mk.store %u, %b[%c0] : !row, memref<?xbf16>
    }
  }
}

// What is computed of several rows, or goes along rows, changes threads as before; accumulators have what they need of a row.
// CHECK-LABEL: mk.kernel @others
// CHECK-NOT: spread
mk.kernel @others on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(232) {
      %x = mk.load %a[%c0] : memref<?xf32> -> !wide
      %w = arith.addf %x, %x : !wide
      %y = mk.broadcast %w dims [0] : !wide -> !tile
      mk.store %y, %c[%c0, %c0] : !tile, memref<?x?xf32>
      %u = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32, #single>
      %v = mk.broadcast %u dims [1] : tensor<8xf32, #single> -> !tile
      mk.store %v, %c[%c0, %c0] : !tile, memref<?x?xf32>
      %s = mk.load %a[%c0] : memref<?xf32> -> tensor<64xf32, #mk_sm.slice<axis = 0, of = #acc>>
      %t = mk.broadcast %s dims [0] : tensor<64xf32, #mk_sm.slice<axis = 0, of = #acc>> -> tensor<64x64xf32, #acc>
      mk.store %t, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
    }
  }
}
