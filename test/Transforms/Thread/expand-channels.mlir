// RUN: mk-opt %s -mk-thread-expand-channels | FileCheck %s

// A ring of four slots: the producer fills one, the consumer reads it.
// CHECK-LABEL: mk_thread.kernel @ring
mk_thread.kernel @ring threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %stage = mk_thread.param 16 : i32
  %parity = mk_thread.param 20 : i32
  %lane = mk_thread.thread_id
  // CHECK: %[[BASE:.*]] = mk_thread.shared_base
  // CHECK-COUNT-4: mk_thread.mbarrier_init %{{.*}}, {{1|8}}
  mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 2, bytes = 256> readers(8)
  // CHECK: %[[EMPTY_AT:.*]] = arith.addi %[[BASE]], %c32_i32
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[STAGE:.*]], %c8_i32
  // CHECK: %[[EMPTY:.*]] = arith.addi %[[EMPTY_AT]], %[[OFFSET]]
  // CHECK: mk_thread.mbarrier_wait %[[EMPTY]], %{{.*}} stage(%[[STAGE]]) report(<kind = 3, role = 0, number = 0>) double_deadline
  // CHECK: arith.muli %[[STAGE]], %c256_i32
  // CHECK: %[[FULL:.*]] = arith.addi
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.mbarrier_arrive
  %slot, %full = mk_thread.take_slot empty of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage, %parity) report(<kind = 3, role = 0, number = 0>)
  mk_thread.commit_slot %full
  // CHECK: mk_thread.mbarrier_wait
  %tile, %again = mk_thread.take_slot full of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage, %parity) report(<kind = 3, role = 0, number = 0>)
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.mbarrier_arrive %{{[^ ]*}}{{$}}
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage) lane(%lane)
  // Where a cluster fills slots together each CTA is told, by a lane.
  // CHECK: arith.cmpi ult, %[[LANE:.*]], %c2_i32
  // CHECK: mk_thread.mbarrier_arrive %{{.*}} in %[[LANE]]
  %both = arith.constant 3 : i32
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage) lane(%lane) writers(%both)
  // CHECK: %[[BITS:.*]] = arith.shrui %[[SOME:.*]], %[[LANE]]
  // CHECK: %[[BIT:.*]] = arith.andi %[[BITS]], %c1_i32
  // CHECK: arith.cmpi eq, %[[BIT]], %c1_i32
  // CHECK: mk_thread.mbarrier_arrive %{{.*}} in %[[LANE]]
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%stage) lane(%lane) writers(%parity)
}

// A mailbox of one slot: nothing depends on the stage.
// CHECK-LABEL: mk_thread.kernel @mailbox
mk_thread.kernel @mailbox threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %stage = mk_thread.param 16 : i32
  %parity = mk_thread.param 20 : i32
  %word = mk_thread.param 24 : i64
  %lane = mk_thread.thread_id
  // CHECK-NOT: arith.muli
  // CHECK: mk_thread.mbarrier_wait
  // CHECK: scf.if
  // CHECK-COUNT-2: llvm.store
  // CHECK: mk_thread.mbarrier_arrive
  mk_thread.send_words %word, %word to <full = 0, empty = 32, slots = 1024, depth = 1, bytes = 256> at(%stage, %parity) lane(%lane) report(<kind = 3, role = 0, number = 0>)
  // CHECK: mk_thread.mbarrier_wait
  // CHECK-COUNT-4: shfl.sync.idx
  // CHECK: mk_thread.mbarrier_arrive
  %w:2 = mk_thread.receive_words from <full = 0, empty = 32, slots = 1024, depth = 1, bytes = 256> at(%stage, %parity) lane(%lane) report(<kind = 3, role = 0, number = 0>) : i64, i64
}
