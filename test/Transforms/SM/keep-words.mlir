// RUN: mk-opt %s -mk-sm-keep-words -verify-diagnostics --remarks=keep-words -o %t && FileCheck %s --input-file=%t
// RUN: mk-opt %t -mk-sm-keep-words | diff - %t

// Loops that load beside products; not those that do one of the two.
mk.mesh @mesh (gpu = 1 via link)
!x = tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
!acc = tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
!w = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !w>
!slot = !mk_sm.slot<!w>
!staged = !mk_sm.staged<!w>

// CHECK-LABEL: mk.kernel @loads
// CHECK: mk_sm.partition consumer
// CHECK: scf.for
// CHECK-NEXT: mk_sm.keep_words
// CHECK-NEXT: %{{.*}} = mk_sm.wait
// CHECK: scf.for
// CHECK-NEXT: %{{.*}} = mk_sm.wait
// CHECK: scf.for
// CHECK-NEXT: %{{.*}} = memref.load
// CHECK-NOT: mk_sm.keep_words
mk.kernel @loads on @mesh dims(uniform M) (in %n : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<1.0> : !x
  %zero = arith.constant dense<0.0> : !acc
  mk.role @work ctas(2) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(232) {
      // expected-remark @+1 {{mk-sm-keep-words: passed: keeps in registers what addresses of buffers are computed from (in role 'work')}}
      scf.for %i = %c0 to %M step %c1 {
        %slot = mk_sm.wait %ring : !ring -> !slot
        %w = mk_sm.tile %slot[0] : !slot -> !staged
        %p = mk_sm.mma %a, %w, %zero : !x, !staged, !acc
        %d = mk_sm.mma_wait 0, %p : !acc
        mk_sm.release %ring : !ring
        %y = memref.load %n[%i] : memref<?xf32>
        memref.store %y, %c[%i] : memref<?xf32>
      }
      scf.for %i = %c0 to %M step %c1 {
        %slot = mk_sm.wait %ring : !ring -> !slot
        %w = mk_sm.tile %slot[0] : !slot -> !staged
        %p = mk_sm.mma %a, %w, %zero : !x, !staged, !acc
        %d = mk_sm.mma_wait 0, %p : !acc
        mk_sm.release %ring : !ring
      }
      scf.for %i = %c0 to %M step %c1 {
        %y = memref.load %n[%i] : memref<?xf32>
        memref.store %y, %c[%i] : memref<?xf32>
      }
    }
  }
}
