// RUN: mk-opt %s -split-input-file -mk-sm-alternate-items -verify-diagnostics | FileCheck %s

// Items go to two teams in turn. A team has the turn while it takes slots; its store comes
// after. Who has no item left passes on.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<128x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<128x64xbf16>>

// CHECK-LABEL: mk.kernel @gemm
mk.kernel @gemm on @mesh dims(uniform M, uniform K) (out %c : memref<64x128xf32> [64, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    // CHECK: mk_sm.partition consumer warps(8) registers(240) teams(2)
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      // CHECK: %[[TEAM:.*]] = mk_sm.team_index
      // CHECK: %[[CTAS:.*]] = mk.ctas @r
      // CHECK: %[[MINE:.*]] = arith.muli %[[TEAM]], %[[CTAS]]
      // CHECK: mk_sm.items (%[[I:.*]]) round(%{{.*}}) of %M every(2) {
      // CHECK: %[[T:.*]] = arith.addi %[[I]], %[[MINE]]
      // CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[T]], %M
      // CHECK: scf.if %[[THERE]]
      mk_sm.items (%t) round(%turn) of %M {
        %some = arith.cmpi sgt, %K, %c0 : index
        // CHECK: mk_sm.turn_wait
        // CHECK-NEXT: scf.if
        %sum = scf.if %some -> (tensor<64x128xf32, #acc>) {
          // CHECK: scf.for
          %acc = scf.for %k = %c0 to %K step %c1 iter_args(%old = %zero) -> (tensor<64x128xf32, #acc>) {
            %s = mk_sm.wait %ring : !ring -> !slot
            %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
            %y = mk_sm.tile %s[1] : !slot -> !mk_sm.staged<tensor<128x64xbf16>>
            %d = mk_sm.mma %x, %y, %old transpose_b : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<128x64xbf16>>, tensor<64x128xf32, #acc>
            mk_sm.release %ring : !ring
            scf.yield %d : tensor<64x128xf32, #acc>
          }
          // CHECK: scf.yield
          // CHECK: mk_sm.turn_pass
          // What stands behind goes into both branches.
          // CHECK-NEXT: %[[SUM:.*]] = mk_sm.mma_wait 0
          // CHECK-NEXT: mk.store %[[SUM]]
          %done = mk_sm.mma_wait 0, %acc : tensor<64x128xf32, #acc>
          scf.yield %done : tensor<64x128xf32, #acc>
        // CHECK: else
        // CHECK-NEXT: mk_sm.turn_pass
        // CHECK-NEXT: mk.store %cst
        } else {
          scf.yield %zero : tensor<64x128xf32, #acc>
        }
        mk.store %sum, %c[%c0, %c0] : tensor<64x128xf32, #acc>, memref<64x128xf32>
      // CHECK: else
      // CHECK-NEXT: mk_sm.turn_wait
      // CHECK-NEXT: mk_sm.turn_pass
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>

mk.kernel @two_loops on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    // expected-error @+1 {{does not take all staged tiles in one loop over its items; its role has order(alternate = 2), whose teams work on items of their own: leave alternate out}}
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      mk_sm.items (%t) round(%turn) of %M {
        %s = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %ring : !ring
      }
      mk_sm.items (%t) round(%turn) of %M {
        %s = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %ring : !ring
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>

mk.kernel @mailbox on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    %items = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      mk_sm.items (%t) round(%turn) of %M {
        %s = mk_sm.wait %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.release %ring : !ring
        // expected-error @+1 {{takes a number that a thread draws (schedule(ticket), a queue) or reads, which is done once for all warpgroups of the consumer; its role has order(alternate = 2)}}
        %i = mk_sm.receive %items : !mk_sm.mailbox<2, words = 1>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>

mk.kernel @exchange on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      mk_sm.items (%t) round(%turn) of %M {
        %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
        // expected-error @+1 {{takes a tile as other threads have it, which moves elements between threads through shared memory; its role has order(alternate = 2), whose teams work on items of their own: leave alternate out}}
        %y = mk_sm.convert_layout %x : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>

mk.kernel @columns on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      mk_sm.items (%t) round(%turn) of %M {
        %x = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
        // expected-error @+1 {{'mk.reduce' op moves elements between threads through shared memory; its role has order(alternate = 2)}}
        %y = mk.reduce add %x axis 0 : tensor<64x64xf32, #acc> -> tensor<64xf32, #mk_sm.slice<axis = 0, of = #acc>>
      }
    }
  }
}
