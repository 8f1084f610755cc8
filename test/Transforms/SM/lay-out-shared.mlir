// RUN: mk-opt %s -mk-sm-lay-out-shared=map -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: FileCheck %s --input-file=%t.mlir
// What is laid out stays as it is.
// RUN: sed 's/buffers = 49152/buffers = 50176/' %t.mlir | mk-opt -mk-sm-lay-out-shared | FileCheck %s --check-prefix=KEPT
// Room for records of times is made where there is none.
// RUN: mk-opt %t.mlir -mk-sm-lay-out-shared=variant=tensor-maps | FileCheck %s --check-prefix=MAPS
// RUN: mk-opt %t.mlir -mk-sm-lay-out-shared=timeline | FileCheck %s --check-prefix=TIMELINE

// Tiles of both roles begin at 0; what is behind the larger ones is apart.
//      MAP: kernel 'roles': 115416 of 232448 bytes of shared memory
// MAP-NEXT:  offset   bytes  align  what
// MAP-NEXT:       0   49152   1024  role 'products': ring 0 slots 3 x 16384
// MAP-NEXT:       0   98304    128  role 'puts': put_slots 6 x 16384
// MAP-NEXT:   49152   32768   1024  role 'products': staging buffers 4 x 8192
// MAP-NEXT:   98304   16384    128  role 'puts': exchange 1 x 16384
// MAP-NEXT:   114688      24      8  role 'products': ring 0 full 3 x 8
// MAP-NEXT:   114712      24      8  role 'products': ring 0 empty 3 x 8
// MAP-NEXT:   114736       8      8  role 'products': ring 0 handover 1 x 8
// MAP-NEXT:   114744      16      8  role 'products': mailbox 0 full 2 x 8
// MAP-NEXT:   114760      16      8  role 'products': mailbox 0 empty 2 x 8
// MAP-NEXT:   114776       8      8  role 'products': mailbox 0 handover 1 x 8
// MAP-NEXT:   114784      48      8  role 'products': mailbox 0 slots 2 x 24
// MAP-NEXT:   114832      48      8  role 'puts': put_barriers 6 x 8
// MAP-NEXT:   114880       8     16  result 1 x 8
// MAP-NEXT:   114888       8      8  failed 1 x 8
// MAP-NEXT:   114896     512     16  requests 4 x 128
// MAP-NEXT:   115408       8      8  posted 1 x 8

// CHECK: mk_sm.create_ring offsets(empty = 114712, full = 114688, handover = 114736, slots = 0)
// CHECK: mk_sm.create_mailbox offsets(empty = 114760, full = 114744, handover = 114776, slots = 114784)
// CHECK: mk_sm.create_staging offsets(buffers = 49152)
// CHECK: mk.role @puts ctas(4) {
// CHECK-NEXT: mk_sm.create_scratch offsets(exchange = 98304, put_barriers = 114832, put_slots = 0)
// CHECK: mk_sm.shared_memory 115416 copiers offsets(failed = 114888, posted = 115408, requests = 114896, result = 114880)

// KEPT: mk_sm.create_staging offsets(buffers = 50176)

// TIMELINE: mk_sm.shared_memory {{[0-9]+}} copiers tracks(288)

// Where the copy engine brings all tiles there are no requests.
// MAPS: mk_sm.shared_memory 114896 offsets(failed = 114888, result = 114880)

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
