// RUN: mk-opt %s -split-input-file -mk-sm-choose-stores --remarks=choose-stores -verify-diagnostics | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-sm-choose-stores | mk-opt -split-input-file -mk-sm-choose-stores | FileCheck %s

// What goes through shared memory, and each reason why not.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xf32, #acc>
// CHECK-LABEL: mk.kernel @stores
// CHECK: mk_sm.create_ring
// CHECK-NEXT: %[[STAGING:.*]] = mk_sm.create_staging : !mk_sm.staging<2>
// CHECK-NEXT: mk_sm.partition consumer
mk.kernel @stores on @mesh dims(uniform K) (
    out %c : memref<?x?xf32> [K, K], out %i : memref<?x64xi32> [K, 64], out %l : memref<?xf32> [K],
    inout %n : memref<?x24xf32> [K, 24], inout %m : memref<?x72xf32> [K, 72], inout %u : memref<?x64xbf16> [K, 64], out %t : memref<?x64xf32> [K, 64],
    out %d : memref<1x1x1x1x64x64xf32> [1, 1, 1, 1, 64, 64], scratch %p : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !mk_sm.ring<2, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %g = arith.constant dense<0.0> : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] valid(%K, %c0) through %[[STAGING]] :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %c[%c0, %c0] valid(%K, %c0) : !tile, memref<?x?xf32>
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] add through %[[STAGING]] :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %c[%c0, %c0] reduce(add) : !tile, memref<?x?xf32>
      // CHECK-NOT: mk_sm.store
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: the copy engine takes buffers of at most 5 dimensions: join some}}
      mk.store %g, %d[%c0, %c0, %c0, %c0, %c0, %c0] : !tile, memref<1x1x1x1x64x64xf32>
      // expected-remark @+1 {{mk-sm-choose-stores: passed: is stored from registers: to scratch of known extents, in whole sectors}}
      mk.store %g, %p[%c0, %c0] : !tile, memref<64x64xf32>
      %w = arith.constant dense<0> : tensor<64x64xi32, #acc>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: its elements are no floating-point numbers of 16 or 32 bits, which shared memory takes in order: store such numbers where the values allow it}}
      mk.store %w, %i[%c0, %c0] : tensor<64x64xi32, #acc>, memref<?x64xi32>
      %s = arith.constant dense<0.0> : tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: its tile is no matrix, and small: nothing need be changed}}
      mk.store %s, %l[%c0] : tensor<64xf32, #mk_sm.slice<axis = 1, of = #acc>>, memref<?xf32>
      %b = arith.constant dense<0.0> : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: its tile has not the layout of accumulators: compute it from what mk.dot gives, where it is large}}
      mk.store %b, %c[%c0, %c0] : tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 1>>, memref<?x?xf32>
      %thin = arith.constant dense<0.0> : tensor<64x24xf32, #acc>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: its 24 columns are no multiple of 32: use tiles that have}}
      mk.store %thin, %n[%c0, %c0] : tensor<64x24xf32, #acc>, memref<?x24xf32>
      %wide = arith.constant dense<0.0> : tensor<64x72xf32, #acc>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: its 72 columns are added and no multiple of 32: use tiles that have}}
      mk.store %wide, %m[%c0, %c0] reduce(add) : tensor<64x72xf32, #acc>, memref<?x72xf32>
      %turned = mk.transpose %g : !tile -> tensor<64x64xf32, #mk_sm.transposed<of = #acc>>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: transposed tiles leave through shared memory where their elements have 16 bits, and where they are added their rows are at most 64 or a multiple of it}}
      mk.store %turned, %t[%c0, %c0] : tensor<64x64xf32, #mk_sm.transposed<of = #acc>>, memref<?x64xf32>
      %more = arith.constant dense<0.0> : tensor<72x64xbf16, #mk_sm.transposed<of = #acc>>
      // CHECK: mk_sm.store %{{.*}}, %u[%c0, %c0] through %[[STAGING]] :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %more, %u[%c0, %c0] : tensor<72x64xbf16, #mk_sm.transposed<of = #acc>>, memref<?x64xbf16>
      // expected-remark @+1 {{mk-sm-choose-stores: missed: is stored from registers: transposed tiles leave}}
      mk.store %more, %u[%c0, %c0] reduce(add) : tensor<72x64xbf16, #mk_sm.transposed<of = #acc>>, memref<?x64xbf16>
    }
  }
}

// -----

// Rows that begin within a sector are stored as a whole, if they have more than a chunk: not where the loop around products is
// long, or how long is not known; not what is added.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x128xbf16, #acc>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>
// CHECK-LABEL: mk.kernel @rows
mk.kernel @rows on @mesh (
    in %a : memref<64x1024xbf16> [64, 1024], inout %c : memref<64x136xbf16> [64, 136], out %d : memref<64x144xbf16> [64, 144],
    out %e : memref<64x132xbf16> [64, 132], in %s : memref<128xbf16> [128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %c16 step %c1 {
        %slot = mk_sm.acquire %ring : !ring -> !mk_sm.slot<tensor<64x64xbf16>>
        mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x1024xbf16>, !mk_sm.slot<tensor<64x64xbf16>>
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %g = arith.constant dense<0.0> : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through %{{.*}} by_rows :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory, by threads and row by row: rows of its buffer begin within sectors of 32 bytes, of which boxes would write parts}}
      mk.store %g, %c[%c0, %c0] : !tile, memref<64x136xbf16>
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] add through %{{[^ ]*}} :
      // expected-remark @+2 {{mk-sm-choose-stores: missed: is written in parts of sectors: rows of its buffer begin within these, and threads do not store whole ones, since it goes to another rank, or is added}}
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %c[%c0, %c0] reduce(add) : !tile, memref<64x136xbf16>
      %scale = mk.load %s[%c0] : memref<128xbf16> -> tensor<128xbf16, #mk_sm.slice<axis = 0, of = #acc>>
      %scales = mk.broadcast %scale dims [0] : tensor<128xbf16, #mk_sm.slice<axis = 0, of = #acc>> -> !tile
      %scaled = arith.mulf %g, %scales : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through %{{[^ ]*}} :
      // expected-remark @+2 {{mk-sm-choose-stores: missed: is written in parts of sectors: rows of its buffer begin within these, and threads do not store whole ones, since values of columns, or another tile, would be kept in registers for it}}
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %scaled, %c[%c0, %c0] : !tile, memref<64x136xbf16>
      %turned = arith.constant dense<0.0> : tensor<128x128xbf16, #mk_sm.transposed<of = #acc>>
      // expected-remark @+2 {{mk-sm-choose-stores: missed: is written in parts of sectors: rows of its buffer begin within these, and threads do not store whole ones, since its rows are too long for a warp, or its tile is transposed}}
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %turned, %c[%c0, %c0] : tensor<128x128xbf16, #mk_sm.transposed<of = #acc>>, memref<64x136xbf16>
      %double = arith.addf %g, %g : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through %{{.*}} by_rows :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory, by threads and row by row}}
      mk.store %double, %c[%c0, %c0] : !tile, memref<64x136xbf16>
      // CHECK: mk_sm.store %{{.*}}, %d[%c0, %c0] through %{{[^ ]*}} :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %d[%c0, %c0] : !tile, memref<64x144xbf16>
      // CHECK: mk_sm.store %{{.*}}, %e[%c0, %c0] through %{{[^ ]*}} :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %e[%c0, %c0] : !tile, memref<64x132xbf16>
      %thin = arith.constant dense<0.0> : tensor<64x64xbf16, #acc>
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through %{{[^ ]*}} :
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %thin, %c[%c0, %c0] : tensor<64x64xbf16, #acc>, memref<64x136xbf16>
    }
  }
}

// -----

// All that fills the ring for an item counts: 16 and 8 slots are not few.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x128xbf16, #acc>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>>
// CHECK-LABEL: mk.kernel @more
mk.kernel @more on @mesh (in %a : memref<64x1024xbf16> [64, 1024], out %c : memref<64x136xbf16> [64, 136]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      scf.for %i = %c0 to %c16 step %c1 {
        %slot = mk_sm.acquire %ring : !ring -> !slot
        mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x1024xbf16>, !slot
      }
      scf.for %i = %c0 to %c8 step %c1 {
        %slot = mk_sm.acquire %ring : !ring -> !slot
        mk_sm.copy %a[%c0, %c0] to %slot[0] : memref<64x1024xbf16>, !slot
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %g = arith.constant dense<0.0> : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] through %{{[^ ]*}} :
      // expected-remark @+2 {{mk-sm-choose-stores: missed: is written in parts of sectors: rows of its buffer begin within these, and threads do not store whole ones, since its products are long, or nobody knows how long}}
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %c[%c0, %c0] : !tile, memref<64x136xbf16>
    }
  }
}

// -----

// A signal comes behind the store, strong or not; that of another rank stays with what is stored from registers.
// Nothing is said of roles without staged tiles that store from registers.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)
!tile = tensor<64x64xf32, #acc>
!there = memref<?x?xf32, #mk.symmetric>
!signal = !mk.signal<?, sys, arrivals = 1>
// CHECK-LABEL: mk.kernel @signals
mk.kernel @signals on @mesh dims(uniform K) (inout %c : !there [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = mk.signals(%c1) : !signal
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %g = arith.constant dense<0.0> : !tile
      // CHECK: mk_sm.store %{{.*}}, %c[%c0, %c0] on %c1 through
      // CHECK-NEXT: mk.signal strong %{{.*}}[%c0] on %c1
      // expected-remark @+1 {{mk-sm-choose-stores: passed: leaves through shared memory and the copy engine}}
      mk.store %g, %c[%c0, %c0] on %c1 signal strong %done[%c0] : !tile, !there, !signal
      %i = arith.constant dense<0.0> : tensor<64x24xf32, #acc>
      // CHECK: mk.store %{{.*}}, %c[%c0, %c0] on %c1 signal
      mk.store %i, %c[%c0, %c0] on %c1 signal %done[%c0] : tensor<64x24xf32, #acc>, !there, !signal
    }
  }
}
