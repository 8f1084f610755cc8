// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=1 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// A thread has 4 adjacent elements of a row. They go together where addresses
// allow it, else one by one. What has waited for the store is computed once, in front of
// both ways.

#dealt = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-COUNT-4: llvm.intr.fabs
// CHECK-NOT: llvm.intr.fabs
// CHECK: scf.if %{{.*}} {
// CHECK: mk_thread.store {{.*}} : i64 bytes(16)
// CHECK: } else {
// CHECK-COUNT-4: mk_thread.store {{.*}} : i64 bytes(4)
// CHECK: }
// CHECK-NOT: llvm.intr.fabs
mk.kernel @dear on @mesh (in %a : memref<64x8xf32> [64, 8], out %b : memref<64x8xf32> [64, 8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #dealt>
      %0 = arith.negf %x : tensor<64x8xf32, #dealt>
      %1 = arith.mulf %0, %0 : tensor<64x8xf32, #dealt>
      %2 = arith.addf %0, %1 : tensor<64x8xf32, #dealt>
      %3 = math.absf %2 : tensor<64x8xf32, #dealt>
      mk.store %3, %b[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
    }
  }
}

// -----

// Few ops on what is there are computed for each way: their results would live across the
// choice.

#dealt = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.store {{.*}} : i64 bytes(16)
// CHECK: } else {
// CHECK: arith.negf
// CHECK: mk_thread.store {{.*}} : i64 bytes(4)
mk.kernel @cheap on @mesh (in %a : memref<64x8xf32> [64, 8], out %b : memref<64x8xf32> [64, 8],
                           out %c : memref<64x8xf32> [64, 8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #dealt>
      %y = arith.negf %x : tensor<64x8xf32, #dealt>
      mk.store %y, %b[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
      mk.store %x, %c[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
    }
  }
}

// -----

// A tile that waits to be loaded has two ways itself, and is loaded once.

#dealt = #mk_sm.blocked<threads = 128, vector = 4>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.load %{{.*}}, 16 {{.*}}: i64 -> i32, i32, i32, i32
// CHECK: } else {
// CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 {{.*}}: i64 -> i32
// CHECK-COUNT-4: arith.negf
// CHECK: mk_thread.store {{.*}} : i64 bytes(16)
// CHECK: } else {
// CHECK-NOT: mk_thread.load {{.*}}: i64 ->
// CHECK-NOT: arith.negf
mk.kernel @loaded on @mesh (in %a : memref<64x8xf32> [64, 8], out %b : memref<64x8xf32> [64, 8]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x8xf32> -> tensor<64x8xf32, #dealt>
      %y = arith.negf %x : tensor<64x8xf32, #dealt>
      mk.store %y, %b[%c0, %c0] : tensor<64x8xf32, #dealt>, memref<64x8xf32>
    }
  }
}

// -----

// Through the copy engine: 64 rows of 128 bytes are computed once and put into a buffer, from
// where they leave by the engine or, where it cannot, by all threads: 16 bytes at a time, a word at
// a time or element by element. These commit an empty group, since the wait for a buffer counts
// groups.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.wait_group 1 read
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK: mk_thread.fence_async
// CHECK: scf.if %[[USABLE:.*]] {
// CHECK: mk_thread.store_tensor {{.*}}] :
// CHECK: mk_thread.commit_group
// CHECK: } else {
// CHECK-NOT: mk_thread.store_tensor
// CHECK: mk_thread.commit_group
// CHECK: scf.if
// CHECK: scf.for
// CHECK: mk_thread.load %{{.*}}, 16 : i32 -> i32, i32, i32, i32
// CHECK: mk_thread.store {{.*}} : i64 bytes(16)
// CHECK: llvm.loop_annotation
// CHECK: scf.for
// CHECK: mk_thread.store {{.*}} : i64 bytes(4)
// CHECK: llvm.loop_annotation
// CHECK: scf.for
// CHECK-COUNT-2: mk_thread.store {{.*}} : i64 bytes(2)
// CHECK: llvm.loop_annotation
// The second part.
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK-COUNT-8: arith.mulf
// CHECK: mk_thread.stmatrix
// CHECK: mk_thread.fence_async
// CHECK: scf.if %[[USABLE]] {
// CHECK-NOT: arith.mulf
mk.kernel @staged on @mesh (in %a : memref<64x128xbf16> [64, 128], out %b : memref<64x128xbf16> [64, 128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x128xbf16> -> tensor<64x128xbf16, #acc>
      %y = arith.mulf %x, %x : tensor<64x128xbf16, #acc>
      mk_sm.store %y, %b[%c0, %c0] through %staging : tensor<64x128xbf16, #acc>, memref<64x128xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// What is added is added one by one.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: mk_thread.store_tensor {{.*}} add :
// CHECK: } else {
// CHECK: scf.for
// CHECK: mk_thread.store {{.*}} add(f32, gpu)
// CHECK-NOT: mk_thread.store {{.*}} : i64 bytes(
// CHECK-NOT: mk_thread.store {{.*}} add(f32, gpu)
mk.kernel @added on @mesh (in %a : memref<64x32xf32> [64, 32], out %b : memref<64x32xf32> [64, 32]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32, #acc>
      mk_sm.store %x, %b[%c0, %c0] add through %staging : tensor<64x32xf32, #acc>, memref<64x32xf32>, !mk_sm.staging<2>
    }
  }
}

// -----

// In a kernel with several stores the parts of each go through one loop, in which only the
// part is chosen that is put into the buffer, by the bits of its number.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: %[[PARTS:.*]] = arith.constant 3 : i32
// CHECK: scf.for %[[PART:.*]] = %{{.*}} to %[[PARTS]]
// CHECK: mk_thread.thread_id
// CHECK: %[[HIGH:.*]] = arith.andi %[[PART]]
// CHECK: %[[LOW:.*]] = arith.cmpi eq, %[[HIGH]]
// CHECK: scf.if %[[LOW]] {
// CHECK: scf.if
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: } else {
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: } else {
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK-NOT: mk_thread.stmatrix
// CHECK: mk_thread.fence_async
// CHECK: mk_thread.store_tensor {{.*}}] :
// CHECK-NOT: mk_thread.store_tensor
// CHECK: llvm.loop_annotation
// CHECK: scf.for
// CHECK: mk_thread.store_tensor {{.*}}] :
// CHECK-NOT: mk_thread.store_tensor
mk.kernel @twice on @mesh (in %a : memref<64x192xbf16> [64, 192], out %b : memref<64x192xbf16> [64, 192],
                           out %c : memref<64x192xbf16> [64, 192]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x192xbf16> -> tensor<64x192xbf16, #acc>
      mk_sm.store %x, %b[%c0, %c0] through %staging : tensor<64x192xbf16, #acc>, memref<64x192xbf16>, !mk_sm.staging<2>
      mk_sm.store %x, %c[%c0, %c0] through %staging : tensor<64x192xbf16, #acc>, memref<64x192xbf16>, !mk_sm.staging<2>
    }
  }
}

// -----

// What waits to be loaded is loaded for a part where it is chosen.

#acc = #mk_sm.mma<warpgroups = 1>
#columns = #mk_sm.slice<axis = 0, of = #acc>
mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.if
// CHECK: mk_thread.load {{.*}}: i64 ->
// CHECK: arith.addf
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: } else {
// CHECK: mk_thread.load {{.*}}: i64 ->
// CHECK: arith.addf
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: } else {
// CHECK: mk_thread.load {{.*}}: i64 ->
// CHECK: arith.addf
// CHECK-COUNT-4: mk_thread.stmatrix
// CHECK: mk_thread.fence_async
// CHECK: mk_thread.store_tensor {{.*}}] :
mk.kernel @biased on @mesh (in %a : memref<64x192xbf16> [64, 192], in %bias : memref<192xbf16> [192],
                            out %b : memref<64x192xbf16> [64, 192], out %c : memref<64x192xbf16> [64, 192]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x192xbf16> -> tensor<64x192xbf16, #acc>
      %v = mk.load %bias[%c0] : memref<192xbf16> -> tensor<192xbf16, #columns>
      %w = mk.broadcast %v dims [0] : tensor<192xbf16, #columns> -> tensor<64x192xbf16, #acc>
      %y = arith.addf %x, %w : tensor<64x192xbf16, #acc>
      mk_sm.store %y, %b[%c0, %c0] through %staging : tensor<64x192xbf16, #acc>, memref<64x192xbf16>, !mk_sm.staging<2>
      mk_sm.store %x, %c[%c0, %c0] through %staging : tensor<64x192xbf16, #acc>, memref<64x192xbf16>, !mk_sm.staging<2>
    }
  }
}
