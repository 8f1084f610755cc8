// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// A GEMM at the SM level, as the split of its role leaves it: every matrix op is
// waited for at once.

// CHECK: mk.role @gemm
// CHECK: mk_sm.create_ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>
// CHECK: mk_sm.partition producer warps(1) registers(40)
// CHECK: mk_sm.ticket loop(0)
// CHECK: mk_sm.send
// CHECK: mk_sm.acquire
// CHECK: mk_sm.copy
// CHECK: mk_sm.copy
// CHECK: mk_sm.commit
// CHECK: mk_sm.partition consumer warps(8) registers(232)
// CHECK: mk_sm.receive
// CHECK: mk_sm.wait
// CHECK: mk_sm.mma_fence
// CHECK: mk_sm.mma {{.*}} transpose_b
// CHECK: mk_sm.mma_wait 0
// CHECK: mk_sm.release
// CHECK: mk_sm.store {{.*}} through

mk.mesh @mesh (gpu = 1 via link)

#acc = #mk_sm.mma<warpgroups = 2>

mk.kernel @gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %row_tiles = arith.ceildivui %M, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %total = arith.muli %row_tiles, %column_tiles : index

  mk.role @gemm ctas(rest) {
    %ring = mk_sm.create_ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    %out = mk_sm.create_staging : !mk_sm.staging<2>

    mk_sm.partition producer warps(1) registers(40) {
      scf.while : () -> (index) {
        %t = mk_sm.ticket loop(0)
        mk_sm.send %items, %t : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %t, %total : index
        scf.condition(%more) %t : index
      } do {
      ^bb0(%t: index):
        %m = arith.divsi %t, %column_tiles : index
        %n = arith.remsi %t, %column_tiles : index
        %row = arith.muli %m, %c128 : index
        %column = arith.muli %n, %c256 : index
        scf.for %kt = %c0 to %k_tiles step %c1 {
          %k = arith.muli %kt, %c64 : index
          %slot = mk_sm.acquire %ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
          mk_sm.copy %a[%row, %k] to %slot[0] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
          mk_sm.copy %b[%column, %k] to %slot[1] : memref<?x?xbf16>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
          mk_sm.commit %ring, %slot : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>, !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
        }
        scf.yield
      }
    }

    mk_sm.partition consumer warps(8) registers(232) {
      %zero = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
      scf.while : () -> (index) {
        %t = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %t, %total : index
        scf.condition(%more) %t : index
      } do {
      ^bb0(%t: index):
        %m = arith.divsi %t, %column_tiles : index
        %n = arith.remsi %t, %column_tiles : index
        %row = arith.muli %m, %c128 : index
        %column = arith.muli %n, %c256 : index
        %acc = scf.for %kt = %c0 to %k_tiles step %c1 iter_args(%sum = %zero) -> (tensor<128x256xf32, #acc>) {
          %slot = mk_sm.wait %ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
          %x = mk_sm.tile %slot[0] : !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.staged<tensor<128x64xbf16>>
          %y = mk_sm.tile %slot[1] : !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>> -> !mk_sm.staged<tensor<256x64xbf16>>
          %f = mk_sm.mma_fence %sum : tensor<128x256xf32, #acc>
          %d = mk_sm.mma %x, %y, %f transpose_b : !mk_sm.staged<tensor<128x64xbf16>>, !mk_sm.staged<tensor<256x64xbf16>>, tensor<128x256xf32, #acc>
          %next = mk_sm.mma_wait 0, %d : tensor<128x256xf32, #acc>
          mk_sm.release %ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>
          scf.yield %next : tensor<128x256xf32, #acc>
        }
        %o = arith.truncf %acc : tensor<128x256xf32, #acc> to tensor<128x256xbf16, #acc>
        mk_sm.store %o, %c[%row, %column] through %out : tensor<128x256xbf16, #acc>, memref<?x?xbf16>, !mk_sm.staging<2>
        scf.yield
      }
    }
  }
}
