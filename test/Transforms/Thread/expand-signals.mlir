// RUN: mk-opt %s -mk-thread-expand-signals | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @raises
mk_thread.kernel @raises threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i64
  %peer = mk_thread.param 32 : i64
  %w = mk_thread.cta_id
  // Here: an atomic, unless the launch has failed.
  // CHECK: %[[ARRAY:.*]] = mk_thread.param 72 : i64
  // CHECK: %[[HERE:.*]] = arith.addi %[[ARRAY]],
  // CHECK: mk_thread.load_shared 1032
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.reduce_add release gpu %[[HERE]], %c1_i32
  mk_thread.raise 72[%n] add 1 gpu
  // At a peer: as far from the start of its heap.
  // CHECK-COUNT-2: mk_thread.param pinned
  // CHECK: mk_thread.reduce_add release sys
  // CHECK-NOT: mk_thread.command
  mk_thread.raise 72[%n] add 1 sys on %peer
  // Where its heap may not be mapped, perhaps by commands, each with room for 16 bits of the amount.
  // CHECK: scf.if
  // CHECK: mk_thread.reduce_add release sys %{{.*}}, %c65537_i32
  // CHECK: else
  // CHECK-NEXT: mk_thread.count_commands 2
  // CHECK-NEXT: mk_thread.fence sys
  // CHECK: %[[SLOT:.*]] = arith.addi
  // CHECK: mk_thread.command 2 flags(%c5_i32) {{.*}} slot(%[[SLOT]]) add 65535
  // CHECK-NEXT: mk_thread.command 2 flags(%c5_i32) {{.*}} slot(%[[SLOT]]) add 2
  mk_thread.raise 72[%n] add 65537 sys on %peer net(%w) strong report(<kind = 7, role = 0, number = 0>)
}

// CHECK-LABEL: mk_thread.kernel @waits
mk_thread.kernel @waits threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i64
  %w = mk_thread.cta_id
  // CHECK: mk_thread.wait_word gpu {{.*}} count(%[[W:[^ ]*]]) leader(%[[W]]) array(72)
  // CHECK-NEXT: mk_thread.fence_async global
  mk_thread.await_signal gpu 72[%n], %w count(%w) leader(%w) report(<kind = 1, role = 0, number = 0>)
  // CHECK: mk_thread.wait_word sys {{.*}} plus(
  mk_thread.await_signal sys 72[%n] net, %w count(%w) report(<kind = 1, role = 0, number = 0>)
  // A peer is waited for once.
  // CHECK: %[[BIT:.*]] = arith.shli %c1_i32
  // CHECK: arith.andi %[[SEEN:.*]], %[[BIT]]
  // CHECK: scf.if
  // CHECK: mk_thread.wait_word sys
  // CHECK: arith.ori %[[SEEN]], %[[BIT]]
  %known = mk_thread.await_peer %n of 8 in 72, %w seen(%w) report(<kind = 4, role = 0, number = 0>)
  // CHECK-NOT: arith.shli %c1_i32
  %more = mk_thread.await_peer %n of 64 in 72, %w seen(%known) report(<kind = 4, role = 0, number = 0>)
  // CHECK: mk_thread.wait_word sys
  // In front of what is sent across a network for this rank's own word first.
  // CHECK: mk_thread.param 124
  // CHECK: arith.cmpi ne
  // CHECK: %[[ME32:.*]] = mk_thread.param 124
  // CHECK: %[[ME:.*]] = arith.extui %[[ME32]]
  // CHECK: %[[OWN:.*]] = arith.shli %[[ME]], %c2_i64
  // CHECK: mk_thread.param 72
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[OWN]]
  // CHECK: mk_thread.wait_word sys %[[AT]]
  // CHECK: mk_thread.wait_word sys
  %over = mk_thread.await_peer %n of 64 in 72 net sends, %w seen(%known) report(<kind = 4, role = 0, number = 0>)
  // With so many ranks once, whoever was waited for before.
  // CHECK: %[[OWNBIT:.*]] = arith.shli %c1_i32, %{{.*}} : i32
  // CHECK: arith.andi %{{.*}}, %[[OWNBIT]]
  // CHECK: %[[TOLD:.*]] = scf.if
  // CHECK: mk_thread.wait_word sys
  // CHECK: arith.ori %{{.*}}, %[[OWNBIT]]
  // CHECK: %[[THEIRS:.*]] = arith.shli %c1_i32
  // CHECK: arith.andi %[[TOLD]], %[[THEIRS]]
  // CHECK: mk_thread.wait_word sys
  // CHECK: arith.ori %[[TOLD]], %[[THEIRS]]
  %sent = mk_thread.await_peer %n of 8 in 72 net sends, %w seen(%known) report(<kind = 4, role = 0, number = 0>)
  // CHECK: scf.for %{{.*}} = %[[W]] to %c8_i32 step %c256_i32
  // CHECK: mk_thread.wait_word sys
  mk_thread.await_peers 8 in 72, %w by(%w of 256) report(<kind = 5, role = -1, number = 0>)
  // Rank 0 is not the first for everybody. One fence for all; nothing is read behind it.
  // CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1_i64
  // CHECK: arith.cmpi uge, %[[NEXT]], %c8_i64
  // CHECK: mk_thread.fence sys
  // CHECK-NEXT: scf.if
  // CHECK-COUNT-7: mk_thread.reduce_add relaxed sys
  // CHECK-NOT: mk_thread.reduce_add
  mk_thread.notify_peers 8 in 72
  // CHECK: mk_thread.load_atomic relaxed gpu
  // CHECK: mk_thread.fence sys
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: mk_thread.reduce_add relaxed sys
  mk_thread.notify_peers 2 in 72 unless_aborted
  // By commands, one peer after the other.
  // CHECK: mk_thread.fence sys
  // CHECK: scf.for %{{.*}} = %c1_i32 to %c8_i32
  // CHECK: mk_thread.reduce_add relaxed sys
  // CHECK: mk_thread.command
  // Then the own element: whoever sees it sends behind these.
  // CHECK: mk_thread.reduce_add release gpu
  // CHECK-NOT: mk_thread.reduce_add
  mk_thread.notify_peers 8 in 72 net(%w) report(<kind = 7, role = 0, number = 0>)
  // So many addresses are not held in registers.
  // CHECK: mk_thread.fence sys
  // CHECK: scf.for %{{.*}} = %c1_i32 to %c32_i32
  // CHECK-NOT: mk_thread.fence
  // CHECK: mk_thread.reduce_add relaxed sys
  // CHECK-NOT: mk_thread.reduce_add
  mk_thread.notify_peers 32 in 72
}

// Where several signals follow a fence, their addresses are there before it.
// CHECK-LABEL: mk_thread.kernel @together
mk_thread.kernel @together threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i64
  %peer = mk_thread.param 32 : i64
  // CHECK: mk_thread.param 72
  // CHECK: mk_thread.param 80
  // CHECK: mk_thread.fence sys
  // CHECK-NOT: mk_thread.param
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.reduce_add relaxed sys {{.*}}, %c1_i32
  // CHECK-NEXT: mk_thread.reduce_add relaxed sys {{.*}}, %c3_i32
  mk_thread.fence sys
  mk_thread.raise 72[%n] add 1 sys relaxed on %peer
  mk_thread.raise 80[%n] add 3 sys relaxed
  // Not so where a peer is known behind it only.
  // CHECK: mk_thread.fence sys
  // CHECK: mk_thread.param 40
  // CHECK: mk_thread.param 72
  // CHECK: mk_thread.reduce_add relaxed sys
  mk_thread.fence sys
  %q = mk_thread.param 40 : i64
  mk_thread.raise 72[%n] add 1 sys relaxed on %q
}
