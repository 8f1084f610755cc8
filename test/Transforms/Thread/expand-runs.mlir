// RUN: mk-opt %s -mk-thread-expand-runs | FileCheck %s

// What lies in one piece at both ends is a run: here rows, or all of them where nothing lies between. The first warp
// has the copy engine take pieces of runs through slots, loads ahead of stores.
// CHECK-LABEL: mk_thread.kernel @engine
mk_thread.kernel @engine threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %stage = arith.constant 0 : i32
  %parity = arith.constant 1 : i32
  %source = mk_thread.param 16 : i64
  %dest = mk_thread.param 24 : i64
  %rows = mk_thread.param 32 : i64
  %columns = mk_thread.param 40 : i64
  %pitch = mk_thread.param 48 : i64
  %size = arith.constant 2 : i64
  %thread = mk_thread.thread_id
  // A row joins the next one where as many bytes lie between them at both ends as it has.
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c2_i64
  // CHECK: arith.cmpi eq, %[[PITCH:.*]], %[[ROW]] : i64
  // CHECK: arith.select %[[JOINED:.*]], %{{.*}}, %[[ROW]]
  // CHECK: arith.select %[[JOINED]], %c1_i32
  // CHECK: %[[BITS:.*]] = arith.andi %{{.*}}, %c15_i64
  // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[BITS]], %c0_i64
  %count, %run, %aligned, %places:2 = mk_thread.plan_runs %source to %dest sizes(%rows, %columns)
      from(%pitch, %size) to(%pitch, %size) of bf16 : i32, i32
  // CHECK: scf.if %[[ALIGNED]]
  // CHECK: arith.cmpi ult, %{{.*}}, %c32_i32
  // CHECK: scf.for
  // CHECK: mk_thread.mbarrier_wait {{.*}} report(<kind = 9, role = 3, number = 0>)
  // CHECK: mk_thread.store_bulk
  // CHECK-NEXT: mk_thread.commit_group
  // CHECK: mk_thread.wait_group 1 read
  // CHECK-NEXT: mk_thread.mbarrier_arrive %[[FULL:.*]] expect(%[[BYTES:.*]])
  // CHECK-NEXT: mk_thread.copy_bulk %{{.*}} to %{{.*}}, %[[BYTES]] counted by %[[FULL]]
  // CHECK: mk_thread.wait_group 0
  // Where something is not aligned, threads copy an element each.
  // CHECK: else
  // CHECK: llvm.load {{.*}} -> i16
  // CHECK-NEXT: llvm.inttoptr
  // CHECK-NEXT: llvm.store {{.*}} : i16
  %next:4 = mk_thread.copy_runs %count of %run from %source to %dest sizes(%places#0, %places#1)
      from(%pitch, %size) to(%pitch, %size) of bf16 aligned(%aligned) by(%thread of 384)
      through(<at = 2048, barriers = 512, count = 3, bytes = 512>, %stage, %parity, %stage, %parity)
      report(<kind = 9, role = 3, number = 0>) -> i32, i32, i32, i32
}

// Without slots the lanes of a warp copy, eight loads of 16 bytes each under way.
// CHECK-LABEL: mk_thread.kernel @lanes
mk_thread.kernel @lanes threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %source = mk_thread.param 16 : i64
  %dest = mk_thread.param 24 : i64
  %n = mk_thread.param 32 : i64
  %size = arith.constant 4 : i64
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %lane = mk_thread.thread_id
  // CHECK-COUNT-8: mk_thread.load %{{.*}}, 16 : i64
  // CHECK-COUNT-8: mk_thread.store %{{.*}} bytes(16){{$}}
  // What is left over, under conditions.
  // CHECK-COUNT-8: mk_thread.load %{{.*}}, 16 if
  // CHECK-COUNT-8: mk_thread.store %{{.*}} bytes(16) if
  mk_thread.copy_runs %one of %n from %source to %dest sizes(%one) from(%size) to(%size) of i32
      aligned(%yes) by(%lane of 32)
}

// Elements that are added: one a thread. Rows that a list in shared memory names; less than 0 means none.
// CHECK-LABEL: mk_thread.kernel @adds
mk_thread.kernel @adds threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %list = mk_thread.shared_base 0
  %source = mk_thread.param 16 : i64
  %dest = mk_thread.param 24 : i64
  %n = mk_thread.param 32 : i64
  %size = arith.constant 4 : i64
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %lane = mk_thread.thread_id
  // CHECK: %[[ROW:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> i32
  // CHECK: %[[THERE:.*]] = arith.cmpi sge, %[[ROW]], %c0_i32
  // CHECK: scf.if %[[THERE]]
  // CHECK: mk_thread.store {{.*}} add(f32, sys)
  mk_thread.copy_runs %one of %n from %source to %dest sizes(%one) from(%size) to(%size) rows(%list) of f32 add
      aligned(%yes) by(%lane of 32)
}

// Across a network each run is a command. All of a put but the last one say that more follow; a put of nothing
// raises its signal, too.
// CHECK-LABEL: mk_thread.kernel @sends
mk_thread.kernel @sends threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %source = mk_thread.param 16 : i64
  %dest = mk_thread.param 24 : i64
  %n = mk_thread.param 32 : i64
  %peer = mk_thread.param 40 : i64
  %slot = mk_thread.param 48 : i64
  %size = arith.constant 4 : i64
  %one = arith.constant 1 : i32
  %w = mk_thread.cta_id
  // CHECK: mk_thread.count_commands 1
  // CHECK: mk_thread.fence sys
  // CHECK: scf.for
  // CHECK: %[[FLAGS:.*]] = arith.select %{{.*}}, %c5_i32, %c2_i32
  // CHECK: mk_thread.command 1 flags(%[[FLAGS]])
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.command 2 flags(%c5_i32)
  mk_thread.send_runs %one of %n from %source to %dest sizes(%one) from(%size) to(%size) on %peer by %w signal(%slot) strong
      report(<kind = 7, role = 0, number = 0>)
  // With listed rows, of which any may be missing, the last command is an empty one.
  // CHECK: mk_thread.command 1 flags(%c2_i32)
  // CHECK: mk_thread.command 1 flags(%c0_i32)
  %list = mk_thread.shared_base 0
  mk_thread.send_runs %one of %n from %source to %dest sizes(%one) from(%size) to(%size) rows(%list) on %peer by %w
      report(<kind = 7, role = 0, number = 0>)
}
