// RUN: mk-opt %s -mk-sm-lay-out-shared=map -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: FileCheck %s --input-file=%t.mlir
// What is laid out stays as it is.
// RUN: sed 's/exchange = 49152/exchange = 49280/' %t.mlir | mk-opt -mk-sm-lay-out-shared | FileCheck %s --check-prefix=KEPT
// Room for records of times is made where there is none.
// RUN: mk-opt %t.mlir -mk-sm-lay-out-shared=variant=tensor-maps | FileCheck %s --check-prefix=MAPS
// RUN: mk-opt %t.mlir -mk-sm-lay-out-shared=timeline | FileCheck %s --check-prefix=TIMELINE

// Tiles of both roles begin at 0; what is behind the larger ones is apart.
//      MAP: kernel 'roles': 82536 of 232448 bytes of shared memory
// MAP-NEXT:  offset   bytes  align  what
// MAP-NEXT:       0   49152   1024  role 'products': ring 0 slots 3 x 16384
// MAP-NEXT:       0   49152    128  role 'puts': put_slots 3 x 16384
// MAP-NEXT:   49152   32768   1024  role 'products': staging buffers 4 x 8192
// MAP-NEXT:   49152   16384    128  role 'puts': exchange 1 x 16384
// MAP-NEXT:   81920      24      8  role 'products': ring 0 full 3 x 8
// MAP-NEXT:   81944      24      8  role 'products': ring 0 empty 3 x 8
// MAP-NEXT:   81968       8      8  role 'products': ring 0 handover 1 x 8
// MAP-NEXT:   81976      16      8  role 'products': mailbox 0 full 2 x 8
// MAP-NEXT:   81992      16      8  role 'products': mailbox 0 empty 2 x 8
// MAP-NEXT:   82008       8      8  role 'products': mailbox 0 handover 1 x 8
// MAP-NEXT:   82016      48      8  role 'products': mailbox 0 slots 2 x 24
// MAP-NEXT:   82064      24      8  role 'puts': put_barriers 3 x 8
// MAP-NEXT:   82096       8     16  result 1 x 8
// MAP-NEXT:   82104       8      8  failed 1 x 8
// MAP-NEXT:   82112     416     16  requests 4 x 104
// MAP-NEXT:   82528       8      8  posted 1 x 8

// CHECK: mk_sm.create_ring {mk_sm.shared = {empty = 81944 : i64, full = 81920 : i64, handover = 81968 : i64, slots = 0 : i64}}
// CHECK: mk_sm.create_mailbox {mk_sm.shared = {empty = 81992 : i64, full = 81976 : i64, handover = 82008 : i64, slots = 82016 : i64}}
// CHECK: mk_sm.create_staging {mk_sm.shared = {buffers = 49152 : i64}}
// CHECK: mk.role @puts ctas(4) attributes {mk_sm.shared = {exchange = 49152 : i64, put_barriers = 82064 : i64, put_slots = 0 : i64}}
// CHECK: mk_sm.shared_memory 82536 copiers {mk_sm.shared = {failed = 82104 : i64, posted = 82528 : i64, requests = 82112 : i64, result = 82096 : i64}}

// KEPT: mk.role @puts {{.*}}exchange = 49280 : i64

// TIMELINE: mk_sm.shared_memory {{[0-9]+}} copiers tracks(288)

// Where the copy engine brings all tiles there are no requests.
// MAPS: mk_sm.shared_memory 82112 {mk_sm.shared = {failed = 82104 : i64, result = 82096 : i64}}

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
