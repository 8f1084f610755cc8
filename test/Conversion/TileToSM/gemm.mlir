// RUN: mk-opt %s -pass-pipeline="builtin.module(mk-tile,mk-expand-loops,mk-expand-folds,mk-expand-ranks,canonicalize,cse,mk-sm-split-roles,mk-sm-choose-stores,canonicalize,cse,mk-sm-size-rings)" -o %t
// RUN: FileCheck %s < %t
// RUN: mk-opt %t | FileCheck %s

// A GEMM with tickets: the producer draws and sends items, and copies both tiles
// of a step into one slot.

// CHECK-LABEL: mk.role @gemm
// CHECK-NEXT: %[[RING:.*]] = mk_sm.create_ring : !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>
// CHECK-NEXT: %[[ITEMS:.*]] = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
// CHECK-NEXT: %[[OUT:.*]] = mk_sm.create_staging : !mk_sm.staging<2>
// CHECK-NEXT: mk_sm.partition producer warps(1) registers(40)
// CHECK: scf.while
// CHECK-NEXT: %[[T:.*]] = mk_sm.ticket loop(0)
// CHECK-NEXT: mk_sm.send %[[ITEMS]], %[[T]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[T]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[T]]
// CHECK: scf.for
// CHECK-NEXT: arith.muli
// CHECK-NEXT: %[[SLOT:.*]] = mk_sm.acquire %[[RING]]
// CHECK-NEXT: mk_sm.copy %a[{{.*}}] to %[[SLOT]][0]
// CHECK-NEXT: mk_sm.copy %b[{{.*}}] to %[[SLOT]][1]
// CHECK-NEXT: mk_sm.commit %[[RING]], %[[SLOT]]
// CHECK-NOT: tensor<{{.*}}#mk_sm
// CHECK: mk_sm.partition consumer warps(8) registers(232)
// CHECK: %[[R:.*]] = mk_sm.receive %[[ITEMS]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[R]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[R]]
// CHECK: %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>)
// CHECK-NEXT: %[[FULL:.*]] = mk_sm.wait %[[RING]]
// CHECK-NEXT: %[[X:.*]] = mk_sm.tile %[[FULL]][0]
// CHECK-NEXT: %[[Y:.*]] = mk_sm.tile %[[FULL]][1]
// CHECK-NEXT: %[[F:.*]] = mk_sm.mma_fence %[[SUM]]
// CHECK-NEXT: %[[D:.*]] = mk_sm.mma %[[X]], %[[Y]], %[[F]] transpose_b
// CHECK-NEXT: %[[N:.*]] = mk_sm.mma_wait 0, %[[D]]
// CHECK-NEXT: mk_sm.release %[[RING]]
// CHECK-NEXT: scf.yield %[[N]]
// CHECK: %[[O:.*]] = arith.truncf %[[ACC]]
// CHECK-NEXT: mk_sm.store %[[O]], %c[{{.*}}] through %[[OUT]]
// CHECK-NOT: mk.foreach
// CHECK-NOT: mk.fold

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @gemm on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K],
    in %b : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xbf16> [M, N]) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %row_tiles = arith.ceildivui %M, %c128 : index
  %column_tiles = arith.ceildivui %N, %c256 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) schedule(ticket) order(raster = 8) {
      %row = arith.muli %m, %c128 : index
      %column = arith.muli %n, %c256 : index
      %acc = mk.fold (%kt) in (%k_tiles) iter(%sum = %zero) combine(add) : tensor<128x256xf32> {
        %k = arith.muli %kt, %c64 : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
        %y = mk.load %b[%column, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
        %next = mk.dot %x, %y, %sum transpose_b
            : tensor<128x64xbf16>, tensor<256x64xbf16>, tensor<128x256xf32>
        mk.yield %next : tensor<128x256xf32>
      }
      %o = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xbf16>
      mk.store %o, %c[%row, %column] : tensor<128x256xbf16>, memref<?x?xbf16>
    }
  }
}
