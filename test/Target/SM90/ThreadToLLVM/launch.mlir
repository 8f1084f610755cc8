// RUN: mk-opt %s -split-input-file -convert-mk-thread-to-llvm | FileCheck %s

// The kernel is a function whose parameters are one block by value; ops read it by address, or where they stand by its
// name in PTX.

// CHECK: llvm.mlir.global external @mk_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @work(%[[BLOCK:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<512 x i8>, nvvm.grid_constant})
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
mk_thread.kernel @work threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[T:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %tid.x;", "=r" : () -> i32
  %t = mk_thread.thread_id
  // CHECK: "mov.u32 $0, %tid.x;", "=r,~{memory}" : () -> i32
  %u = mk_thread.thread_id pinned
  // CHECK: "mov.u32 $0, %ctaid.x;", "=r" : () -> i32
  %c = mk_thread.cta_id
  // CHECK: %[[A:.*]] = llvm.getelementptr %[[BLOCK]][16] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK: llvm.load %[[A]] invariant : !llvm.ptr -> i64
  %n = mk_thread.param 16 : i64
  // CHECK: "ld.param.b64 $0, [work_param_0+24];", "=l" : () -> i64
  %p = mk_thread.param pinned 24 : i64
  // CHECK: %[[MAP:.*]] = llvm.getelementptr %[[BLOCK]][128] : (!llvm.ptr) -> !llvm.ptr, i8
  %map = mk_thread.param_address 128
  // CHECK: prefetch{{.*}} %[[MAP]] :
  mk_thread.prefetch_map %map : !llvm.ptr
  // CHECK: llvm.getelementptr %[[BLOCK]][%[[T]]] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %a = mk_thread.param_address 0, %t
  // CHECK: %[[SUM:.*]] = arith.addi %[[T]], %{{.*}} : i32
  // CHECK: llvm.getelementptr %[[BLOCK]][%[[SUM]]]
  %b = mk_thread.param_address 256, %t
  // CHECK: %[[SHARED:.*]] = llvm.mlir.addressof @mk_shared
  // CHECK: llvm.ptrtoint %[[SHARED]] : !llvm.ptr<3> to i32
  %s = mk_thread.shared_base 0
  // CHECK: "mov.b32 $0, mk_shared+1032;", "=r" : () -> i32
  %x = mk_thread.shared_base pinned 1032
  // CHECK: llvm.return
}

// -----

// A CTA alone is no cluster.

// CHECK: llvm.func @alone
// CHECK-NOT: nvvm.cluster_dim
// CHECK: llvm.return
mk_thread.kernel @alone threads(128) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
}
