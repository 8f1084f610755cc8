// RUN: mk-opt %s -split-input-file -mk-sm-defer-elements -mk-sm-unroll-stores -verify-diagnostics --remarks=unroll-stores | FileCheck %s
// RUN: mk-opt %s -split-input-file -mk-sm-defer-elements -mk-sm-unroll-stores=parts=2 2>/dev/null | FileCheck %s --check-prefix=FEW

// A kernel's only store: a few parts are unrolled.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x192xbf16, #acc>
// CHECK-LABEL: mk.kernel @few
// FEW-LABEL: mk.kernel @few
mk.kernel @few on @mesh (out %b : memref<64x192xbf16> [64, 192]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %w = arith.constant dense<1.0> : !tile
      // CHECK: mk_sm.store {{.*}} through %{{.*}} unrolled :
      // FEW: mk_sm.store
      // FEW-NOT: unrolled
      // FEW-LABEL: mk.kernel @many
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: stores 3 parts in sequence}}
      mk_sm.store %w, %b[%c0, %c0] through %staging : !tile, memref<64x192xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// Many are not, if what they are computed from is cheap.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<512x64xbf16, #acc>
// CHECK-LABEL: mk.kernel @many
mk.kernel @many on @mesh (in %a : memref<512x64xbf16> [512, 64], out %b : memref<512x64xbf16> [512, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !tile
      // CHECK: mk_sm.store
      // CHECK-NOT: unrolled
      // expected-remark @+1 {{mk-sm-unroll-stores: missed: stores 8 parts in a loop: more than 6 leave too few registers for what they are computed from}}
      mk_sm.store %x, %b[%c0, %c0] through %staging : !tile, memref<512x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// One of several: only if it has one part.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x128xbf16, #acc>
// CHECK-LABEL: mk.kernel @several
mk.kernel @several on @mesh (out %b : memref<64x128xbf16> [64, 128], out %c : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !tile
      %y = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      // CHECK: mk_sm.store
      // CHECK-NOT: unrolled
      // CHECK: mk_sm.store {{.*}} unrolled
      // expected-remark @+1 {{mk-sm-unroll-stores: missed: stores 2 parts in a loop: the kernel has 2 stores, and would grow}}
      mk_sm.store %x, %b[%c0, %c0] through %staging : !tile, memref<64x128xbf16>, !mk_sm.staging<2>
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: stores 1 parts in sequence}}
      mk_sm.store %y, %c[%c0, %c0] through %staging : tensor<64x64xbf16, #acc>, memref<64x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// With peers two parts are.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 2 via link)
!tile = tensor<64x128xbf16, #acc>
// CHECK-LABEL: mk.kernel @peers
mk.kernel @peers on @mesh (out %b : memref<64x128xbf16> [64, 128], out %c : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !tile
      %y = arith.constant dense<1.0> : tensor<64x64xbf16, #acc>
      // CHECK: mk_sm.store {{.*}} unrolled
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: stores 2 parts in sequence}}
      mk_sm.store %x, %b[%c0, %c0] through %staging : !tile, memref<64x128xbf16>, !mk_sm.staging<2>
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: stores 1 parts in sequence}}
      mk_sm.store %y, %c[%c0, %c0] through %staging : tensor<64x64xbf16, #acc>, memref<64x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// What is expensive is computed once, and unrolled whatever it takes.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<512x64xbf16, #acc>
// CHECK-LABEL: mk.kernel @expensive
mk.kernel @expensive on @mesh (in %a : memref<512x64xbf16> [512, 64], out %b : memref<512x64xbf16> [512, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<512x64xbf16> -> !tile
      // CHECK: mk_sm.store {{.*}} unrolled
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: stores 8 parts in sequence}}
      mk_sm.store %x, %b[%c0, %c0] through %staging : !tile, memref<512x64xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// So is what a store from registers, which has two ways, takes of a tile that is loaded.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xf32, #acc>
// CHECK-LABEL: mk.kernel @registers
// FEW-LABEL: mk.kernel @registers
mk.kernel @registers on @mesh (in %a : memref<64x64xf32> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x64xf32> -> !tile
      %y = arith.addf %x, %x : !tile
      // CHECK: %[[ONCE:.*]] = mk_sm.materialize %{{.*}} : tensor<64x64xf32
      // CHECK-NEXT: mk.store %[[ONCE]],
      // expected-remark @+1 {{mk-sm-unroll-stores: passed: computes its tile once, by 2 deferred ops, and not in each of its ways}}
      mk.store %y, %b[%c0, %c0] : !tile, memref<64x64xf32>
    }
  }
}
