// RUN: mk-opt %s -mk-sm-defer-reductions -canonicalize -cse -split-input-file | mk-opt -split-input-file | FileCheck %s
// RUN: mk-opt %S/../../Dialect/SM/attention.mlir -mk-sm-defer-reductions -mk-sm-overlap-dots -canonicalize -cse | FileCheck %s --check-prefix=DOTS

// Sums along rows that a loop carries are exchanged between lanes behind it.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
#row = #mk_sm.slice<axis = 1, of = #acc>
!tile = tensor<128x64xf32, #acc>
!row = tensor<128xf32, #row>

// CHECK-LABEL: mk.kernel @deferred
mk.kernel @deferred on @mesh dims(uniform N) (
    in %a : memref<?x64xf32> [N, 64], in %f : memref<?xf32> [N], out %s : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(232) {
      // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x8xf32,
      // CHECK-DAG: %[[EIGHTH:.*]] = arith.constant dense<1.250000e-01> : tensor<128xf32,
      %zero = arith.constant dense<0.0> : !row
      %start = mk.load %f[%c0] : memref<?xf32> -> !row
      // What a loop goes on from is spread over the columns.
      // CHECK: %[[START:.*]] = mk.load {{.*}} -> tensor<128xf32,
      // CHECK: %[[SHARE:.*]] = arith.mulf %[[START]], %[[EIGHTH]]
      // CHECK: %[[SHARES:.*]] = mk.broadcast %[[SHARE]] dims [1] : {{.*}} -> tensor<128x8xf32,
      // CHECK: %[[SUMS:.*]]:3 = scf.for {{.*}} iter_args(%[[L:.*]] = %[[ZERO]], %[[G:.*]] = %[[ZERO]], %[[H:.*]] = %[[SHARES]])
      %l, %g, %h = scf.for %i = %c0 to %N step %c1
          iter_args(%li = %zero, %gi = %zero, %hi = %start) -> (!row, !row, !row) {
        %x = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        %factor = mk.load %f[%i] : memref<?xf32> -> !row
        // CHECK: %[[FACTOR:.*]] = mk.load {{.*}} -> tensor<128xf32,
        // CHECK-NOT: mk.reduce
        // CHECK: %[[FACTORS:.*]] = mk.broadcast %[[FACTOR]] dims [1] : {{.*}} -> tensor<128x8xf32,
        // CHECK: %[[SCALED:.*]] = arith.mulf %[[L]], %[[FACTORS]] fastmath<contract>
        // CHECK: %[[PART:.*]] = mk_sm.partial_sum
        // CHECK: %[[NEXT:.*]] = arith.addf %[[SCALED]], %[[PART]]
        %scaled = arith.mulf %li, %factor fastmath<contract> : !row
        %sum = mk.reduce add %x axis 1 : !tile -> !row
        %next = arith.addf %scaled, %sum : !row
        // In any order, with no factor.
        // CHECK: arith.mulf
        // CHECK: %[[PART2:.*]] = mk_sm.partial_sum
        // CHECK: %[[NEXT2:.*]] = arith.addf %[[G]], %[[PART2]]
        %square = arith.mulf %x, %x : !tile
        %sum2 = mk.reduce add %square axis 1 : !tile -> !row
        %next2 = arith.addf %sum2, %gi : !row
        // CHECK: %[[PART3:.*]] = mk_sm.partial_sum
        // CHECK: %[[NEXT3:.*]] = arith.addf %[[H]], %[[PART3]]
        %fourth = arith.mulf %square, %square : !tile
        %sum3 = mk.reduce add %fourth axis 1 : !tile -> !row
        %next3 = arith.addf %hi, %sum3 : !row
        // CHECK: scf.yield %[[NEXT]], %[[NEXT2]], %[[NEXT3]]
        scf.yield %next, %next2, %next3 : !row, !row, !row
      }
      // CHECK-DAG: %[[R1:.*]] = mk.reduce add %[[SUMS]]#0 axis 1 : tensor<128x8xf32,
      // CHECK-DAG: %[[R2:.*]] = mk.reduce add %[[SUMS]]#1 axis 1
      // CHECK-DAG: mk.store %[[R1]],
      // CHECK-DAG: mk.store %[[R2]],
      // CHECK-DAG: %[[R3:.*]] = mk.reduce add %[[SUMS]]#2 axis 1
      // CHECK-DAG: mk.store %[[R3]],
      mk.store %l, %s[%c0] : !row, memref<?xf32>
      mk.store %g, %s[%c8] : !row, memref<?xf32>
      mk.store %h, %s[%c1] : !row, memref<?xf32>
    }
  }
}

// -----

// What the loop sees itself stays: the sum carried, the reduction, the product; and so do
// maxima and columns.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
#row = #mk_sm.slice<axis = 1, of = #acc>
#column = #mk_sm.slice<axis = 0, of = #acc>
!tile = tensor<128x64xf32, #acc>
!row = tensor<128xf32, #row>
!column = tensor<64xf32, #column>

// CHECK-LABEL: mk.kernel @seen
// CHECK-NOT: partial_sum
mk.kernel @seen on @mesh dims(uniform N) (
    in %a : memref<?x64xf32> [N, 64], in %f : memref<?xf32> [N], out %s : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(232) {
      %zero = arith.constant dense<0.0> : !row
      %none = arith.constant dense<0.0> : !column
      %r:5 = scf.for %i = %c0 to %N step %c1
          iter_args(%p = %zero, %q = %zero, %t = %zero, %m = %zero, %k = %none) -> (!row, !row, !row, !row, !column) {
        %x = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        // The carried one.
        %sum = mk.reduce add %x axis 1 : !tile -> !row
        %pn = arith.addf %p, %sum : !row
        mk.store %p, %s[%i] : !row, memref<?xf32>
        // The reduction.
        %y = arith.mulf %x, %x : !tile
        %sum2 = mk.reduce add %y axis 1 : !tile -> !row
        %qn = arith.addf %q, %sum2 : !row
        mk.store %sum2, %s[%i] : !row, memref<?xf32>
        // The new value.
        %z = arith.addf %x, %y : !tile
        %sum3 = mk.reduce add %z axis 1 : !tile -> !row
        %tn = arith.addf %t, %sum3 : !row
        mk.store %tn, %s[%i] : !row, memref<?xf32>
        // Not a sum.
        %top = mk.reduce max %x axis 1 : !tile -> !row
        %mn = arith.addf %m, %top : !row
        // Not along rows.
        %down = mk.reduce add %x axis 0 : !tile -> !column
        %kn = arith.addf %k, %down : !column
        scf.yield %pn, %qn, %tn, %mn, %kn : !row, !row, !row, !row, !column
      }
      mk.store %r#0, %s[%c0] : !row, memref<?xf32>
      mk.store %r#1, %s[%c0] : !row, memref<?xf32>
      mk.store %r#2, %s[%c0] : !row, memref<?xf32>
      mk.store %r#3, %s[%c0] : !row, memref<?xf32>
      mk.store %r#4, %s[%c0] : !column, memref<?xf32>
    }
  }
}

// -----

// A thread has no part of a row of a tile that is dealt out in runs: the tile is carried whole.
mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
#dealt = #mk_sm.blocked<threads = 256, vector = 2>
!row = tensor<128xf32, #mk_sm.slice<axis = 1, of = #acc>>
!tile = tensor<128x4xf32, #dealt>
// CHECK-LABEL: mk.kernel @runs
// CHECK-NOT: mk_sm.partial_sum
// CHECK: scf.yield %{{.*}} : tensor<128x4xf32
// CHECK: mk.reduce add
// CHECK-NOT: mk_sm.partial_sum
mk.kernel @runs on @mesh dims(uniform N) (in %a : memref<?x4xf32> [N, 4], out %s : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(232) {
      %zero = arith.constant dense<0.0> : !row
      %sum = scf.for %i = %c0 to %N step %c1 iter_args(%l = %zero) -> (!row) {
        %x = mk.load %a[%i, %c0] : memref<?x4xf32> -> !tile
        %part = mk.reduce add %x axis 1 : !tile -> !row
        %next = arith.addf %l, %part : !row
        scf.yield %next : !row
      }
      mk.store %sum, %s[%c0] : !row, memref<?xf32>
    }
  }
}

// The loop is peeled around what it carries then; the exchange stands behind all of it.

// DOTS: mk_sm.partition consumer
// DOTS: %[[STATE:.*]]:3 = scf.if
// DOTS-NOT: mk.reduce add
// DOTS: mk_sm.partial_sum
// DOTS-NOT: mk.reduce add
// DOTS: scf.for
// DOTS-NOT: mk.reduce add
// DOTS: mk_sm.partial_sum
// DOTS-NOT: mk.reduce add
// DOTS: else
// DOTS: mk.reduce add %[[STATE]]#2 axis 1 : tensor<128x8xf32,

// -----

// Tiles that are dealt out are carried themselves: sums and maxima along any axis.

mk.mesh @mesh (gpu = 1 via link)
#dealt = #mk_sm.blocked<threads = 128, vector = 4>
#row = #mk_sm.blocked<threads = 128, vector = 1>
!tile = tensor<16x64xf32, #dealt>
!row = tensor<16xf32, #row>
!column = tensor<64xf32, #row>

// CHECK-LABEL: mk.kernel @dealt
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x64xf32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<16x64xf32
// CHECK: %[[START:.*]] = mk.load %f
// CHECK: %[[P:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[M:.*]] = %[[LEAST]])
// CHECK-NOT: mk.reduce
// CHECK: arith.addf %[[S]],
// CHECK: arith.maximumf %[[M]],
// CHECK: scf.yield
// CHECK-DAG: %[[SUM:.*]] = mk.reduce add %[[P]]#0 axis 1
// CHECK-DAG: arith.addf %[[START]], %[[SUM]]
// CHECK-DAG: %[[MOST:.*]] = mk.reduce max %[[P]]#1 axis 0
// CHECK-DAG: arith.maximumf %[[MOST]],
mk.kernel @dealt on @mesh dims(uniform N) (in %a : memref<?x64xf32> [N, 64], in %f : memref<?xf32> [N],
    out %s : memref<?xf32> [N], out %m : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(232) {
      %least = arith.constant dense<-4.0> : !column
      %start = mk.load %f[%c0] : memref<?xf32> -> !row
      %l, %g = scf.for %i = %c0 to %N step %c1 iter_args(%li = %start, %gi = %least) -> (!row, !column) {
        %x = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        %r = mk.reduce add %x axis 1 : !tile -> !row
        %q = mk.reduce max %x axis 0 : !tile -> !column
        %ln = arith.addf %li, %r : !row
        %gn = arith.maximumf %q, %gi : !column
        scf.yield %ln, %gn : !row, !column
      }
      mk.store %l, %s[%c0] : !row, memref<?xf32>
      mk.store %g, %m[%c0] : !column, memref<?xf32>
    }
  }
}

// -----

// Beside products what a thread has of each sum is carried, if that takes no more registers than the sums do.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#dealt = #mk_sm.blocked<threads = 128, vector = 8>
#column = #mk_sm.slice<axis = 0, of = #acc>
!ring = !mk_sm.ring<4, tensor<64x64xbf16>, tensor<64x128xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64x128xbf16>>
!sums = tensor<128xf32, #column>
!tile = tensor<16x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>
!row = tensor<16xf32, #mk_sm.blocked<threads = 128, vector = 1>>
!acc = tensor<64x128xf32, #acc>

// CHECK-LABEL: mk.kernel @beside_products
// CHECK: %[[P:.*]]:3 = scf.for {{.*}} -> (tensor<64x128xf32, {{.*}}>, tensor<8x128xf32, #mk_sm.blocked<threads = 128, vector = 8>>, tensor<128xf32, {{.*}}>)
// CHECK-DAG: %[[PART:.*]] = mk_sm.partial_sum %{{.*}} axis 0 : tensor<64x128xf32,
// CHECK-DAG: arith.addf %{{.*}}, %[[PART]] : tensor<8x128xf32,
// Of maxima there is no part: the tile has twice the registers.
// CHECK-DAG: mk.reduce max
// CHECK: scf.yield
// CHECK: %[[SUMS:.*]] = mk.reduce add %[[P]]#1 axis 0 : tensor<8x128xf32,
// A loop of the same role without products carries the tile.
// CHECK: %[[T:.*]] = scf.for {{.*}} -> (tensor<16x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>)
// CHECK-NOT: mk.reduce
// CHECK: scf.yield
// CHECK: mk.reduce max %[[T]] axis 1
// CHECK: mk.store %[[SUMS]], %s
mk.kernel @beside_products on @mesh dims(uniform N) (in %a : memref<?x64xf32> [N, 64], out %f : memref<?xf32> [N], out %s : memref<128xf32> [128], out %m : memref<128xf32> [128],
    out %c : memref<64x128xf32> [64, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !acc
  %none = arith.constant dense<0.0> : !sums
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(232) {
      %x, %l, %g = scf.for %i = %c0 to %N step %c1 iter_args(%xi = %zero, %li = %none, %gi = %none) -> (!acc, !sums, !sums) {
        %slot = mk_sm.wait %ring : !ring -> !slot
        %l0 = mk_sm.tile %slot[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
        %b = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64x128xbf16>>
        %next = mk_sm.mma %l0, %b, %xi : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<64x128xbf16>>, !acc
        %read = mk_sm.read %b : !mk_sm.staged<tensor<64x128xbf16>> -> tensor<64x128xbf16, #dealt>
        %wide = arith.extf %read : tensor<64x128xbf16, #dealt> to tensor<64x128xf32, #dealt>
        %sum = mk.reduce add %wide axis 0 : tensor<64x128xf32, #dealt> -> !sums
        %most = mk.reduce max %wide axis 0 : tensor<64x128xf32, #dealt> -> !sums
        %ln = arith.addf %li, %sum : !sums
        %gn = arith.maximumf %gi, %most : !sums
        %done = mk_sm.mma_wait 0, %next : !acc
        mk_sm.release %ring read : !ring
        scf.yield %done, %ln, %gn : !acc, !sums, !sums
      }
      %least = arith.constant dense<-4.0> : !row
      %h = scf.for %i = %c0 to %N step %c1 iter_args(%hi = %least) -> (!row) {
        %y = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        %q = mk.reduce max %y axis 1 : !tile -> !row
        %hn = arith.maximumf %hi, %q : !row
        scf.yield %hn : !row
      }
      mk.store %h, %f[%c0] : !row, memref<?xf32>
      mk.store %l, %s[%c0] : !sums, memref<128xf32>
      mk.store %g, %m[%c0] : !sums, memref<128xf32>
      mk.store %x, %c[%c0, %c0] : !acc, memref<64x128xf32>
    }
  }
}
