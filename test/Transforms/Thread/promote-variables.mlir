// RUN: mk-opt %s -mk-thread-promote-variables | FileCheck %s

// A stage and a parity that a loop counts, and that an inner branch changes.
// CHECK-LABEL: mk_thread.kernel @loop
// CHECK-NOT: llvm.alloca
mk_thread.kernel @loop threads(128) cluster(1) params(512) shared(1024)
    frame(<launch = 64, failed = 512>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %stage = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %stage : i32, !llvm.ptr
  %parity = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c1, %parity : i32, !llvm.ptr
  %base = mk_thread.shared_base 0
  // CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %c0_i32, %[[PARITY:.*]] = %c1_i32) -> (i32, i32)
  scf.for %i = %c0 to %c4 step %c1 : i32 {
    // CHECK: mk_thread.mbarrier_wait %{{.*}}, %[[PARITY]] stage(%[[STAGE]])
    %s = llvm.load %stage : !llvm.ptr -> i32
    %p = llvm.load %parity : !llvm.ptr -> i32
    mk_thread.mbarrier_wait %base, %p stage(%s) report(<kind = 1, role = 0, number = 0>)
    // CHECK: %[[NEXT:.*]] = arith.addi %[[STAGE]]
    %next = arith.addi %s, %c1 : i32
    llvm.store %next, %stage : i32, !llvm.ptr
    %wraps = arith.cmpi eq, %next, %c4 : i32
    // CHECK: %[[NEW:.*]]:2 = scf.if %{{.*}} -> (i32, i32) {
    scf.if %wraps {
      llvm.store %c0, %stage : i32, !llvm.ptr
      %flipped = arith.xori %p, %c1 : i32
      llvm.store %flipped, %parity : i32, !llvm.ptr
      // CHECK: scf.yield %c0_i32, %{{.*}}
      // CHECK: else
      // CHECK: scf.yield %[[NEXT]], %[[PARITY]]
    }
    // CHECK: scf.yield %[[NEW]]#0, %[[NEW]]#1
  }
}

// What no code loads behind a branch does not leave it; what is loaded behind a loop does.
// CHECK-LABEL: mk_thread.kernel @leaves
mk_thread.kernel @leaves threads(128) cluster(1) params(512) shared(1024)
    frame(<launch = 64, failed = 512>) {
  %c0 = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %one = arith.constant 1 : i32
  %own = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %own : i32, !llvm.ptr
  %flag = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %flag : i32, !llvm.ptr
  %t = mk_thread.thread_id
  %first = arith.cmpi eq, %t, %c0 : i32
  // CHECK: scf.if %{{[^ ]*}} {
  scf.if %first {
    llvm.store %c9, %own : i32, !llvm.ptr
    // CHECK: mk_thread.arrive %c9_i32, 128
    %x = llvm.load %own : !llvm.ptr -> i32
    mk_thread.arrive %x, 128
  }
  // CHECK: %[[LEFT:.*]] = scf.while (%{{.*}} = %c0_i32)
  scf.while : () -> () {
    // CHECK: scf.condition(%{{.*}}) %{{.*}} : i32
    %seen = llvm.load %flag : !llvm.ptr -> i32
    %more = arith.cmpi eq, %seen, %c0 : i32
    scf.condition(%more)
  } do {
    llvm.store %c9, %flag : i32, !llvm.ptr
    scf.yield
  }
  // CHECK: mk_thread.arrive %[[LEFT]], 128
  %y = llvm.load %flag : !llvm.ptr -> i32
  mk_thread.arrive %y, 128
}

// A variable whose address goes elsewhere stays.
// CHECK-LABEL: mk_thread.kernel @stays
mk_thread.kernel @stays threads(128) cluster(1) params(512) shared(1024)
    frame(<launch = 64, failed = 512>) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: llvm.alloca
  %x = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %x : i32, !llvm.ptr
  %a = llvm.ptrtoint %x : !llvm.ptr to i64
  mk_thread.reduce_add relaxed gpu %a, %one : i32
}
