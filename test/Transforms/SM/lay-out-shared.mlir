// RUN: mk-opt %s -mk-sm-lay-out-shared=map -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: FileCheck %s --input-file=%t.mlir
// What is laid out stays as it is.
// RUN: sed 's/buffers = 49152/buffers = 57344/' %t.mlir | mk-opt -mk-sm-lay-out-shared | FileCheck %s --check-prefix=KEPT
// Room for records of times is made where there is none.
// RUN: mk-opt %t.mlir -mk-sm-lay-out-shared=timeline | FileCheck %s --check-prefix=TIMELINE

// Tiles of both roles begin at 0; what is behind the larger ones is apart.
//      MAP: kernel 'roles': 82784 of 232448 bytes of shared memory

// KEPT: mk_sm.create_staging {mk_sm.shared = {buffers = 57344 : i64}}

// TIMELINE: mk_sm.shared_memory {{[0-9]+}} tracks(288)

mk.mesh @mesh (gpu = 2 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#dealt = #mk_sm.blocked<threads = 128, vector = 4>
!ring = !mk_sm.ring<3, tensor<128x64xbf16>>
mk.kernel @roles on @mesh (inout %a : memref<128x64xbf16, #mk.symmetric> [128, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  mk.role @products ctas(8) {
    %ring = mk_sm.create_ring : !ring
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 3>
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition producer warps(1) registers(40) {}
    mk_sm.partition consumer warps(8) registers(232) teams(2) {}
  }
  mk.role @puts ctas(4) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %y = mk_sm.convert_layout %x : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #dealt>
      mk.put %a[%c0, %c0][%c64, %c64] to %a[%c0, %c0] on %c0
          : memref<128x64xbf16, #mk.symmetric> to memref<128x64xbf16, #mk.symmetric>
    }
  }
}
