// RUN: mk-opt %s -mk-sm-rematerialize-scalars --remarks=rematerialize -verify-diagnostics -o %t

// What a loop computes for itself, and what follows from memory, which stays in registers.

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>>

mk.kernel @producer on @mesh dims(uniform M, uniform K) (in %a : memref<?x?xbf16> [M, K], in %n : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %items = arith.ceildivui %M, %c64 : index
  %steps = arith.ceildivui %K, %c64 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %word = memref.load %n[%c0] : memref<?xi32>
      %first = arith.index_cast %word : i32 to index
      // expected-remark @+2 {{mk-sm-rematerialize-scalars: passed: computes 1 scalars anew in each iteration}}
      // expected-remark @+1 {{mk-sm-rematerialize-scalars: missed: keeps 1 scalars in registers from one iteration to the next: they follow from more than dimensions; read them inside of the loop}}
      mk_sm.items (%item) round(%round) of %items {
        %row = arith.addi %item, %first : index
        scf.for %k = %c0 to %steps step %c1 {
          %s = mk_sm.acquire %ring : !ring -> !slot
          mk_sm.copy %a[%row, %K] to %s[0] : memref<?x?xbf16>, !slot
          mk_sm.commit %ring, %s : !ring, !slot
        }
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      mk_sm.items (%item) round(%round) of %items {
        scf.for %k = %c0 to %steps step %c1 {
          %s = mk_sm.wait %ring : !ring -> !slot
          mk_sm.release %ring : !ring
        }
      }
    }
  }
}
