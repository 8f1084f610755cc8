// RUN: mk-opt %s -mk-sm-split-roles '--remarks=split-roles: (passed|missed)' -split-input-file -verify-diagnostics | FileCheck %s

// Numbers of rows, anew for each step of a dot, come with its tiles.
// CHECK-LABEL: mk.role @scaled
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>>
// CHECK: mk_sm.partition producer
// CHECK: mk_sm.acquire
// CHECK: mk_sm.copy %s[{{.*}}] to %{{.*}}[2]
// CHECK: mk_sm.copy %x[{{.*}}] to %{{.*}}[0]
// CHECK: mk_sm.copy %u[{{.*}}] to %{{.*}}[1]
// CHECK-NEXT: mk_sm.commit
// CHECK: mk_sm.partition consumer
// CHECK: %[[SLOT:.*]] = mk_sm.wait
// CHECK: %[[T:.*]] = mk_sm.tile %[[SLOT]][2]
// CHECK-NEXT: mk_sm.read %[[T]] : !mk_sm.staged<tensor<64xf32>> -> tensor<64xf32, #{{.*}}>
// CHECK: mk_sm.release
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @scaled on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @scaled ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 3 tiles in a slot}}
      %n = mk.load %s[%k, %c0] : memref<?x?xf32> -> tensor<64xf32>
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %f = mk.broadcast %n dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %q = arith.mulf %p, %f : tensor<64x64xf32>
      %h = arith.addf %g0, %q : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Rows of 258 begin at no multiples of 16 bytes: none of their pieces comes at once.
// CHECK-LABEL: mk.role @odd
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: mk_sm.partition consumer
// CHECK: mk.load %s
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @odd on @mesh dims(uniform K = 258) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @odd ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      %n = mk.load %s[%k, %c0] : memref<?x?xf32> -> tensor<64xf32>
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %f = mk.broadcast %n dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %q = arith.mulf %p, %f : tensor<64x64xf32>
      %h = arith.addf %g0, %q : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// What stands between them does not matter where loads can be moved.
// CHECK-LABEL: mk.role @moved
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>>
// CHECK: mk_sm.copy %x[%c0, %[[K:.*]]] to
// CHECK: mk_sm.copy %u[%c0, %[[K]]] to
// CHECK: %[[ROW:.*]] = arith.addi %[[K]], %c64
// CHECK: mk_sm.copy %s[%[[ROW]], %c0] to
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @moved on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @moved ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 3 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %row = arith.addi %k, %c64 : index
      %n = mk.load %s[%row, %c0] : memref<?x?xf32> -> tensor<64xf32>
      %f = mk.broadcast %n dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %q = arith.mulf %p, %f : tensor<64x64xf32>
      %h = arith.addf %g0, %q : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Others see what stands between them.
// CHECK-LABEL: mk.role @apart
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: mk_sm.partition consumer
// CHECK: mk.load %s
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @apart on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @apart ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      mk.store %p, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
      // expected-remark @+1 {{mk-sm-split-roles: missed: is loaded by those who use it, since it would take too much room beside tiles of a dot, or a use of a tile, or an op that others see, stands between it and these: load it beside them}}
      %n = mk.load %s[%k, %c0] : memref<?x?xf32> -> tensor<64xf32>
      %f = mk.broadcast %n dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %q = arith.mulf %p, %f : tensor<64x64xf32>
      %h = arith.addf %g0, %q : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Two tiles of two dimensions that threads read, one of them out of what a dot takes; they are together what the dot waits for.
// CHECK-LABEL: mk.role @worked
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: mk_sm.partition producer
// CHECK: mk_sm.acquire
// CHECK-NEXT: mk_sm.copy %r[
// CHECK-NEXT: mk_sm.copy %x[
// CHECK-NEXT: mk_sm.copy %u[
// CHECK-NEXT: mk_sm.commit
// CHECK: mk_sm.partition consumer
// CHECK: %[[SLOT:.*]] = mk_sm.wait
// CHECK: %[[R:.*]] = mk_sm.tile %[[SLOT]][0]
// CHECK: mk_sm.read %[[R]]
// CHECK: %[[X:.*]] = mk_sm.tile %[[SLOT]][1]
// CHECK: mk_sm.tile %[[SLOT]][2]
// CHECK: %[[SAME:.*]] = mk_sm.tile %[[SLOT]][1]
// CHECK: mk_sm.read %[[SAME]]
// CHECK: mk_sm.mma %{{.*}}, %{{.*}}, %{{.*}} transpose_b : tensor
// CHECK: mk_sm.mma %[[X]],
// CHECK: mk_sm.release %{{.*}} read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @worked on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %r : memref<?x?xbf16> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @worked ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 3 tiles in a slot}}
      %l = mk.load %r[%c0, %k] staged : memref<?x?xbf16> -> tensor<64x64xbf16>
      %m = arith.addf %l, %l : tensor<64x64xbf16>
      %a = mk.load %x[%c0, %k] staged : memref<?x?xbf16> -> tensor<64x64xbf16>
      %w = arith.addf %a, %m : tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %w, %b, %g0 transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %q = mk.dot %a, %b, %p transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %q : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Behind the first of several dots a tile stays where it is loaded: in front of them it would take registers beside their sums. It
// takes a slot when these have given theirs back.
// CHECK-LABEL: mk.role @behind
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: mk_sm.partition consumer
// CHECK: mk_sm.mma %
// CHECK: mk_sm.mma %
// CHECK: mk_sm.release
// CHECK: mk_sm.wait
// CHECK: mk_sm.read
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @behind on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @behind ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 2 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %q = mk.dot %b, %a, %p transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      // expected-remark @+1 {{mk-sm-split-roles: passed: comes through ring 0, in 1 slots}}
      %n = mk.load %s[%c0, %k] staged : memref<?x?xf32> -> tensor<64x64xf32>
      %m = arith.mulf %q, %n : tensor<64x64xf32>
      %h = arith.addf %g0, %m : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}

// -----

// Two dots have slots of their own: the numbers come in one of them.
// CHECK-LABEL: mk.role @two
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xf32>>
// CHECK: create_ring : !mk_sm.ring<?, tensor<64x64xbf16>, tensor<64x64xbf16>>
// CHECK: mk_sm.copy %s[
// CHECK-NOT: mk_sm.copy %s[
// CHECK: mk_sm.partition consumer
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @two on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %u : memref<?x?xbf16> [K, K], in %s : memref<?x?xf32> [K, K], out %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @two ctas(1) {
    %g = scf.for %k = %c0 to %K step %c64 iter_args(%g0 = %zero) -> (tensor<64x64xf32>) {
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 0, 3 tiles in a slot}}
      %a = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = mk.load %u[%c0, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      // expected-remark @+1 {{mk-sm-split-roles: passed: is staged: ring 1, 2 tiles in a slot}}
      %d = mk.load %x[%c64, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %e = mk.load %u[%c64, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
      %n = mk.load %s[%k, %c0] : memref<?x?xf32> -> tensor<64xf32>
      %p = mk.dot %a, %b, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %q = mk.dot %d, %e, %p transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      %f = mk.broadcast %n dims [1] : tensor<64xf32> -> tensor<64x64xf32>
      %r = arith.mulf %q, %f : tensor<64x64xf32>
      %h = arith.addf %g0, %r : tensor<64x64xf32>
      scf.yield %h : tensor<64x64xf32>
    }
    mk.store %g, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  }
}
