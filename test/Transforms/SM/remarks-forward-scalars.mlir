// RUN: mk-opt %s -split-input-file -mk-sm-forward-scalars --remarks=forward-scalars -verify-diagnostics -o %t

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @k on @mesh dims(uniform M, uniform G) (
    in %ends : memref<?xi32> [G], scratch %seen : memref<?xi32> [G], out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %tile = arith.constant dense<1.0> : tensor<64x64xbf16>
  mk.role @r ctas(rest) {
    // expected-remark @+1 {{mk-sm-forward-scalars: passed: lets the producer search alone, which then sends 1 scalars of each item}}
    mk_sm.items (%i) round(%n) of %M {
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
    // expected-remark @+1 {{mk-sm-forward-scalars: missed: has teams, each of which searches for its items: what is sent goes to all threads of a consumer}}
    mk_sm.items (%i) round(%n) of %M teams(2) {
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
    // What is written meanwhile is no search; what it starts from is not known ahead.
    // expected-remark @+1 {{mk-sm-forward-scalars: missed: searches in memory in both partitions: what is searched for must follow from the item and from what no kernel writes, and be of type index}}
    mk_sm.items (%i) round(%n) of %M {
      %from_ = memref.load %seen[%i] : memref<?xi32>
      %from = arith.index_cast %from_ : i32 to index
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %from) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
      memref.store %from_, %seen[%i] : memref<?xi32>
    }
    // What a loop carries besides is no item.
    %minus = arith.constant -1 : index
    // expected-remark @+1 {{mk-sm-forward-scalars: missed: searches in memory in both partitions: what is searched for}}
    %last:2 = scf.while (%arg = %minus, %carried = %c0) : (index, index) -> (index, index) {
      %t = mk_sm.ticket loop(0)
      %more = arith.cmpi slt, %t, %M : index
      scf.condition(%more) %t, %carried : index, index
    } do {
    ^bb0(%i: index, %from: index):
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %from) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %i] : tensor<64x64xbf16>, memref<?x?xbf16>
      scf.yield %minus, %g : index, index
    }
    // expected-remark @+1 {{mk-sm-forward-scalars: missed: searches in memory in both partitions: what is searched for}}
    mk_sm.items (%i) round(%n) of %M {
      %none = arith.constant 0 : i32
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %none) -> (i32) {
        %end_ = memref.load %ends[%i] : memref<?xi32>
        %end = arith.addi %at, %end_ : i32
        scf.yield %end : i32
      }
      memref.store %g, %seen[%i] : memref<?xi32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @many on @mesh dims(uniform M, uniform G) (in %ends : memref<?xi32> [G], out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %tile = arith.constant dense<1.0> : tensor<64x64xbf16>
  mk.role @r ctas(rest) {
    // expected-remark @+1 {{mk-sm-forward-scalars: missed: searches in memory in both partitions: more than 16 scalars of an item follow from it}}
    mk_sm.items (%i) round(%n) of %M {
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      %s01 = arith.addi %g, %i : index
      %s02 = arith.addi %s01, %i : index
      %s03 = arith.addi %s02, %i : index
      %s04 = arith.addi %s03, %i : index
      %s05 = arith.addi %s04, %i : index
      %s06 = arith.addi %s05, %i : index
      %s07 = arith.addi %s06, %i : index
      %s08 = arith.addi %s07, %i : index
      %s09 = arith.addi %s08, %i : index
      %s10 = arith.addi %s09, %i : index
      %s11 = arith.addi %s10, %i : index
      %s12 = arith.addi %s11, %i : index
      %s13 = arith.addi %s12, %i : index
      %s14 = arith.addi %s13, %i : index
      %s15 = arith.addi %s14, %i : index
      %s16 = arith.addi %s15, %i : index
      %some = arith.cmpi sgt, %i, %c0 : index
      scf.if %some {
        mk.store %tile, %c[%g, %s01] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s02, %s03] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s04, %s05] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s06, %s07] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s08, %s09] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s10, %s11] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s12, %s13] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s14, %s15] : tensor<64x64xbf16>, memref<?x?xbf16>
        mk.store %tile, %c[%s16, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
      }
    }
  }
}
