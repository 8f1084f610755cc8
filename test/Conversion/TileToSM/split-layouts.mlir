// RUN: mk-opt %s -mk-sm-split-roles -mk-sm-choose-stores -canonicalize -cse -split-input-file | FileCheck %s

// An epilogue: a row vector, a column vector, a residual tile. Each is loaded with
// the layout that its user wants; the tile that only dots read is staged.
// CHECK-LABEL: mk.role @epilogue
// CHECK: mk_sm.partition producer
// CHECK: mk_sm.copy %a
// CHECK: mk_sm.copy %b
// CHECK-NOT: mk_sm.copy
// CHECK: mk_sm.partition consumer warps(8)
// CHECK: mk_sm.mma
// CHECK: mk.load %bias[%c0] : memref<128xf32> -> tensor<128xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: mk.load %scale[%c0] : memref<128xf32> -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: mk.load %r{{.*}} -> tensor<128x128xbf16, #mk_sm.mma<warpgroups = 2>>
// CHECK: arith.extf {{.*}} to tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
// CHECK: mk.store {{.*}} : tensor<128x128xf8E4M3FN, #mk_sm.mma<warpgroups = 2>>
// CHECK: mk_sm.store {{.*}} : tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @epilogue on @mesh (
    in %a : memref<128x64xf16> [128, 64], in %b : memref<64x128xf16> [64, 128],
    in %bias : memref<128xf32> [128], in %scale : memref<128xf32> [128],
    in %r : memref<128x128xbf16> [128, 128],
    out %c8 : memref<128x128xf8E4M3FN> [128, 128], out %c : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @epilogue ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<128x64xf16> -> tensor<128x64xf16>
    %y = mk.load %b[%c0, %c0] : memref<64x128xf16> -> tensor<64x128xf16>
    %d = mk.dot %x, %y, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    %row = mk.load %bias[%c0] : memref<128xf32> -> tensor<128xf32>
    %column = mk.load %scale[%c0] : memref<128xf32> -> tensor<128xf32>
    %rows = mk.broadcast %row dims [0] : tensor<128xf32> -> tensor<128x128xf32>
    %columns = mk.broadcast %column dims [1] : tensor<128xf32> -> tensor<128x128xf32>
    %residual = mk.load %r[%c0, %c0] : memref<128x128xbf16> -> tensor<128x128xbf16>
    %wide = arith.extf %residual : tensor<128x128xbf16> to tensor<128x128xf32>
    %0 = arith.mulf %d, %columns : tensor<128x128xf32>
    %1 = arith.addf %0, %rows : tensor<128x128xf32>
    %2 = arith.addf %1, %wide : tensor<128x128xf32>
    %3 = arith.truncf %2 : tensor<128x128xf32> to tensor<128x128xf8E4M3FN>
    mk.store %3, %c8[%c0, %c0] : tensor<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN>
    mk.store %2, %c[%c0, %c0] : tensor<128x128xf32>, memref<128x128xf32>
  }
}

// -----

// A sum over rows that is used along rows: the same values in other threads.
// CHECK-LABEL: mk.role @convert
// CHECK: %[[S:.*]] = mk.reduce add %[[D:.*]] axis 0 : tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>> -> tensor<128xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK-NEXT: %[[T:.*]] = mk_sm.convert_layout %[[S]] : {{.*}} -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK-NEXT: mk.broadcast %[[T]] dims [1]
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @convert on @mesh (
    in %a : memref<128x64xf16> [128, 64], in %b : memref<64x128xf16> [64, 128],
    out %c : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @convert ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<128x64xf16> -> tensor<128x64xf16>
    %y = mk.load %b[%c0, %c0] : memref<64x128xf16> -> tensor<64x128xf16>
    %d = mk.dot %x, %y, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    %sum = mk.reduce add %d axis 0 : tensor<128x128xf32> -> tensor<128xf32>
    %columns = mk.broadcast %sum dims [1] : tensor<128xf32> -> tensor<128x128xf32>
    %0 = arith.mulf %d, %columns : tensor<128x128xf32>
    mk.store %0, %c[%c0, %c0] : tensor<128x128xf32>, memref<128x128xf32>
  }
}

// -----

// No dots: runs of 16 bytes of the narrowest tile, dealt out to all threads of a kernel
// whose other roles want two warpgroups. There is nothing to fetch ahead.
// CHECK-LABEL: mk.role @reduce
// CHECK-NEXT: mk_sm.partition consumer warps(8) registers(232)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<64x256xf32, #mk_sm.blocked<threads = 256, vector = 8>>)
// CHECK: mk.load {{.*}} -> tensor<64x256xbf16, #mk_sm.blocked<threads = 256, vector = 8>>
// CHECK: mk.store {{.*}} tensor<64x256xf32, #mk_sm.blocked<threads = 256, vector = 8>>
// Fewer elements than that: a shorter run, so that no thread is idle.
// CHECK: mk.load {{.*}} -> tensor<1x512xf32, #mk_sm.blocked<threads = 256, vector = 2>>
// CHECK: mk.store {{.*}} tensor<1x512xf32, #mk_sm.blocked<threads = 256, vector = 2>>
// CHECK: mk.store {{.*}} tensor<8xf32, #mk_sm.blocked<threads = 256, vector = 1>>
// CHECK-NOT: mk_sm.partition
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @reduce on @mesh dims(uniform N) (
    in %a : memref<?x64x256xbf16> [N, 64, 256], in %v : memref<1x512xf32> [1, 512],
    out %c : memref<64x256xf32> [64, 256], out %w : memref<1x512xf32> [1, 512],
    out %z : memref<8xf32> [8]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %few = arith.constant dense<0.0> : tensor<8xf32>
  mk.role @reduce ctas(1) {
    %sum = scf.for %i = %c0 to %N step %c1 iter_args(%s = %zero) -> (tensor<64x256xf32>) {
      %x = mk.load %a[%i, %c0, %c0] : memref<?x64x256xbf16> -> tensor<64x256xbf16>
      %wide = arith.extf %x : tensor<64x256xbf16> to tensor<64x256xf32>
      %t = arith.addf %s, %wide : tensor<64x256xf32>
      scf.yield %t : tensor<64x256xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<64x256xf32>, memref<64x256xf32>
    %y = mk.load %v[%c0, %c0] : memref<1x512xf32> -> tensor<1x512xf32>
    %y2 = arith.mulf %y, %y : tensor<1x512xf32>
    mk.store %y2, %w[%c0, %c0] : tensor<1x512xf32>, memref<1x512xf32>
    mk.store %few, %z[%c0] : tensor<8xf32>, memref<8xf32>
  }
}

// -----

// 64 rows are one warpgroup; a role beside it takes as many.
// CHECK-LABEL: mk.role @narrow
// CHECK: mk_sm.partition producer warps(1) registers(56)
// CHECK: mk_sm.partition consumer warps(4) registers(240)
// CHECK: mk_sm.mma {{.*}} tensor<64x128xf32, #mk_sm.mma<warpgroups = 1>>
// CHECK-LABEL: mk.role @other
// CHECK-NEXT: mk_sm.partition consumer warps(4) registers(240)
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @narrow on @mesh (
    in %a : memref<64x64xf16> [64, 64], in %b : memref<64x128xf16> [64, 128],
    out %c : memref<64x128xf32> [64, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  mk.role @narrow ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xf16> -> tensor<64x64xf16>
    %y = mk.load %b[%c0, %c0] : memref<64x128xf16> -> tensor<64x128xf16>
    %d = mk.dot %x, %y, %zero : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    mk.store %d, %c[%c0, %c0] : tensor<64x128xf32>, memref<64x128xf32>
  }
  mk.role @other ctas(1) {
    mk.store %zero, %c[%c0, %c0] : tensor<64x128xf32>, memref<64x128xf32>
  }
}

// -----

// Row statistics kept as a column, or repeated to a width that accumulators do not have, are dealt out.
// CHECK-LABEL: mk.role @statistics
// CHECK: %[[S:.*]] = mk.reduce max {{.*}} -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK-NEXT: mk.broadcast %[[S]] dims [1] : {{.*}} -> tensor<128x1xf32, #mk_sm.blocked<threads = 256, vector = 1>>
// CHECK: mk.broadcast %[[S]] dims [1] : {{.*}} -> tensor<128x12xf32, #mk_sm.blocked<threads = 256, vector = {{[124]}}>>
// Of a slice there is no slice.
// CHECK: %[[T:.*]] = mk_sm.convert_layout %[[S]] : {{.*}} -> tensor<128xf32, #mk_sm.blocked<threads = 256, vector = 1>>
// CHECK-NEXT: mk.reduce add %[[T]] axis 0 : {{.*}} -> tensor<f32, #mk_sm.blocked<threads = 256, vector = 1>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @statistics on @mesh (
    in %a : memref<128x64xf16> [128, 64], out %c : memref<128x1xf32> [128, 1], out %d : memref<128x12xf32> [128, 12],
    out %e : memref<f32> []) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  mk.role @statistics ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<128x64xf16> -> tensor<128x64xf16>
    %s = mk.dot %x, %x, %zero transpose_b : tensor<128x64xf16>, tensor<128x64xf16>, tensor<128x128xf32>
    %m = mk.reduce max %s axis 1 : tensor<128x128xf32> -> tensor<128xf32>
    %0 = mk.broadcast %m dims [1] : tensor<128xf32> -> tensor<128x1xf32>
    mk.store %0, %c[%c0, %c0] : tensor<128x1xf32>, memref<128x1xf32>
    %1 = mk.broadcast %m dims [1] : tensor<128xf32> -> tensor<128x12xf32>
    mk.store %1, %d[%c0, %c0] : tensor<128x12xf32>, memref<128x12xf32>
    %2 = mk.reduce add %m axis 0 : tensor<128xf32> -> tensor<f32>
    mk.store %2, %e[] : tensor<f32>, memref<f32>
  }
}

// -----

// Rows of a length that is no multiple of 16 bytes begin anywhere: threads have as many neighbours as these allow, where most accesses are such.
// CHECK-LABEL: mk.role @odd
// CHECK: mk.load %x{{.*}} -> tensor<8x512xbf16, #mk_sm.blocked<threads = 256, vector = 1>>
// CHECK: mk.load %z{{.*}} -> tensor<8x512xbf16, #mk_sm.blocked<threads = 256, vector = 2>>
// CHECK: mk.load %w{{.*}} -> tensor<8x512xbf16, #mk_sm.blocked<threads = 256, vector = 8>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @rows on @mesh dims(uniform M, uniform N = 1025, uniform K = 1026, uniform L = 1032) (
    in %x : memref<?x?xbf16> [M, N], out %y : memref<?x?xbf16> [M, N], in %z : memref<?x?xbf16> [M, K], out %u : memref<?x?xbf16> [M, K],
    in %w : memref<?x?xbf16> [M, L], out %v : memref<?x?xbf16> [M, N]) {
  %c0 = arith.constant 0 : index
  mk.role @odd ctas(1) {
    %a = mk.load %x[%c0, %c0] : memref<?x?xbf16> -> tensor<8x512xbf16>
    mk.store %a, %y[%c0, %c0] : tensor<8x512xbf16>, memref<?x?xbf16>
    %b = mk.load %z[%c0, %c0] : memref<?x?xbf16> -> tensor<8x512xbf16>
    mk.store %b, %u[%c0, %c0] : tensor<8x512xbf16>, memref<?x?xbf16>
    %c = mk.load %w[%c0, %c0] : memref<?x?xbf16> -> tensor<8x512xbf16>
    mk.store %c, %v[%c0, %c0] : tensor<8x512xbf16>, memref<?x?xbf16>
  }
}
