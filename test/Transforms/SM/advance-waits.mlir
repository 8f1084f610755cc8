// RUN: mk-opt %s -split-input-file -mk-sm-advance-waits --remarks=advance-waits -verify-diagnostics | FileCheck %s

// While the only dot of an iteration runs, its warps wait for the slots of the next one.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile, !tile>
!slot = !mk_sm.slot<!tile, !tile>
// CHECK-LABEL: mk.kernel @worked_on
mk.kernel @worked_on on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    // CHECK: %[[RING:.*]] = mk_sm.create_ring
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // CHECK: %[[SOME:.*]] = arith.cmpi slt, %c0, %[[M:.*]] : index
      // CHECK: %[[R:.*]] = scf.if %[[SOME]]
      // CHECK: %[[S:.*]] = mk_sm.wait %[[RING]]
      // CHECK: %[[X0:.*]] = mk_sm.tile %[[S]][0]
      // CHECK: %[[Y0:.*]] = mk_sm.tile %[[S]][1]
      // CHECK: %[[LAST:.*]] = arith.subi %[[M]], %{{.*}} : index
      // CHECK: %[[L:.*]]:3 = scf.for %{{.*}} = %c0 to %[[LAST]] step %c1 iter_args(%[[SUM:.*]] = %[[ZERO]], %[[X:.*]] = %[[X0]], %[[Y:.*]] = %[[Y0]])
      // CHECK: %[[D:.*]] = mk_sm.mma %[[X]], %[[Y]]
      // CHECK: %[[T:.*]] = mk_sm.wait %[[RING]]
      // CHECK: %[[X1:.*]] = mk_sm.tile %[[T]][0]
      // CHECK: %[[Y1:.*]] = mk_sm.tile %[[T]][1]
      // CHECK: %[[W:.*]] = mk_sm.mma_wait 0, %[[D]]
      // CHECK: mk_sm.release %[[RING]]
      // CHECK: %[[E:.*]] = math.exp2 %[[W]]
      // CHECK: %[[A:.*]] = arith.addf %[[SUM]], %[[E]]
      // CHECK: scf.yield %[[A]], %[[X1]], %[[Y1]]
      // The last iteration.
      // CHECK: %[[D1:.*]] = mk_sm.mma %[[L]]#1, %[[L]]#2
      // CHECK-NOT: mk_sm.wait
      // CHECK: %[[W1:.*]] = mk_sm.mma_wait 0, %[[D1]]
      // CHECK: mk_sm.release %[[RING]]
      // CHECK: %[[E1:.*]] = math.exp2 %[[W1]]
      // CHECK: %[[A1:.*]] = arith.addf %[[L]]#0, %[[E1]]
      // CHECK: scf.yield %[[A1]]
      // CHECK: else
      // CHECK: scf.yield %[[ZERO]]
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %y = mk_sm.tile %s[1] : !slot -> !staged
        mk_sm.mma_fence none
        %d = mk_sm.mma %x, %y, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %e = math.exp2 %w : tensor<64x64xf32, #acc>
        %n = arith.addf %o, %e : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      // CHECK: mk.store %[[R]]
      mk.store %r, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
      // Products in flight over iterations have been seen to.
      // CHECK: scf.for
      // CHECK: mk_sm.mma_wait 1
      %p = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %o transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        mk_sm.mma_wait 1
        mk_sm.release %ks : !ring
        scf.yield %d : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @missed on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %some = arith.constant true
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    %ws = mk_sm.create_ring : !mk_sm.ring<1, !tile>
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %a = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-advance-waits: missed: waits for a slot behind the dot: only those in front of it are known when the dot before runs}}
        %t = mk_sm.wait %vs : !ring -> !slot
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        mk_sm.release %vs : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %b = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        // expected-remark @+1 {{mk-sm-advance-waits: missed: is control flow in a loop of dots: compute both ways and select}}
        scf.if %some {
          %y = mk_sm.tile %s[0] : !slot -> !staged
        }
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %e = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        mk_sm.release %ks : !ring
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        // expected-remark @+1 {{mk-sm-advance-waits: missed: ends the only dot of a loop whose slots are not given back behind it}}
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %g = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        // expected-remark @+1 {{mk-sm-advance-waits: missed: takes a slot of a ring that has no other one for the next iteration: take one for each, of at least two}}
        %t = mk_sm.wait %ks : !ring -> !slot
        %y = mk_sm.tile %t[0] : !slot -> !staged
        %d = mk_sm.mma %x, %y, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %h = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        // expected-remark @+1 {{mk-sm-advance-waits: missed: takes a slot of a ring that has no other one for the next iteration: take one for each, of at least two}}
        %s = mk_sm.wait %ws : !mk_sm.ring<1, !tile> -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ws : !mk_sm.ring<1, !tile>
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      // Others may fill the next slot only when they have seen what is stored.
      %k = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        // expected-remark @+1 {{mk-sm-advance-waits: missed: acts on what others see, or waits for them, between dots, whose slots may be filled behind that only: do it behind the loop}}
        mk.store %w, %c[%c0, %c0] : tensor<64x64xf32, #acc>, memref<?x?xf32>
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      // What another loop leaves is few iterations.
      %l0 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      %l1 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %l0) -> (tensor<64x64xf32, #acc>) {
        %n = arith.addf %o, %zero : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
      // expected-remark @+1 {{mk-sm-advance-waits: missed: waits for slots in a loop whose step is not 1: count iterations}}
      %f = scf.for %j = %c0 to %M step %c2 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @teams on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) teams(2) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-advance-waits: missed: is run by teams, which hand their place in the rings over behind the last slot of an item}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 4>
!tile = tensor<256x128xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @large on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(16) registers(112) {
      %zero = arith.constant dense<0.0> : tensor<256x256xf32, #acc>
      // expected-remark @+1 {{mk-sm-advance-waits: missed: would keep a slot while it waits for the next one, and rings have too few: use smaller tiles}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<256x256xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<256x256xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<256x256xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<256x256xf32, #acc>
        scf.yield %n : tensor<256x256xf32, #acc>
      }
    }
  }
}

// -----

// What comes before all roles has rings of its own.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @prepared on @mesh dims(uniform M) () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.prepare {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32, #acc>) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %d = mk_sm.mma %x, %x, %zero transpose_b : !staged, !staged, tensor<64x64xf32, #acc>
        %w = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
        mk_sm.release %ks : !ring
        %n = arith.addf %o, %w : tensor<64x64xf32, #acc>
        scf.yield %n : tensor<64x64xf32, #acc>
      }
    }
  }
}

// -----

// So is a left operand computed that threads make of a tile; that tile is not given on.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!fragment = tensor<64x64xbf16, #acc>
!sum = tensor<64x64xf32, #acc>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<4, !tile, !tile>
!slot = !mk_sm.slot<!tile, !tile>
// CHECK-LABEL: mk.kernel @computed
mk.kernel @computed on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !sum
      %scale = arith.constant dense<2.0> : !fragment
      // CHECK: scf.if
      // CHECK: %[[S:.*]] = mk_sm.wait
      // CHECK: %[[Y0:.*]] = mk_sm.tile %[[S]][1]
      // CHECK: %[[X0:.*]] = mk_sm.tile %[[S]][0]
      // CHECK: %[[R0:.*]] = mk_sm.read %[[X0]]
      // CHECK: %[[P0:.*]] = arith.mulf %[[R0]]
      // CHECK: %[[L:.*]]:3 = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[Y:.*]] = %[[Y0]], %[[P:.*]] = %[[P0]])
      // CHECK: %[[F:.*]]:2 = mk_sm.mma_fence %[[P]], %[[SUM]]
      // CHECK: %[[D:.*]] = mk_sm.mma %[[F]]#0, %[[Y]], %[[F]]#1
      // CHECK: %[[T:.*]] = mk_sm.wait
      // CHECK: %[[Y1:.*]] = mk_sm.tile %[[T]][1]
      // CHECK: %[[X1:.*]] = mk_sm.tile %[[T]][0]
      // CHECK: %[[R1:.*]] = mk_sm.read %[[X1]]
      // CHECK: %[[P1:.*]] = arith.mulf %[[R1]]
      // CHECK: %[[W:.*]] = mk_sm.mma_wait 0, %[[D]]
      // CHECK: mk_sm.release %{{.*}} read
      // CHECK: scf.yield %[[W]], %[[Y1]], %[[P1]]
      // CHECK: mk_sm.mma_fence %[[L]]#2, %[[L]]#0
      // CHECK-NOT: mk_sm.read
      // CHECK: else
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!sum) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %y = mk_sm.tile %s[1] : !slot -> !staged
        %f = mk_sm.read %x : !staged -> !fragment
        %p = arith.mulf %f, %scale : !fragment
        %g:2 = mk_sm.mma_fence %p, %o : !fragment, !sum
        // expected-remark @+1 {{mk-sm-advance-waits: passed: has a left operand that is computed while the dot before runs}}
        %d = mk_sm.mma %g#0, %y, %g#1 transpose_b : !fragment, !staged, !sum
        %w = mk_sm.mma_wait 0, %d : !sum
        mk_sm.release %ks read : !ring
        scf.yield %w : !sum
      }
      mk.store %r, %c[%c0, %c0] : !sum, memref<?x?xf32>
    }
  }
}

// -----

// It is not where the iteration needs it besides.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!fragment = tensor<64x64xbf16, #acc>
!sum = tensor<64x64xf32, #acc>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<4, !tile, !tile>
!slot = !mk_sm.slot<!tile, !tile>
// CHECK-LABEL: mk.kernel @needed
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: mk_sm.read %[[X]]
mk.kernel @needed on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !sum
      %none = arith.constant dense<0.0> : !fragment
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %q = %none) -> (!sum, !fragment) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %y = mk_sm.tile %s[1] : !slot -> !staged
        %f = mk_sm.read %x : !staged -> !fragment
        %g:2 = mk_sm.mma_fence %f, %o : !fragment, !sum
        %d = mk_sm.mma %g#0, %y, %g#1 transpose_b : !fragment, !staged, !sum
        %w = mk_sm.mma_wait 0, %d : !sum
        mk_sm.release %ks read : !ring
        %q1 = arith.addf %q, %f : !fragment
        scf.yield %w, %q1 : !sum, !fragment
      }
      mk.store %r#0, %c[%c0, %c0] : !sum, memref<?x?xf32>
      %e = arith.extf %r#1 : !fragment to !sum
      mk.store %e, %c[%c0, %c0] : !sum, memref<?x?xf32>
    }
  }
}

// -----

// A number that the iteration takes besides is computed in both places.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!fragment = tensor<64x64xbf16, #acc>
!sum = tensor<64x64xf32, #acc>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<4, !tile, !tile>
!slot = !mk_sm.slot<!tile, !tile>
// CHECK-LABEL: mk.kernel @shared
// CHECK: scf.for %[[J:.*]] = %c0 to
// CHECK: %[[N:.*]] = arith.index_cast %[[J]]
// CHECK: arith.sitofp %[[N]]
// CHECK: mk_sm.mma
// CHECK: arith.sitofp
// CHECK: mk_sm.mma_wait
mk.kernel @shared on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !sum
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!sum) {
        %n = arith.index_cast %j : index to i32
        %v = arith.sitofp %n : i32 to f32
        %s = mk_sm.wait %ks : !ring -> !slot
        %x = mk_sm.tile %s[0] : !slot -> !staged
        %y = mk_sm.tile %s[1] : !slot -> !staged
        %f = mk_sm.read %x : !staged -> !fragment
        %b = arith.truncf %v : f32 to bf16
        %t = tensor.splat %b : !fragment
        %p = arith.mulf %f, %t : !fragment
        %z = arith.constant dense<0.0> : !sum
        %g = mk_sm.mma_fence %p : !fragment
        // expected-remark @+1 {{mk-sm-advance-waits: passed: has a left operand that is computed while the dot before runs}}
        %d = mk_sm.mma %g, %y, %z transpose_b : !fragment, !staged, !sum
        %w = mk_sm.mma_wait 0, %d : !sum
        mk_sm.release %ks read : !ring
        %u = tensor.splat %v : !sum
        %m = arith.mulf %w, %u : !sum
        %q = arith.addf %o, %m : !sum
        scf.yield %q : !sum
      }
      mk.store %r, %c[%c0, %c0] : !sum, memref<?x?xf32>
    }
  }
}

// -----

// A left operand that is the same in all iterations is nobody's work.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!fragment = tensor<64x64xbf16, #acc>
!sum = tensor<64x64xf32, #acc>
!staged = !mk_sm.staged<!tile>
!ring = !mk_sm.ring<4, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @outside
// CHECK: %[[ONES:.*]] = arith.constant dense<1.0{{.*}}bf16
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: %[[F:.*]]:2 = mk_sm.mma_fence %[[ONES]], %[[SUM]]
// CHECK: mk_sm.mma %[[F]]#0, %[[Y]], %[[F]]#1
// CHECK: mk_sm.wait
// CHECK: mk_sm.mma_wait
mk.kernel @outside on @mesh dims(uniform M, uniform N) (out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !sum
      %ones = arith.constant dense<1.0> : !fragment
      // expected-remark @+1 {{mk-sm-advance-waits: passed: waits for the slots of an iteration while the dot before runs}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (!sum) {
        %s = mk_sm.wait %ks : !ring -> !slot
        %y = mk_sm.tile %s[0] : !slot -> !staged
        %g:2 = mk_sm.mma_fence %ones, %o : !fragment, !sum
        %d = mk_sm.mma %g#0, %y, %g#1 : !fragment, !staged, !sum
        %w = mk_sm.mma_wait 0, %d : !sum
        mk_sm.release %ks : !ring
        scf.yield %w : !sum
      }
      mk.store %r, %c[%c0, %c0] : !sum, memref<?x?xf32>
    }
  }
}
