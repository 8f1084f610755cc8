// RUN: mk-opt %s -mk-sm-order-accesses --remarks=order-accesses -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// A store behind a load or a store of the same place: by other threads, or by the copy engine.
mk.mesh @mesh (gpu = 1 via link)
#runs = #mk_sm.blocked<threads = 128, vector = 4>
#single = #mk_sm.blocked<threads = 128, vector = 1>
#acc = #mk_sm.mma<warpgroups = 1>
!m = memref<?x?xf32>
!tile = tensor<64x64xf32, #runs>
!other = tensor<64x64xf32, #single>
!c = tensor<64x64xbf16, #acc>

// CHECK-LABEL: mk.kernel @places
mk.kernel @places on @mesh dims(uniform M) (inout %a : !m [M, M], inout %b : !m [M, M], inout %c : memref<?x?xbf16> [M, M], inout %d : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !other
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(4) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(232) {
      mk_sm.items (%i) round(%n) of %M {
        // Each thread stores what it has loaded.
        // CHECK: mk.load %a
        // CHECK-NEXT: mk.store %{{.*}}, %a
        %x = mk.load %a[%i, %c0] : !m -> !tile
        mk.store %x, %a[%i, %c0] : !tile, !m
        // Now others do.
        // CHECK-NEXT: mk_sm.order
        // CHECK-NEXT: mk.store
        // expected-remark @+1 {{mk-sm-order-accesses: missed: waits until all threads have done what is in front of it with the same buffer: load and store the same tile, or tiles that have nothing in common (in role 'r')}}
        mk.store %zero, %a[%i, %c0] : !other, !m
        // A buffer of its own.
        // CHECK-NEXT: mk.store
        mk.store %zero, %b[%i, %c0] : !other, !m
        // All have met at a signal.
        // CHECK-NEXT: mk.signal
        // CHECK-NEXT: mk.store
        mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
        mk.store %x, %b[%i, %c0] : !tile, !m
        // The copy engine stores what threads have loaded, but stores one behind the other.
        // CHECK: mk_sm.store
        // CHECK-NEXT: mk_sm.order
        // CHECK-NEXT: mk_sm.store
        %y = mk.load %c[%i, %c0] : memref<?x?xbf16> -> !c
        mk_sm.store %y, %c[%i, %c0] through %staging : !c, memref<?x?xbf16>, !mk_sm.staging<2>
        // expected-remark @+1 {{mk-sm-order-accesses: missed: waits until all threads}}
        mk_sm.store %y, %c[%i, %c0] through %staging : !c, memref<?x?xbf16>, !mk_sm.staging<2>
        // All threads load a scalar, one stores it; the same one stores the next.
        // CHECK: memref.load
        // CHECK-NEXT: mk_sm.order
        // CHECK-NEXT: memref.store
        // CHECK-NEXT: memref.store
        %f = memref.load %d[%i] : memref<?xf32>
        // expected-remark @+1 {{mk-sm-order-accesses: missed: waits until all threads}}
        memref.store %f, %d[%i] : memref<?xf32>
        memref.store %f, %d[%i] : memref<?xf32>
      }
    }
  }
}

// What threads have written, and met behind, the copy engine may still overtake an iteration later.
// CHECK-LABEL: mk.kernel @later
mk.kernel @later on @mesh dims(uniform M) (inout %c : memref<?x?xbf16> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : !c
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(232) {
      scf.for %i = %c0 to %M step %c1 {
        // CHECK: scf.for
        // CHECK-NEXT: mk_sm.order
        // CHECK-NEXT: mk_sm.store
        // expected-remark @+1 {{mk-sm-order-accesses: missed: waits until all threads}}
        mk_sm.store %one, %c[%c0, %c0] through %staging : !c, memref<?x?xbf16>, !mk_sm.staging<2>
        mk.fence
        mk.store %one, %c[%c0, %c0] : !c, memref<?x?xbf16>
        mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 1>
      }
    }
  }
}
