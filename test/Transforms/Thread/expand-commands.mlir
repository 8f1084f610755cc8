// RUN: mk-opt %s -mk-thread-expand-commands | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @commands
mk_thread.kernel @commands threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i64
  %w = mk_thread.cta_id
  // The launch may have failed.
  // CHECK: mk_thread.load_shared 1032
  // CHECK: scf.if
  // A place is reserved; a look at the last tail seen says whether it is free.
  // CHECK: %[[PLACE:.*]] = mk_thread.atomic_add relaxed gpu {{.*}} : i64
  // CHECK: mk_thread.load_atomic acquire gpu
  // CHECK: scf.if
  // CHECK: mk_thread.wait_word sys {{.*}} element(%[[PLACE]]) report(<kind = 7, role = 2, number = 0>)
  // CHECK: mk_thread.load_atomic acquire sys
  // CHECK: mk_thread.store_atomic release gpu
  // The wait may have been given up.
  // CHECK: mk_thread.load_shared 1032
  // CHECK: scf.if
  // CHECK-COUNT-2: mk_thread.store_command
  mk_thread.command 1 flags(%w) on %n by %w from %n to %n, %w slot(%n) add 1 report(<kind = 7, role = 2, number = 0>)
  // CHECK: mk_thread.reduce_add relaxed cta {{.*}}, %c2_i32
  mk_thread.count_commands 2 by %w
  // Others count in the same word: as many have to be complete as are counted behind the wait.
  // CHECK: scf.while
  // CHECK: %[[COUNTED:.*]] = mk_thread.load_atomic relaxed cta
  // CHECK: mk_thread.wait_word sys {{.*}}, %[[COUNTED]] count(
  // CHECK: %[[NOW:.*]] = mk_thread.load_atomic relaxed cta
  // CHECK: arith.cmpi ne, %[[NOW]], %[[COUNTED]]
  mk_thread.await_commands by %w report(<kind = 8, role = 0, number = 0>)
}
