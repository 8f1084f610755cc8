// RUN: mk-opt %s -mk-expand-loops -mk-sm-split-roles -o - | FileCheck %s
// RUN: mk-opt %s -mk-expand-loops -mk-sm-split-roles "--remarks=split-roles: passed" -o %t 2>&1 | grep "is waited" | FileCheck %s --check-prefix=REMARK
// RUN: mk-opt --target=sm_90a --tuning=none --emit=sm --gpus=2 --set TM=256,TN=192 %examples/gemm_rs.mlir "--remarks=split-roles: missed" -o %t.sm 2>&1 | FileCheck %s --check-prefix=TIGHT
// REMARK: 32:{{.*}} remark: mk-sm-split-roles: passed: is waited for by the producer, too, before it draws the next item
// REMARK-NOT: remark

// Where the consumer waits for others at the end of an item, the producer waits, too, before it draws the next one.

!t = tensor<64x64xf32>
mk.mesh @mesh (gpu = 2 via link)

mk.kernel @late on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], scratch %s : memref<?x?xf32, #mk.symmetric> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !t
  %sent = mk.signals(%c64) : !mk.signal<?, sys, arrivals = 1>

  // CHECK-LABEL: mk.role @drawn
  // CHECK: mk_sm.partition producer
  // CHECK: mk_sm.ticket
  // CHECK: mk_sm.commit
  // CHECK: mk.wait
  // CHECK: mk_sm.partition consumer
  // CHECK: mk.wait
  mk.role @drawn ctas(1) {
    mk.foreach (%i) in (%c64) schedule(ticket) {
      %a = mk.load %x[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, !t
      mk.wait %sent[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      %o = mk.load %s[%i, %c0] : memref<?x?xf32, #mk.symmetric> -> !t
      %r = arith.addf %g, %o : !t
      mk.store %r, %c[%i, %c0] : !t, memref<?x?xf32>
    }
  }

  // Without tickets each CTA has its items, whenever it gets to them.
  // CHECK-LABEL: mk.role @dealt
  // CHECK: mk_sm.partition producer
  // CHECK-NOT: mk.wait
  // CHECK: mk_sm.partition consumer
  // CHECK: mk.wait
  mk.role @dealt ctas(1) {
    mk.foreach (%i) in (%c64) {
      %a = mk.load %x[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, !t
      mk.wait %sent[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      %o = mk.load %s[%i, %c0] : memref<?x?xf32, #mk.symmetric> -> !t
      %r = arith.addf %g, %o : !t
      mk.store %r, %c[%i, %c0] : !t, memref<?x?xf32>
    }
  }

  // What is loaded behind the wait is loaded ahead of it.
  // CHECK-LABEL: mk.role @goes_on
  // CHECK: mk_sm.partition producer
  // CHECK: mk_sm.ticket
  // CHECK-NOT: mk.wait
  // CHECK: mk_sm.partition consumer
  mk.role @goes_on ctas(1) {
    mk.foreach (%i) in (%c64) schedule(ticket) {
      %a = mk.load %x[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, !t
      mk.wait %sent[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      %o = mk.load %s[%i, %c0] : memref<?x?xf32, #mk.symmetric> -> !t
      %e = mk.load %x[%i, %c64] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %f = mk.load %u[%i, %c64] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %h = mk.dot %e, %f, %g transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, !t
      %r = arith.addf %h, %o : !t
      mk.store %r, %c[%i, %c0] : !t, memref<?x?xf32>
    }
  }

  // A wait whose place depends on a tile is the consumer's alone.
  // CHECK-LABEL: mk.role @by_tile
  // CHECK: mk_sm.partition producer
  // CHECK: mk_sm.ticket
  // CHECK-NOT: mk.wait
  // CHECK: mk_sm.partition consumer
  mk.role @by_tile ctas(1) {
    mk.foreach (%i) in (%c64) schedule(ticket) {
      %a = mk.load %x[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%i, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, !t
      mk.store %g, %c[%i, %c0] : !t, memref<?x?xf32>
      %number = memref.load %c[%i, %c0] : memref<?x?xf32>
      %as_i = arith.fptosi %number : f32 to i32
      %place = arith.index_cast %as_i : i32 to index
      mk.wait %sent[%place] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      mk.store %g, %c[%place, %c0] : !t, memref<?x?xf32>
    }
  }
}

// Tiles of 256 x 192 take the registers that a producer needs to wait.
// TIGHT: remark: mk-sm-split-roles: missed: is loaded by those who use it, since the kernel's tiles leave the producer too few registers to wait for it: use smaller tiles
// TIGHT: remark: mk-sm-split-roles: missed: does not hold back the next item, which waits as well: the producer has too few registers to wait, since the kernel's tiles take them: use smaller tiles
