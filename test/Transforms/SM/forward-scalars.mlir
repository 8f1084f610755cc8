// RUN: mk-opt %s -mk-sm-forward-scalars -split-input-file | FileCheck %s
// RUN: mk-opt %s -mk-sm-forward-scalars -mk-sm-split-roles -canonicalize -split-input-file | FileCheck %s --check-prefix=SPLIT

// The producer searches; the consumer gets what stores and conditions need, and computes
// conditions and multiples itself. What only the place of a fetched tile needs is not sent.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @search
// SPLIT-LABEL: mk.kernel @search
mk.kernel @search on @mesh dims(uniform M, uniform G) (
    in %a : memref<?x64xbf16> [M, 64], in %w : memref<?x64x64xbf16> [G, 64, 64], in %ends : memref<?xi32> [G],
    out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(rest) {
    // SPLIT: %[[ITEMS:.*]] = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 2>
    // SPLIT: mk_sm.partition producer
    // SPLIT: %[[FOUND:.*]] = scf.for
    // SPLIT: %[[N:.*]] = memref.load
    // SPLIT: mk_sm.send %[[ITEMS]], %[[FOUND]], %{{.*}} : !mk_sm.mailbox<2, words = 2>
    // SPLIT: mk_sm.partition consumer
    // SPLIT-NOT: memref.load
    // SPLIT: %[[GOT:.*]]:2 = mk_sm.receive %[[ITEMS]]
    // SPLIT: %[[SOME:.*]] = arith.cmpi sgt, %[[GOT]]#1, %c0
    // SPLIT: %[[COLUMN:.*]] = arith.muli %[[GOT]]#0, %c64
    // SPLIT: scf.if %[[SOME]]
    // SPLIT: mk.store %{{.*}}[%{{.*}}, %[[COLUMN]]] valid(%[[GOT]]#1, %c64)
    mk_sm.items (%i) round(%n) of %M {
      // CHECK: mk_sm.items
      // CHECK: %[[G:.*]] = scf.for
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %c0) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        %next = arith.maxsi %end, %i : index
        scf.yield %next : index
      }
      // CHECK: memref.load %{{.*}}[%[[G]]]
      // CHECK-NEXT: %[[ROWS:.*]] = arith.index_cast
      %rows_ = memref.load %ends[%g] : memref<?xi32>
      %rows = arith.index_cast %rows_ : i32 to index
      %some = arith.cmpi sgt, %rows, %c0 : index
      // CHECK: %[[TWICE:.*]] = arith.muli %[[ROWS]], %[[ROWS]]
      %twice = arith.muli %rows, %rows : index
      %column = arith.muli %g, %c64 : index
      // CHECK: %[[SENT:.*]]:2 = mk_sm.forward %[[G]], %[[ROWS]]
      // CHECK-DAG: %[[SOME:.*]] = arith.cmpi sgt, %[[SENT]]#1
      // CHECK-DAG: %[[COLUMN:.*]] = arith.muli %[[SENT]]#0
      // CHECK: scf.if %[[SOME]]
      scf.if %some {
        // CHECK: mk.load %{{.*}}[%[[TWICE]],
        %x = mk.load %a[%twice, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
        %y = mk.load %w[%i, %c0, %c0] : memref<?x64x64xbf16> -> tensor<64x64xbf16>
        %d = mk.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        %t = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
        // CHECK: mk.store %{{.*}}[%{{.*}}, %[[COLUMN]]] valid(%[[SENT]]#1, %{{.*}})
        mk.store %t, %c[%i, %column] valid(%rows, %c64) : tensor<64x64xbf16>, memref<?x?xbf16>
      }
    }
  }
}

// -----

// Needed first is sent first: what acts in front of the second search gets what the first found.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @two_messages
mk.kernel @two_messages on @mesh dims(uniform M, uniform G) (
    in %a : memref<?x64xbf16> [M, 64], in %ends : memref<?xi32> [G], out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %tile = arith.constant dense<1.0> : tensor<64x64xbf16>
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      // CHECK: %[[A:.*]] = scf.for
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      // CHECK: %[[FIRST:.*]] = mk_sm.forward %[[A]]
      // CHECK-NEXT: mk.store %{{.*}}[%[[FIRST]],
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
      // CHECK: %[[B:.*]] = scf.for
      %h = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %g) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      // CHECK: %[[SECOND:.*]] = mk_sm.forward %[[B]]
      // CHECK-NEXT: mk.store %{{.*}}[%[[FIRST]], %[[SECOND]]]
      mk.store %tile, %c[%g, %h] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
  }
}

// -----

// An accumulator is loaded by threads: they get its place.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @accumulator
mk.kernel @accumulator on @mesh dims(uniform M, uniform G) (
    in %a : memref<?x64xbf16> [M, 64], in %d : memref<?x64xf32> [M, 64], in %ends : memref<?xi32> [G], out %c : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      // CHECK: %[[G:.*]] = scf.for
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      // CHECK: %[[SENT:.*]] = mk_sm.forward %[[G]]
      // CHECK-NEXT: mk.load %{{.*}}[%[[SENT]],
      %x = mk.load %a[%g, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      // CHECK-NEXT: mk.load %{{.*}}[%[[SENT]],
      %z = mk.load %d[%g, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      %y = mk.dot %x, %x, %z transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.store %y, %c[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    }
  }
}

// -----

// Of a loop in which nothing is fetched the producer has nothing, so the consumer searches.

mk.mesh @mesh (gpu = 1 via link)

// SPLIT-LABEL: mk.kernel @loop_without_fetches
// SPLIT-NOT: mailbox
// SPLIT: mk_sm.partition producer
// SPLIT: mk_sm.items
// SPLIT-NOT: mk_sm.items
// SPLIT: mk_sm.partition consumer
// SPLIT: mk_sm.items
// SPLIT: mk_sm.items
// SPLIT: %[[FOUND:.*]] = scf.for
// SPLIT: mk.store %{{.*}}[%[[FOUND]],
mk.kernel @loop_without_fetches on @mesh dims(uniform M, uniform G) (
    in %a : memref<?x64xbf16> [M, 64], in %ends : memref<?xi32> [G], out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %tile = arith.constant dense<1.0> : tensor<64x64xbf16>
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      %x = mk.load %a[%i, %c0] : memref<?x64xbf16> -> tensor<64x64xbf16>
      %d = mk.dot %x, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %t = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xbf16>
      mk.store %t, %c[%i, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
    mk_sm.items (%i) round(%n) of %M {
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
  }
}

// -----

// A role without a producer searches where it computes.

mk.mesh @mesh (gpu = 1 via link)

// SPLIT-LABEL: mk.kernel @no_producer
// SPLIT-NOT: mailbox
// SPLIT: mk_sm.partition consumer
// SPLIT: %[[FOUND:.*]] = scf.for
// SPLIT: mk.store %{{.*}}[%[[FOUND]],
mk.kernel @no_producer on @mesh dims(uniform M, uniform G) (in %ends : memref<?xi32> [G], out %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %tile = arith.constant dense<1.0> : tensor<64x64xbf16>
  mk.role @r ctas(rest) {
    mk_sm.items (%i) round(%n) of %M {
      %g = scf.for %s = %c0 to %c6 step %c1 iter_args(%at = %i) -> (index) {
        %end_ = memref.load %ends[%at] : memref<?xi32>
        %end = arith.index_cast %end_ : i32 to index
        scf.yield %end : index
      }
      mk.store %tile, %c[%g, %c0] : tensor<64x64xbf16>, memref<?x?xbf16>
    }
  }
}
