// RUN: mk-opt %s -mk-sm-split-roles -mk-sm-choose-stores -canonicalize -cse -split-input-file | FileCheck %s
// RUN: mk-opt %s -mk-sm-split-roles -split-input-file --remarks=split-roles -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// A product whose transpose is worked on: nothing moves. Loads, masks and elementwise ops follow; what is reduced or
// spread out goes along the other dimension of what the threads hold.
// SAID-NOT: moves elements
// CHECK-LABEL: mk.role @epilogue
// CHECK: mk_sm.partition consumer warps(8)
// CHECK: mk_sm.mma {{.*}} tensor<128x16xf32, #mk_sm.mma<warpgroups = 2>>
// CHECK: %[[T:.*]] = mk.transpose %{{.*}} : tensor<128x16xf32, #mk_sm.mma<warpgroups = 2>> -> tensor<16x128xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: %[[BIAS:.*]] = mk.load %bias[%c0] : memref<128xf32> -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: %[[SPREAD:.*]] = mk.broadcast %[[BIAS]] dims [1] : {{.*}} -> tensor<128x16xf32, #mk_sm.mma<warpgroups = 2>>
// CHECK: %[[ROWS:.*]] = mk.transpose %[[SPREAD]] : {{.*}} -> tensor<16x128xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: mk.load %r{{.*}} -> tensor<16x128xbf16, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: arith.addf %[[T]], %[[ROWS]]
// CHECK: mk_sm.store {{.*}} : tensor<16x128xbf16, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: %[[BACK:.*]] = mk.transpose %{{.*}} : {{.*}} -> tensor<128x16xf32, #mk_sm.mma<warpgroups = 2>>
// CHECK: mk.reduce max %[[BACK]] axis 0 : {{.*}} -> tensor<16xf32, #mk_sm.slice<axis = 0, of = #mk_sm.mma<warpgroups = 2>>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @epilogue on @mesh (
    in %a : memref<16x64xbf16> [16, 64], in %b : memref<128x64xbf16> [128, 64],
    in %bias : memref<128xf32> [128], in %r : memref<16x128xbf16> [16, 128],
    out %c : memref<16x128xbf16> [16, 128], out %most : memref<16xf32> [16]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x16xf32>
  mk.role @epilogue ctas(1) {
    %y = mk.load %b[%c0, %c0] : memref<128x64xbf16> -> tensor<128x64xbf16>
    %x = mk.load %a[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    %d = mk.dot %y, %x, %zero transpose_b : tensor<128x64xbf16>, tensor<16x64xbf16>, tensor<128x16xf32>
    %t = mk.transpose %d : tensor<128x16xf32> -> tensor<16x128xf32>
    %row = mk.load %bias[%c0] : memref<128xf32> -> tensor<128xf32>
    %rows = mk.broadcast %row dims [0] : tensor<128xf32> -> tensor<16x128xf32>
    %residual = mk.load %r[%c0, %c0] : memref<16x128xbf16> -> tensor<16x128xbf16>
    %wide = arith.extf %residual : tensor<16x128xbf16> to tensor<16x128xf32>
    %0 = arith.addf %t, %rows : tensor<16x128xf32>
    %1 = arith.addf %0, %wide : tensor<16x128xf32>
    %2 = arith.truncf %1 : tensor<16x128xf32> to tensor<16x128xbf16>
    mk.store %2, %c[%c0, %c0] : tensor<16x128xbf16>, memref<16x128xbf16>
    %m = mk.reduce max %1 axis 1 : tensor<16x128xf32> -> tensor<16xf32>
    mk.store %m, %most[%c0] : tensor<16xf32>, memref<16xf32>
  }
}

// -----

// Of 32 bits: each thread stores what it holds. Of 16 any number of rows goes through shared memory.
// CHECK-LABEL: mk.role @direct
// CHECK: mk.store {{.*}} : tensor<72x64xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>
// CHECK: mk_sm.store {{.*}} : tensor<72x64xbf16, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 1>>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @direct on @mesh (
    in %a : memref<72x64xbf16> [72, 64], in %b : memref<64x64xbf16> [64, 64],
    out %c : memref<72x64xf32> [72, 64], out %d : memref<72x64xbf16> [72, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x72xf32>
  mk.role @direct ctas(1) {
    %y = mk.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %x = mk.load %a[%c0, %c0] : memref<72x64xbf16> -> tensor<72x64xbf16>
    %s = mk.dot %y, %x, %zero transpose_b : tensor<64x64xbf16>, tensor<72x64xbf16>, tensor<64x72xf32>
    %t = mk.transpose %s : tensor<64x72xf32> -> tensor<72x64xf32>
    mk.store %t, %c[%c0, %c0] : tensor<72x64xf32>, memref<72x64xf32>
    %n = arith.truncf %t : tensor<72x64xf32> to tensor<72x64xbf16>
    mk.store %n, %d[%c0, %c0] : tensor<72x64xbf16>, memref<72x64xbf16>
  }
}

// -----

// What no product gives, or two products have in common: elements change threads.
// SAID: moves elements between threads, from {{.*}}blocked{{.*}} to {{.*}}blocked
// CHECK-LABEL: mk.role @plain
// CHECK: mk.transpose %{{.*}} : tensor<32x64xf32, #mk_sm.blocked<threads = 256, vector = 4>> -> tensor<64x32xf32, #mk_sm.blocked<threads = 256, vector = 4>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @plain on @mesh (in %a : memref<32x64xf32> [32, 64], out %b : memref<64x32xf32> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @plain ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<32x64xf32> -> tensor<32x64xf32>
    %y = mk.transpose %x : tensor<32x64xf32> -> tensor<64x32xf32>
    mk.store %y, %b[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32>
  }
}

// -----

// SAID: moves elements between threads, from {{.*}}mma{{.*}} to {{.*}}mma
// CHECK-LABEL: mk.role @both
// CHECK: mk.transpose %{{.*}} : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>> -> tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @both on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @both ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
    %d = mk.dot %x, %x, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %t = mk.transpose %d : tensor<64x64xf32> -> tensor<64x64xf32>
    %e = mk.dot %x, %x, %t transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %e, %b[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}
