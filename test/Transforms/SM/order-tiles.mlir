// RUN: mk-opt %s -mk-sm-order-tiles --remarks=order-tiles -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// A store behind a load or a store of another place, which may have an element in common with it.
mk.mesh @mesh (gpu = 1 via link)
!m = memref<?x?xf32>
!tile = tensor<8x8xf32>

// CHECK-LABEL: mk.kernel @places
mk.kernel @places on @mesh dims(uniform M) (inout %a : !m [M, M], inout %b : !m [M, M], inout %d : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(4) then @behind {
    mk.foreach (%i) in (%M) schedule(ticket) {
      %row = arith.muli %i, %c3 : index
      %near = arith.addi %row, %c4 : index
      %far = arith.addi %row, %c8 : index
      // CHECK: mk.load %a
      // CHECK-NEXT: mk.store %{{.*}}, %a[%[[ROW:.*]], %c0]
      // CHECK-NEXT: mk.store %{{.*}}, %a[%{{.*}}, %c0]
      // CHECK-NEXT: mk_sm.order
      // CHECK-NEXT: mk.store
      %x = mk.load %a[%row, %c0] : !m -> !tile
      mk.store %x, %a[%row, %c0] : !tile, !m
      mk.store %x, %a[%far, %c0] : !tile, !m
      // expected-remark @+1 {{mk-sm-order-tiles: missed: waits until all threads have done what is in front of it with the same buffer: load and store the same tile, or tiles that have nothing in common (in role 'r')}}
      mk.store %x, %a[%near, %c0] : !tile, !m
      // Adds come in any order; a fence orders.
      // CHECK-NEXT: mk.store {{.*}} reduce(add)
      // CHECK-NEXT: mk.store {{.*}} reduce(add)
      // CHECK-NEXT: mk.fence
      // CHECK-NEXT: mk.store
      mk.store %x, %b[%row, %c0] reduce(add) : !tile, !m
      mk.store %x, %b[%near, %c0] reduce(add) : !tile, !m
      mk.fence
      mk.store %x, %b[%far, %c1] : !tile, !m
      // From one iteration to the next: eight rows further, and four.
      // CHECK: scf.for
      // CHECK: mk_sm.order
      // CHECK-NEXT: mk.store
      // CHECK: scf.for
      // CHECK-NOT: mk_sm.order
      // CHECK: mk.store
      scf.for %j = %c0 to %M step %c1 {
        %at = arith.muli %j, %c4 : index
        // expected-remark @+1 {{mk-sm-order-tiles: missed: waits until all threads}}
        mk.store %x, %a[%at, %c0] : !tile, !m
      }
      mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
      scf.for %j = %c0 to %M step %c8 {
        mk.store %x, %b[%j, %c0] : !tile, !m
      }
    }
    // CTAs go on with a role that stores it.
    // CHECK: mk_sm.order
    // CHECK-NEXT: }
  }
  // Several CTAs have items; one has all of them.
  // CHECK: mk.role @behind
  // CHECK-NOT: mk_sm.order
  // CHECK: mk.role @alone
  // CHECK: mk_sm.order
  mk.role @behind ctas(2) {
    mk.foreach (%i) in (%M) schedule(ticket) {
      %x = mk.load %b[%i, %c0] : !m -> !tile
      mk.store %x, %b[%i, %c0] : !tile, !m
    }
  }
  mk.role @alone ctas(1) {
    mk.foreach (%i) in (%M) {
      %x = mk.load %b[%i, %c0] : !m -> !tile
      // expected-remark @+1 {{mk-sm-order-tiles: missed: waits until all threads}}
      mk.store %x, %b[%i, %c0] : !tile, !m
    }
  }
}
