// RUN: mk-opt %s -split-input-file -mk-sm-skip-hidden --remarks=skip-hidden -verify-diagnostics | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 3>
#rows = #mk_sm.slice<axis = 1, of = #acc>
!tile = tensor<192x64xbf16>
!block = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !block>
!slot = !mk_sm.slot<!block>
!q = !mk_sm.ring<2, !tile>

// The last row of a warpgroup sees nothing from some block on: %row + 64 * warpgroup + 63 - 64 * j < 0. Of a tile behind the
// last row of %c a warpgroup has none that is stored.
// CHECK-LABEL: mk.kernel @causal
mk.kernel @causal on @mesh dims(uniform S) (out %c : memref<?x64xbf16> [S, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  mk.role @r ctas(rest) {
    %qs = mk_sm.create_ring : !q
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(12) registers(160) {
      %zero = arith.constant dense<0.0> : tensor<192x64xf32, #acc>
      %ninf = arith.constant 0xFF800000 : f32
      mk_sm.items (%i) round(%n) of %S {
        %row = arith.muli %i, %c192 : index
        %qa = mk_sm.wait %qs : !q -> !mk_sm.slot<!tile>
        %Q = mk_sm.tile %qa[0] : !mk_sm.slot<!tile> -> !mk_sm.staged<!tile>
        // CHECK: %[[W:.*]] = mk_sm.warpgroup_index
        // CHECK: %[[EXTENT:.*]] = memref.dim
        // CHECK: %[[STORED:.*]] = arith.subi %[[EXTENT]], %[[ROW:.*]] :
        // CHECK: %[[OWN:.*]] = arith.muli %[[W]], %{{.*}} :
        // CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[OWN]], %[[STORED]]
        // CHECK: %[[MIDDLE:.*]] = arith.select %[[ANY]], %[[HALF:.*]], %c0
        // CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %[[MIDDLE]]
        // CHECK: arith.floordivsi
        // CHECK: %[[LEFT:.*]] = arith.maxsi {{.*}}, %[[HALF]] :
        // CHECK: %[[END:.*]] = arith.select %[[ANY]], %[[LEFT]], %[[HALF]]
        // CHECK: %[[REST:.*]] = arith.select %[[ANY]], %[[LEFT]], %c0
        // CHECK: scf.for %{{.*}} = %[[HALF]] to %[[END]] step %c1 iter_args(%{{.*}} = %[[WHOLE]])
        // CHECK: mk_sm.mma_wait 0
        // CHECK: mk_sm.release
        // Slots of the others come and go.
        // CHECK: scf.for %{{.*}} = %[[REST]] to %S
        // CHECK-NEXT: mk_sm.wait %[[KS:.*]] :
        // CHECK-NEXT: mk_sm.release %[[KS]] :
        // CHECK-NEXT: }
        // CHECK-NEXT: mk_sm.release
        %half = arith.divsi %row, %c64 : index
        %whole = scf.for %j = %c0 to %half step %c1 iter_args(%o = %zero) -> (tensor<192x64xf32, #acc>) {
          %ka = mk_sm.wait %ks : !ring -> !slot
          %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!block>
          %s0 = mk_sm.mma %Q, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!block>, tensor<192x64xf32, #acc>
          %s = mk_sm.mma_wait 0, %s0 : tensor<192x64xf32, #acc>
          %p = arith.truncf %s : tensor<192x64xf32, #acc> to tensor<192x64xbf16, #acc>
          %n0 = mk_sm.mma %p, %K, %o : tensor<192x64xbf16, #acc>, !mk_sm.staged<!block>, tensor<192x64xf32, #acc>
          %n1 = mk_sm.mma_wait 0, %n0 : tensor<192x64xf32, #acc>
          mk_sm.release %ks : !ring
          scf.yield %n1 : tensor<192x64xf32, #acc>
        }
        // expected-remark @+2 {{mk-sm-skip-hidden: passed: is left by each of 3 warpgroups behind the last iteration of which it sees anything}}
        // expected-remark @+1 {{mk-sm-skip-hidden: passed: is left out by warpgroups of which no row is stored}}
        %r = scf.for %j = %half to %S step %c1 iter_args(%o = %whole) -> (tensor<192x64xf32, #acc>) {
          %key = arith.muli %j, %c64 : index
          %ahead = arith.subi %row, %key : index
          %ka = mk_sm.wait %ks : !ring -> !slot
          %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!block>
          %s0 = mk_sm.mma %Q, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!block>, tensor<192x64xf32, #acc>
          %s = mk_sm.mma_wait 0, %s0 : tensor<192x64xf32, #acc>
          %z = mk.mask %s where affine_set<(r, c)[d] : (r - c + d >= 0)>[%ahead] else %ninf skippable : tensor<192x64xf32, #acc>
          %p = arith.truncf %z : tensor<192x64xf32, #acc> to tensor<192x64xbf16, #acc>
          %n0 = mk_sm.mma %p, %K, %o : tensor<192x64xbf16, #acc>, !mk_sm.staged<!block>, tensor<192x64xf32, #acc>
          %n1 = mk_sm.mma_wait 0, %n0 : tensor<192x64xf32, #acc>
          mk_sm.release %ks : !ring
          scf.yield %n1 : tensor<192x64xf32, #acc>
        }
        // What follows is of the warpgroup's own last iteration.
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!block>
        %n0 = mk_sm.mma %Q, %K, %r transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!block>, tensor<192x64xf32, #acc>
        %n1 = mk_sm.mma_wait 0, %n0 : tensor<192x64xf32, #acc>
        mk_sm.release %ks : !ring
        mk_sm.release %qs : !q
        %out = arith.truncf %n1 : tensor<192x64xf32, #acc> to tensor<192x64xbf16, #acc>
        mk.store %out, %c[%row, %c0] : tensor<192x64xbf16, #acc>, memref<?x64xbf16>
      }
    }
  }
}

// -----

// All come to what sums over rows, and a loop whose rows are stored whole has no mask that may be skipped.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @together
// CHECK-NOT: mk_sm.warpgroup_index
mk.kernel @together on @mesh dims(uniform M) (out %c : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      // expected-remark @+1 {{mk-sm-skip-hidden: missed: has 'mk.reduce', which is not known to be done by a warpgroup alone}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        %sum = mk.reduce add %s axis 0 : tensor<128x128xf32, #acc> -> tensor<128xf32, #mk_sm.slice<axis = 0, of = #acc>>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<128x128xf32, #acc>
      }
      mk.store %r, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<128x128xf32>
    }
  }
}

// -----

// A number of blocks that the loop carries would differ behind it, where it may be the end of another loop.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @counts
// CHECK-NOT: mk_sm.warpgroup_index
mk.kernel @counts on @mesh dims(uniform M) (out %c : memref<?x128xf32> [M, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      // expected-remark @+1 {{mk-sm-skip-hidden: missed: carries what belongs to no row of a tile, and would differ between warpgroups behind it}}
      %r:2 = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero, %n = %c0) -> (tensor<128x128xf32, #acc>, index) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        %e = math.exp2 %s : tensor<128x128xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %n1 = mk_sm.mma_wait 0, %n0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        %more = arith.addi %n, %c1 : index
        scf.yield %n1, %more : tensor<128x128xf32, #acc>, index
      }
      scf.for %j = %c0 to %r#1 step %c1 {
      }
      mk.store %r#0, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<?x128xf32>
    }
  }
}

// -----

// Elements of a tile that is dealt out change threads, for which all warpgroups meet.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
#rows = #mk_sm.slice<axis = 1, of = #acc>
#dealt = #mk_sm.blocked<threads = 256, vector = 4>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @dealt
// CHECK-NOT: mk_sm.warpgroup_index
mk.kernel @dealt on @mesh dims(uniform M) (out %c : memref<?x128xf32> [M, 128], out %d : memref<?x8xf32> [M, 8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      // expected-remark @+1 {{mk-sm-skip-hidden: missed: has 'mk.broadcast', which is not known to be done by a warpgroup alone}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        %most = mk.reduce max %s axis 1 : tensor<128x128xf32, #acc> -> tensor<128xf32, #rows>
        %wide = mk.broadcast %most dims [1] : tensor<128xf32, #rows> -> tensor<128x8xf32, #dealt>
        mk.store %wide, %d[%c0, %c0] : tensor<128x8xf32, #dealt>, memref<?x8xf32>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<128x128xf32, #acc>
      }
      mk.store %r, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<?x128xf32>
    }
  }
}

// -----

// Slots of the same ring are taken behind the branch in which the loop stands, or behind a wait for another ring, whose producer
// waits for slots that nobody has released.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @later
// CHECK-NOT: mk_sm.warpgroup_index
mk.kernel @later on @mesh dims(uniform M) (out %c : memref<?x128xf32> [M, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    %vs = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      %some = arith.cmpi sgt, %M, %c0 : index
      %b = scf.if %some -> (tensor<128x128xf32, #acc>) {
        %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
          %ka = mk_sm.wait %ks : !ring -> !slot
          %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
          %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
          %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
          %e = math.exp2 %s : tensor<128x128xf32, #acc>
          %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
          %n = mk_sm.mma_wait 0, %n0 : tensor<128x128xf32, #acc>
          mk_sm.release %ks : !ring
          scf.yield %n : tensor<128x128xf32, #acc>
        }
        scf.yield %r : tensor<128x128xf32, #acc>
      } else {
        scf.yield %zero : tensor<128x128xf32, #acc>
      }
      %ka = mk_sm.wait %ks : !ring -> !slot
      mk_sm.release %ks : !ring
      mk.store %b, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<?x128xf32>
      %q = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
        %ka1 = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka1[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %zero transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        %e = math.exp2 %s : tensor<128x128xf32, #acc>
        %n0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %n = mk_sm.mma_wait 0, %n0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %n : tensor<128x128xf32, #acc>
      }
      %va = mk_sm.wait %vs : !ring -> !slot
      mk_sm.release %vs : !ring
      %kb = mk_sm.wait %ks : !ring -> !slot
      mk_sm.release %ks : !ring
      mk.store %q, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<?x128xf32>
    }
  }
}

// -----

// A product alone: what is stored ends inside the argument, behind some rows of a group. A warpgroup of which no row is stored waits
// for the slots of all iterations, and releases them; nothing is kept over the loop.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<256x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @groups
mk.kernel @groups on @mesh dims(uniform M, uniform G) (out %c : memref<?x256xf32> [M, 256]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<256x256xf32, #acc>
      // CHECK: %[[W:.*]] = mk_sm.warpgroup_index
      // CHECK: %[[OWN:.*]] = arith.muli %[[W]], %c128{{.*}} : index
      // CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[OWN]], %G : index
      // CHECK: %[[SUM:.*]] = scf.if %[[ANY]] -> (tensor<256x256xf32, #{{.*}}>) {
      // CHECK-NEXT: %[[LOOP:.*]] = scf.for %{{.*}} = %c0 to %M step %c1
      // CHECK: mk_sm.mma
      // CHECK: scf.yield %[[LOOP]]
      // CHECK-NEXT: } else {
      // CHECK-NEXT: scf.for %{{.*}} = %c0 to %M step %c1 {
      // CHECK-NEXT: mk_sm.wait
      // CHECK-NEXT: mk_sm.release
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.yield %{{.*}} : tensor<256x256xf32
      // CHECK-NEXT: }
      // CHECK-NEXT: mk.store %[[SUM]]
      // expected-remark @+1 {{mk-sm-skip-hidden: passed: is left out by warpgroups of which no row is stored}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<256x256xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<256x256xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<256x256xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %s : tensor<256x256xf32, #acc>
      }
      mk.store %r, %c[%c0, %c0] valid(%G, %c256) : tensor<256x256xf32, #acc>, memref<?x256xf32>
    }
  }
}

// -----

// The argument's own end cuts its last tiles only: a product alone stays as it is.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @plain
// CHECK-NOT: mk_sm.warpgroup_index
mk.kernel @plain on @mesh dims(uniform M) (out %c : memref<?x128xf32> [M, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %s : tensor<128x128xf32, #acc>
      }
      mk.store %r, %c[%c0, %c0] : tensor<128x128xf32, #acc>, memref<?x128xf32>
    }
  }
}

// -----

// The number of rows comes too late, or another loop takes slots of the same ring.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
!tile = tensor<128x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
// CHECK-LABEL: mk.kernel @silent
// CHECK-NOT: scf.if
mk.kernel @silent on @mesh dims(uniform M, uniform G) (out %c : memref<?x128xf32> [M, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  mk.role @r ctas(rest) {
    %ks = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(168) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      scf.for %again = %c0 to %G step %c1 {
        // expected-remark @+1 {{mk-sm-skip-hidden: missed: has rings in which others wait behind it: a warpgroup of which no row is stored goes through it, too}}
        %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
          %ka = mk_sm.wait %ks : !ring -> !slot
          %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
          %s0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
          %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
          mk_sm.release %ks : !ring
          scf.yield %s : tensor<128x128xf32, #acc>
        }
        mk.store %r, %c[%c0, %c0] valid(%G, %c128) : tensor<128x128xf32, #acc>, memref<?x128xf32>
      }
      // expected-remark @+1 {{mk-sm-skip-hidden: missed: gives rows of which the number that is stored is computed behind it: compute it in front}}
      %r = scf.for %j = %c0 to %M step %c1 iter_args(%o = %zero) -> (tensor<128x128xf32, #acc>) {
        %ka = mk_sm.wait %ks : !ring -> !slot
        %K = mk_sm.tile %ka[0] : !slot -> !mk_sm.staged<!tile>
        %s0 = mk_sm.mma %K, %K, %o transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<128x128xf32, #acc>
        %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
        mk_sm.release %ks : !ring
        scf.yield %s : tensor<128x128xf32, #acc>
      }
      %late = arith.addi %G, %c1 : index
      mk.store %r, %c[%c0, %c0] valid(%late, %c128) : tensor<128x128xf32, #acc>, memref<?x128xf32>
    }
  }
}
