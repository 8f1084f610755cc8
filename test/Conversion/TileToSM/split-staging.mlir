// RUN: mk-opt %s -mk-sm-split-roles -canonicalize -cse -split-input-file | FileCheck %s

// Two products of one tile: three tiles in a slot, which is given back behind the
// second dot.
// CHECK-LABEL: mk.role @two
// CHECK: %[[RING:.*]] = mk_sm.create_ring : !mk_sm.ring<?, tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x64xbf16>>
// CHECK-NOT: create_ring
// CHECK: mk_sm.acquire
// CHECK-NEXT: mk_sm.copy %x
// CHECK-NEXT: mk_sm.copy %u
// CHECK-NEXT: mk_sm.copy %v
// CHECK-NEXT: mk_sm.commit
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.wait %[[RING]]
// CHECK: mk_sm.mma_wait
// CHECK-NOT: mk_sm.release
// CHECK: mk_sm.mma_wait
// CHECK-NEXT: mk_sm.release %[[RING]]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %v : memref<?x?xbf16> [K, K],
    out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @two ctas(1) {
    %g, %h = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero, %h0 = %zero)
        -> (tensor<128x128xf32>, tensor<128x128xf32>) {
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %b1 = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %b2 = mk.load %v[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %g1 = mk.dot %a, %b1, %g0 transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
      %h1 = mk.dot %a, %b2, %h0 transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
      scf.yield %g1, %h1 : tensor<128x128xf32>, tensor<128x128xf32>
    }
    %p = arith.mulf %g, %h : tensor<128x128xf32>
    mk.store %p, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
  }
}

// -----

// Loops that follow each other share a ring if their tiles are the same; one that is
// read while the other is filled does not.
// CHECK-LABEL: mk.role @share
// CHECK: %[[A:.*]] = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: %[[B:.*]] = mk_sm.create_ring : !mk_sm.ring<?, tensor<64x64xbf16>>
// CHECK-NOT: create_ring
// CHECK: mk_sm.partition producer
// CHECK: scf.for
// CHECK: mk_sm.acquire %[[A]]
// CHECK: scf.for
// CHECK: mk_sm.acquire %[[A]]
// CHECK: mk_sm.acquire %[[B]]
// CHECK: mk_sm.partition consumer
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @share on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %v : memref<?x?xbf16> [K, K],
    out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @share ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g1 = mk.dot %a, %b, %g0 transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %g1 : tensor<64x64xf32>
    }
    %h = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %g) -> (tensor<64x64xf32>) {
      %a = mk.load %x[%k, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %d = mk.load %v[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %g1 = mk.dot %a, %b, %g0 transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %t = arith.truncf %g1 : tensor<64x64xf32> to tensor<64x64xbf16>
      %g2 = mk.dot %t, %d, %g1 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %g2 : tensor<64x64xf32>
    }
    mk.store %h, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// A tile that dots multiply and others use as well comes twice.
// CHECK-LABEL: mk.role @twice
// CHECK: mk_sm.copy %x
// CHECK: mk_sm.copy %u
// CHECK: mk_sm.partition consumer
// CHECK: mk.load %u{{.*}} -> tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh (
    in %x : memref<64x64xbf16> [64, 64], in %u : memref<64x64xbf16> [64, 64],
    out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @twice ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %b = mk.load %u[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %g = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %wide = arith.extf %b : tensor<64x64xbf16> to tensor<64x64xf32>
    %s = arith.addf %g, %wide : tensor<64x64xf32>
    mk.store %s, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

// Sums of fp8 products are carried on in f32 behind each dot.
// CHECK-LABEL: mk.role @fp8
// CHECK: mk_sm.partition consumer
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO:.*]]) ->
// CHECK: mk_sm.mma_fence none
// CHECK: %[[P:.*]] = mk_sm.mma %{{.*}}, %{{.*}}, %[[ZERO]] transpose_b
// CHECK: %[[D:.*]] = mk_sm.mma_wait 0, %[[P]]
// CHECK: %[[N:.*]] = arith.addf %[[SUM]], %[[D]]
// CHECK: scf.yield %[[N]]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fp8 on @mesh dims(uniform K) (
    in %x : memref<128x?xf8E4M3FN> [128, K], in %u : memref<128x?xf8E5M2> [128, K],
    out %c : memref<128x128xbf16> [128, 128]) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @fp8 ctas(1) {
    %g = scf.for %k = %c0 to %K step %c128 iter_args(%g0 = %zero) -> (tensor<128x128xf32>) {
      %a = mk.load %x[%c0, %k] : memref<128x?xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
      %b = mk.load %u[%c0, %k] : memref<128x?xf8E5M2> -> tensor<128x128xf8E5M2>
      %g1 = mk.dot %a, %b, %g0 transpose_b : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E5M2>, tensor<128x128xf32>
      scf.yield %g1 : tensor<128x128xf32>
    }
    %t = arith.truncf %g : tensor<128x128xf32> to tensor<128x128xbf16>
    mk.store %t, %c[%c0, %c0] : tensor<128x128xbf16>, memref<128x128xbf16>
  }
}

// -----

// What is read must not be overwritten by the consumer before it has come.
// CHECK-LABEL: mk.role @inplace
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.wait
// CHECK: mk.store %{{.*}}, %x
// CHECK: mk_sm.mma
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @inplace on @mesh (
    inout %x : memref<64x64xbf16> [64, 64], out %c : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xbf16>
  mk.role @inplace ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    mk.store %none, %x[%c0, %c0] : tensor<64xbf16>, memref<64x64xbf16>
    %g = mk.dot %a, %a, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// -----

// Only the producer waits for the signal: the slot that it fills behind that holds back what the
// consumer reads itself, so it is waited for in front of that, and not at the dot.
// CHECK-LABEL: mk.role @guarded
// CHECK: mk_sm.partition producer
// CHECK: mk.wait
// CHECK: mk_sm.partition consumer
// CHECK-NOT: mk.wait
// CHECK: mk_sm.wait
// CHECK: mk.load %s
// CHECK: mk_sm.mma %
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @guard on @mesh dims(uniform K) (
    in %own : memref<?xf32, #mk.symmetric> [K],
    scratch %x : memref<?x?xbf16, #mk.symmetric> [K, K], scratch %s : memref<?xf32, #mk.symmetric> [K],
    in %w : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %ready = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @push ctas(1) {
    %p = mk.rank
    mk.put %own[%c0][%K] to %s[%c0] on %p signal %ready[%c0] : memref<?xf32, #mk.symmetric> to memref<?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
  }
  mk.role @guarded ctas(1) {
    mk.wait %ready[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<128x128xf32>) {
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16, #mk.symmetric> -> tensor<128x64xbf16>
      %b = mk.load %w[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
      %t = mk.load %s[%k] : memref<?xf32, #mk.symmetric> -> tensor<128xf32>
      %factors = mk.broadcast %t dims [1] : tensor<128xf32> -> tensor<128x128xf32>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16>, tensor<128x128xf32>
      %scaled = arith.mulf %p, %factors : tensor<128x128xf32>
      %g1 = arith.addf %g0, %scaled : tensor<128x128xf32>
      scf.yield %g1 : tensor<128x128xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
  }
}
