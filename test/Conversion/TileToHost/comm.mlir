// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host --canonicalize --cse | FileCheck %s

mk.mesh @mesh (node = 2 via net, gpu = 2 via link)

// CHECK-DAG: func.func private @mkrt_put(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i32, i64, i32)
// CHECK-DAG: func.func private @mkrt_put_rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i64, !llvm.ptr, i64, i64, i64, i64, i32, i64, i32)
// CHECK-DAG: func.func private @mkrt_store(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i32, i64, i32)

// CHECK-LABEL: func @mk_role_0
mk.kernel @comm on @mesh dims(uniform M) (
    in %a : memref<?x64xbf16, #mk.symmetric> [M, 64],
    scratch %b : memref<?x64xbf16, #mk.symmetric> [M, 64],
    scratch %d : memref<?x64xf32, #mk.symmetric> [M, 64],
    in %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %minus = arith.constant -1 : i32
  %s = mk.signals(%M, %c4) : !mk.signal<?x?, sys, dynamic>
  %n = mk.counters(%c4) : !mk.counter<?>
  mk.role @r ctas(1) {
    %p = mk.rank(gpu = %c1)
    // bf16 is type 4; no signal is -1.
    // CHECK: call @mkrt_put(%arg0, %{{.*}}, %{{.*}}, %c4_i32, %c2_i32, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c-1_i32, %c0_i64, %c0_i32)
    mk.put %a[%c0, %c0][%c4, %c64] to %b[%c4, %c0] on %p
        : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>
    // Strong: flag 1.
    // CHECK: call @mkrt_put_rows(%arg0, %{{.*}}, %{{.*}}, %c4_i32, %{{.*}}, %c0_i32, %{{.*}}, %c1_i32)
    %rows = mk.load %list[%c0] pad(%minus : i32) : memref<?xi32> -> tensor<32xi32>
    mk.put %a[%c0, %c0][%c4, %c64] rows(%rows : tensor<32xi32>) to %b[%c4, %c0] on %p signal strong %s[%c1, %c0]
        : memref<?x64xbf16, #mk.symmetric> to memref<?x64xbf16, #mk.symmetric>, !mk.signal<?x?, sys, dynamic>
    // Add: flag 2. It names a rank: flag 4.
    // CHECK: call @mkrt_store(%arg0, %{{.*}}, %{{.*}}, %c2_i32, %c2_i32, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c0_i32, %{{.*}}, %c6_i32)
    %x = mk.load %d[%c0, %c0] : memref<?x64xf32, #mk.symmetric> -> tensor<16x64xf32>
    mk.store %x, %d[%c0, %c0] on %p signal %s[%c0, %c1] reduce(add)
        : tensor<16x64xf32>, memref<?x64xf32, #mk.symmetric>, !mk.signal<?x?, sys, dynamic>
    // CHECK: call @mkrt_fence(%arg0)
    mk.fence
    // CHECK: call @mkrt_signal(%arg0, %c0_i32, %{{.*}}, %{{.*}}, %c3_i64, %c1_i32)
    mk.signal strong %s[%c0, %c0] on %p add 3 : !mk.signal<?x?, sys, dynamic>
    // CHECK: call @mkrt_wait(%arg0, %c0_i32, %{{.*}}, %c4_i64)
    mk.wait %s[%c1, %c1] ge %c4 : !mk.signal<?x?, sys, dynamic>
    // CHECK: call @mkrt_settle(%arg0)
    mk.settle
    // CHECK: call @mkrt_count(%arg0, %c0_i32, %c1_i64, %c4_i64)
    %old = mk.count %n[%c1] add %c4 : !mk.counter<?>
  }
}
