// RUN: mk-opt %s -split-input-file -mk-sm-advance-loads -canonicalize | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-sm-advance-loads --remarks=advance-loads -verify-diagnostics -o %t

// Behind the start of a dot comes what the next iteration takes; the last one loads its own again.
// What is computed of it goes behind the dot, too.

// CHECK-LABEL: mk.kernel @scaled
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %M, %c0
// CHECK: %[[FIRST:.*]]:2 = scf.if %[[SOME]]
// CHECK-NEXT: mk.load %a[%c0, %c0]
// CHECK-NEXT: memref.load %n[%c0]
// CHECK: scf.for %[[J:.*]] = %c0 to %M step %c1 iter_args(%[[O:.*]] = %{{.*}}, %[[S:.*]] = %[[FIRST]]#0, %[[N:.*]] = %[[FIRST]]#1)
// CHECK-NEXT: mk_sm.wait
// CHECK: mk_sm.mma
// CHECK: %[[J1:.*]] = arith.addi %[[J]], %c1
// CHECK: %[[LAST:.*]] = arith.subi %M, %c1
// CHECK: %[[NEXT:.*]] = arith.minsi %[[J1]], %[[LAST]]
// CHECK: %[[S1:.*]] = mk.load %a[%[[NEXT]], %c0]
// CHECK: %[[N1:.*]] = memref.load %n[%[[NEXT]]]
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[N]]
// CHECK: arith.mulf %[[S]], %[[SPLAT]]
// CHECK: mk_sm.mma_wait 0
// CHECK: scf.yield %{{.*}}, %[[S1]], %[[N1]]

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @scaled on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      // expected-remark @+1 {{mk-sm-advance-loads: passed: loads 2 values ahead; iterations: 1}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %t = mk.load %a[%j, %c0] : memref<?x64xf32> -> !row
        %number = memref.load %n[%j] : memref<?xf32>
        %ns = tensor.splat %number : !row
        %u = arith.mulf %t, %ns : !row
        %scales = mk.broadcast %u dims [1] : !row -> !f
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p, %scales : !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// What others write, what follows from what the loop carries, and what a dot hides anyway stay in
// their place.

// CHECK-LABEL: mk.kernel @stay
// CHECK: scf.for %[[J:.*]] = %c0 to %M step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0)
// CHECK-NEXT: mk.load %y[%[[J]]]
// CHECK-NEXT: memref.load %n
// CHECK: mk_sm.mma %
// CHECK-NEXT: memref.load %n[%[[J]]]

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @stay on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M], out %y : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %at = %c0) -> (!f, index) {
        // expected-remark @+1 {{mk-sm-advance-loads: missed: is waited for where it is used: its buffer may be written meanwhile; load it in front of the loop}}
        %t = mk.load %y[%j] : memref<?xf32> -> !row
        // expected-remark @+1 {{mk-sm-advance-loads: missed: is waited for where it is used: its place does not follow from the iteration alone; compute it from that}}
        %number = memref.load %n[%at] : memref<?xf32>
        %ns = tensor.splat %number : !row
        %u = arith.mulf %t, %ns : !row
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %other = memref.load %n[%j] : memref<?xf32>
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %os = tensor.splat %other : !row
        %v = arith.mulf %u, %os : !row
        %scales = mk.broadcast %v dims [1] : !row -> !f
        %x = arith.mulf %p, %scales : !f
        %s = arith.addf %o, %x : !f
        %other_ = arith.fptosi %other : f32 to i32
        %next = arith.index_cast %other_ : i32 to index
        scf.yield %s, %next : !f, index
      }
    }
  }
}

// -----

// CHECK-LABEL: mk.kernel @large
// CHECK: scf.for
// CHECK-NEXT: mk.load

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @large on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        // expected-remark @+1 {{mk-sm-advance-loads: missed: is waited for where it is used: with other loads it takes too many registers to be carried; load it in front of the loop, or let fewer rows be a tile}}
        %t = mk.load %a[%j, %c0] : memref<?x64xf32> -> !f
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p, %t : !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// Scalars alone are loaded for the iteration after the next: they take few registers. What a slot
// has beside the operands is read behind the start of the dot.

// CHECK-LABEL: mk.kernel @scalars
// CHECK: memref.load %n[%c0]
// CHECK: %[[SECOND:.*]] = arith.minsi %{{.*}}, %c1
// CHECK: memref.load %n[%[[SECOND]]]
// CHECK: scf.for %[[J:.*]] = %c0 to %M step %c1 iter_args(%{{.*}} = %{{.*}}, %[[N:.*]] = %{{.*}}, %[[N1:.*]] = %{{.*}})
// CHECK: %[[L:.*]] = mk_sm.tile %{{.*}}[1]
// CHECK-NEXT: mk_sm.mma_fence
// CHECK-NEXT: mk_sm.mma
// CHECK-NEXT: %[[T:.*]] = mk_sm.read %[[L]]
// CHECK: %[[J2:.*]] = arith.addi %[[J]], %c2
// CHECK: %[[AT:.*]] = arith.minsi %[[J2]]
// CHECK: %[[N2:.*]] = memref.load %n[%[[AT]]]
// CHECK: tensor.splat %[[N]]
// CHECK: scf.yield %{{.*}}, %[[N1]], %[[N2]]

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!list = tensor<64xf32>
!ring = !mk_sm.ring<2, !tile, !list>
!slot = !mk_sm.slot<!tile, !list>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @scalars on @mesh dims(uniform M) (in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      // expected-remark @+1 {{mk-sm-advance-loads: passed: loads 1 values ahead; iterations: 2}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %l = mk_sm.tile %ka[1] : !slot -> !mk_sm.staged<!list>
        %t = mk_sm.read %l : !mk_sm.staged<!list> -> !row
        %number = memref.load %n[%j] : memref<?xf32>
        %ns = tensor.splat %number : !row
        %u = arith.mulf %t, %ns : !row
        %scales = mk.broadcast %u dims [1] : !row -> !f
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %p = mk_sm.mma_wait 0, %p0 : !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p, %scales : !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// What is read in front of several dots stays there.

// CHECK-LABEL: mk.kernel @several
// CHECK: scf.for
// CHECK: mk_sm.read
// CHECK: mk_sm.mma %

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!list = tensor<64xf32>
!ring = !mk_sm.ring<2, !tile, !list>
!slot = !mk_sm.slot<!tile, !list>
!staged = !mk_sm.staged<!tile>
!f = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
mk.kernel @several on @mesh dims(uniform M) (in %n : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !staged
        %l = mk_sm.tile %ka[1] : !slot -> !mk_sm.staged<!list>
        // expected-remark @+1 {{mk-sm-advance-loads: missed: holds up several dots, which are behind it: only one dot goes in front of what is read; use a loop for each}}
        %t = mk_sm.read %l : !mk_sm.staged<!list> -> !row
        %scales = mk.broadcast %t dims [1] : !row -> !f
        mk_sm.mma_fence none
        %p0 = mk_sm.mma %K, %K, %zero transpose_b : !staged, !staged, !f
        %q0 = mk_sm.mma %K, %K, %zero : !staged, !staged, !f
        %p:2 = mk_sm.mma_wait 0, %p0, %q0 : !f, !f
        mk_sm.release %ks : !ring
        %x = arith.mulf %p#0, %scales : !f
        %y = arith.mulf %p#1, %x : !f
        %s = arith.addf %o, %y : !f
        scf.yield %s : !f
      }
    }
  }
}

// -----

// Without products registers are for loads of several iterations, also of what others have written: in the loop nobody waits for
// them. Where somebody does nothing is loaded ahead.

// CHECK-LABEL: mk.kernel @alone
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %M, %c0
// CHECK: %[[A:.*]] = scf.if %[[RUNS]]
// CHECK-NEXT: mk.load %a[%c0
// CHECK: %[[B:.*]] = scf.if %[[RUNS]]
// CHECK-NEXT: mk.load %a
// CHECK: %[[C:.*]] = scf.if %[[RUNS]]
// CHECK-NEXT: mk.load %a
// A turn takes each of them once; what is left of the iterations, one after the other.
// CHECK: %[[TURNS:.*]]:4 = scf.for %[[J:.*]] = %c0 to %{{.*}} step %c3 iter_args(%[[SUM:.*]] = %{{.*}}, %[[X0:.*]] = %[[A]], %[[X1:.*]] = %[[B]], %[[X2:.*]] = %[[C]])
// CHECK: %[[S0:.*]] = arith.addf %[[SUM]], %[[X0]]
// CHECK: %[[LATER:.*]] = arith.addi %[[J]], %c3
// CHECK: %[[EXISTS:.*]] = arith.minsi %[[LATER]]
// CHECK: %[[N0:.*]] = mk.load %a[%[[EXISTS]]
// CHECK: %[[S1:.*]] = arith.addf %[[S0]], %[[X1]]
// CHECK: %[[N1:.*]] = mk.load %a
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[X2]]
// CHECK: %[[N2:.*]] = mk.load %a
// CHECK: scf.yield %[[S2]], %[[N0]], %[[N1]], %[[N2]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[TURNS]]#0, %{{.*}} = %[[TURNS]]#1,
// CHECK: scf.for
// CHECK-NEXT: mk.wait
// CHECK-NEXT: mk.load %a
// CHECK-NEXT: arith.addf
// CHECK-NEXT: scf.yield
mk.mesh @mesh (gpu = 1 via link)
#dealt = #mk_sm.blocked<threads = 128, vector = 4>
!f = tensor<40x64xf32, #dealt>
!there = !mk.signal<1, gpu, arrivals = 1>
mk.kernel @alone on @mesh dims(uniform M) (inout %a : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %there = mk.signals() : !there
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      // expected-remark @+1 {{mk-sm-advance-loads: passed: loads 1 values ahead; iterations: 3}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!f) {
        %x = mk.load %a[%j, %c0] : memref<?x64xf32> -> !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
      %q = scf.for %j = %c0 to %M step %c1 iter_args(%o = %r) -> (!f) {
        mk.wait %there[%c0] ge %c1 : !there
        %x = mk.load %a[%j, %c0] : memref<?x64xf32> -> !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
      mk.store %q, %a[%c0, %c0] : !f, memref<?x64xf32>
    }
  }
}

// -----

// Loops that count otherwise, and tiles for which there are no registers.

// CHECK-LABEL: mk.kernel @words
// CHECK: scf.for {{.*}} : i32 {
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: mk.load %a
// CHECK: scf.for
// CHECK-NEXT: mk.load %a
mk.mesh @mesh (gpu = 1 via link)
#dealt = #mk_sm.blocked<threads = 128, vector = 4>
!f = tensor<40x64xf32, #dealt>
!large = tensor<128x64xf32, #dealt>
mk.kernel @words on @mesh dims(uniform M) (inout %a : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w0 = arith.constant 0 : i32
  %w1 = arith.constant 1 : i32
  %end = arith.index_cast %M : index to i32
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f
      %none = arith.constant dense<0.0> : !large
      %r = scf.for %j = %w0 to %end step %w1 iter_args(%o = %zero) -> (!f) : i32 {
        %at = arith.index_cast %j : i32 to index
        %x = mk.load %a[%at, %c0] : memref<?x64xf32> -> !f
        %s = arith.addf %o, %x : !f
        scf.yield %s : !f
      }
      mk.store %r, %a[%c0, %c0] : !f, memref<?x64xf32>
      %q = scf.for %j = %c0 to %M step %c1 iter_args(%o = %none) -> (!large) {
        // expected-remark @+1 {{mk-sm-advance-loads: missed: is waited for where it is used: with other loads it takes too many registers to be carried; load it in front of the loop, or let fewer rows be a tile}}
        %x = mk.load %a[%j, %c0] : memref<?x64xf32> -> !large
        %s = arith.addf %o, %x : !large
        scf.yield %s : !large
      }
      mk.store %q, %a[%c0, %c0] : !large, memref<?x64xf32>
    }
  }
}

// -----

// In a role with products, beside a product's sums: registers that these leave.

// CHECK-LABEL: mk.kernel @behind_products
// CHECK: mk_sm.mma
// CHECK: scf.if
// CHECK: mk.load %a
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NEXT:.*]] = %{{.*}}
// CHECK: arith.addf %{{.*}}, %[[NEXT]]
// CHECK: mk.load %a
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c0 to %M step %c1 iter_args(%{{.*}} = %{{[a-z_0-9]+}}) -> (tensor<64x64xf32
// CHECK-NEXT: mk.load %a
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x192xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64x192xbf16>>
!acc = tensor<64x192xf32, #acc>
!few = tensor<8x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>
!many = tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>
mk.kernel @behind_products on @mesh dims(uniform M) (in %a : memref<?x64xf32> [M, 64], out %f : memref<?x64xf32> [M, 64],
    out %g : memref<?x64xf32> [M, 64], out %c : memref<64x192xf32> [64, 192]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(200) {
      %zero = arith.constant dense<0.0> : !acc
      %none = arith.constant dense<0.0> : !few
      %empty = arith.constant dense<0.0> : !many
      %slot = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
      %y = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64x192xbf16>>
      %next = mk_sm.mma %x, %y, %zero : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<64x192xbf16>>, !acc
      %done = mk_sm.mma_wait 0, %next : !acc
      mk_sm.release %ring : !ring
      // expected-remark @+1 {{mk-sm-advance-loads: passed: loads 1 values ahead; iterations: 4}}
      %few = scf.for %j = %c0 to %M step %c1 iter_args(%o = %none) -> (!few) {
        %t = mk.load %a[%j, %c0] : memref<?x64xf32> -> !few
        %s = arith.addf %o, %t : !few
        scf.yield %s : !few
      }
      mk.store %few, %f[%c0, %c0] : !few, memref<?x64xf32>
      %many = scf.for %j = %c0 to %M step %c1 iter_args(%o = %empty) -> (!many) {
        // expected-remark @+1 {{mk-sm-advance-loads: missed: is waited for where it is used: with other loads it takes too many registers to be carried; load it in front of the loop, or let fewer rows be a tile}}
        %t = mk.load %a[%j, %c0] : memref<?x64xf32> -> !many
        %s = arith.addf %o, %t : !many
        scf.yield %s : !many
      }
      mk.store %many, %g[%c0, %c0] : !many, memref<?x64xf32>
      mk.store %done, %c[%c0, %c0] : !acc, memref<64x192xf32>
    }
  }
}
