// RUN: mk-opt %s -mk-thread-expand-copiers | FileCheck %s

// Lane 0 writes a request, has the barrier wait for a byte of each copier, and counts it; then all meet.
// CHECK-LABEL: mk_thread.kernel @asks
mk_thread.kernel @asks threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: scf.if
  // CHECK: %[[NUMBER:.*]] = mk_thread.load_shared %[[POSTED:.*]] + 0 : i32
  // CHECK: arith.andi %[[NUMBER]], %c3_i32
  // CHECK-COUNT-14: llvm.store
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 3
  // CHECK: mk_thread.store_shared %{{.*}}, %[[POSTED]] + 0
  // CHECK: }
  // CHECK-NEXT: mk_thread.sync %c2_i32, 128
  mk_thread.request_copy %g in %g strides(%g, %g) rows(%w, %w) bytes(%w, %w) of 64 x 2 size 2 to %w
      counted by %w lane(%w) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // An element size of 0 is the end.
  // CHECK: llvm.store %c0_i32
  // CHECK-NOT: mk_thread.mbarrier_expect
  // CHECK: mk_thread.sync %c2_i32, 128
  mk_thread.dismiss_copiers lane(%w) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// Copiers take a request when there is one and three are not under way, else they finish one.
// CHECK-LABEL: mk_thread.kernel @serves
mk_thread.kernel @serves threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: scf.while
  // CHECK: mk_thread.sync %c2_i32, 128
  // In pieces of 16 bytes, of 8, of 4.
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 16
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 8
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 4
  // CHECK: nvvm.cp.async.commit.group
  // Rows that begin within a word are shifted.
  // CHECK: nvvm.cp.async.wait.group 2
  // CHECK: shfl.sync.down
  // CHECK: mk_thread.fence_async shared
  // CHECK: mk_thread.fence cta
  // CHECK-NEXT: mk_thread.mbarrier_complete %{{.*}}, 1
  mk_thread.serve_copies sizes [2] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// Words begin where words do: nothing is shifted.
// CHECK-LABEL: mk_thread.kernel @words
mk_thread.kernel @words threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: nvvm.cp.async.wait.group 2
  // CHECK-NOT: shfl.sync.down
  mk_thread.serve_copies sizes [4] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// Of a list: words of a request of another kind.
// CHECK-LABEL: mk_thread.kernel @asks_by_list
mk_thread.kernel @asks_by_list threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // What selects rows has no barrier.
  // CHECK-COUNT-9: llvm.store
  // CHECK-NOT: mk_thread.mbarrier_expect
  // CHECK: mk_thread.sync %c2_i32, 128
  mk_thread.request_rows 144 stride(%g) rows(%w, %w) list(%g stride %w) entries(%w, %w) lane(%w)
      copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // CHECK-COUNT-7: llvm.store
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 3
  // CHECK: mk_thread.sync %c2_i32, 128
  mk_thread.request_selected %g bytes(%w) of 144 x 1 to %w counted by %w lane(%w)
      copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // CHECK-COUNT-17: llvm.store
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 3
  // CHECK: mk_thread.sync %c2_i32, 128
  mk_thread.request_copy %g in %g strides(%g, %g) rows(%w, %w) bytes(%w, %w) list(%g stride %w) entries(%w, %w) of 64 x 2 size 2 to %w
      counted by %w lane(%w) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}

// Rows that are remembered are brought in pieces; the barrier of the tile waits for these, and nobody else does.
// CHECK-LABEL: mk_thread.kernel @serves_lists
mk_thread.kernel @serves_lists threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // 40 rows are 4 for each lane of three warps, of which the last one only for some.
  // CHECK-COUNT-3: mk_thread.copy_piece
  // CHECK: scf.if
  // CHECK: mk_thread.copy_piece
  // CHECK: nvvm.cp.async.mbarrier.arrive
  // CHECK: mk_thread.mbarrier_complete
  // Entries are loaded together.
  // CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 if
  // CHECK: arith.shrui %{{.*}}, %c4_i64
  mk_thread.serve_copies sizes [2] lists [40, 1] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
}
