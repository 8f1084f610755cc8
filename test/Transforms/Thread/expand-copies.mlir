// RUN: mk-opt %s -mk-thread-expand-copies | FileCheck %s

// The barrier waits for the bytes of two chunks of 512 rows. Each comes in two boxes, which begin 64 columns and
// 256 rows further on.
// CHECK-LABEL: mk_thread.kernel @alone
mk_thread.kernel @alone threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %column = mk_thread.param 32 : i64
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.mbarrier_expect %{{.*}}, 131072
  // CHECK-NEXT: %[[ROW:.*]] = arith.trunci
  // CHECK-NEXT: %[[COLUMN:.*]] = arith.trunci
  // CHECK-NEXT: mk_thread.copy_tensor %[[MAP:.*]][%[[ROW]], %[[COLUMN]]] to %[[TO:.*]] counted by %[[TO]] : i64
  // CHECK: %[[LOWER:.*]] = arith.addi %[[ROW]], %c256_i32
  // CHECK: %[[AT:.*]] = arith.addi %[[TO]], %c32768_i32
  // CHECK: mk_thread.copy_tensor %[[MAP]][%[[LOWER]], %[[COLUMN]]] to %[[AT]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[COLUMN]], %c64_i32
  // CHECK: arith.addi %[[TO]], %c65536_i32
  // CHECK: mk_thread.copy_tensor %[[MAP]][%[[ROW]], %[[NEXT]]]
  // CHECK: mk_thread.copy_tensor
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %column) of 512 x 2 box 256 x 64 to %w counted by %w : i64
}

// Two CTAs bring 256 rows each, for both.
// CHECK-LABEL: mk_thread.kernel @together
mk_thread.kernel @together threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 131072
  // CHECK: arith.muli %{{.*}}, %c256_i32
  // CHECK-COUNT-2: mk_thread.copy_tensor {{.*}} ctas(%c3_i16)
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w shared(%w of 2) : i64
}

// Of a cluster of 2 x 4 the two CTAs of a column: the place among them is bit 2 of the number, and the mask goes by the
// bits below.
// CHECK-LABEL: mk_thread.kernel @column
mk_thread.kernel @column threads(384) cluster(8) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 16384
  // CHECK: %[[BIT:.*]] = arith.andi %[[CTA:.*]], %c4_i32
  // CHECK: %[[PLACE:.*]] = arith.shrui %[[BIT]], %c2_i32
  // CHECK: arith.muli %[[PLACE]], %c64_i32
  // CHECK: %[[OTHERS:.*]] = arith.andi %[[CTA]], %c3_i32
  // CHECK: %[[MASK:.*]] = arith.shli %c17_i32, %[[OTHERS]]
  // CHECK: %[[CTAS:.*]] = arith.trunci %[[MASK]] : i32 to i16
  // CHECK: mk_thread.copy_tensor {{.*}} ctas(%[[CTAS]])
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %g) of 128 x 1 box 64 x 64 to %w counted by %w shared(%w of 2 stride 4) : i64
}

// What nobody reads again: all boxes.
// CHECK-LABEL: mk_thread.kernel @once
mk_thread.kernel @once threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  // CHECK-COUNT-4: mk_thread.copy_tensor {{.*}} once : i64
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w once : i64
}

// Boxes that begin behind the end do not come, and are not waited for: of 96 rows those in front of the end in boxes of 48,
// of two CTAs' parts, and one or two chunks.
// CHECK-LABEL: mk_thread.kernel @ends
mk_thread.kernel @ends threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %rows = mk_thread.param 32 : i32
  %columns = mk_thread.param 36 : i32
  // CHECK: scf.if
  // CHECK: %[[LEAST:.*]] = arith.maxsi %[[ROWS:.*]], %c0_i32
  // CHECK: %[[INSIDE:.*]] = arith.minsi %[[LEAST]], %c96_i32
  // CHECK: %[[UP:.*]] = arith.addi %[[INSIDE]], %c47_i32
  // CHECK: %[[BOXES:.*]] = arith.divui %[[UP]], %c48_i32
  // CHECK: arith.divui %{{.*}}, %c64_i32
  // CHECK: %[[TIMES:.*]] = arith.muli %[[BOXES]], %{{.*}}
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 6144 times %[[TIMES]]
  // CHECK: %[[BEFORE:.*]] = arith.muli %{{.*}}, %c48_i32
  // CHECK: %[[OWN:.*]] = arith.subi %[[ROWS]], %[[BEFORE]]
  // CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[OWN]], %c0_i32
  // CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[COLUMNS:.*]], %c0_i32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[EXISTS]], %[[SOME]]
  // CHECK: scf.if %[[BOTH]] {
  // CHECK: mk_thread.copy_tensor
  // CHECK: arith.cmpi sgt, %[[COLUMNS]], %c64_i32
  // CHECK: scf.if
  // CHECK: mk_thread.copy_tensor
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %g) of 96 x 2 box 48 x 64 to %w counted by %w shared(%w of 2)
      rows_left(%rows) columns_left(%columns) : i64
}

// An argument that has no more rows than a box: one box of each chunk, which one of the two CTAs brings.
// CHECK-LABEL: mk_thread.kernel @few
mk_thread.kernel @few threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %rows = mk_thread.param 32 : i32
  // CHECK: %[[LEAST:.*]] = arith.maxsi %[[ROWS:.*]], %c0_i32
  // CHECK: %[[COUNT:.*]] = arith.minsi %[[LEAST]], %c1_i32
  // CHECK: %[[CHUNKS:.*]] = arith.muli %[[COUNT]], %c2_i32
  // CHECK: mk_thread.mbarrier_expect %{{.*}}, 640 times %[[CHUNKS]]
  // CHECK: %[[BEFORE:.*]] = arith.muli %{{.*}}, %c8_i32
  // CHECK: %[[OWN:.*]] = arith.subi %[[ROWS]], %[[BEFORE]]
  // CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[OWN]], %c0_i32
  // CHECK: scf.if %[[EXISTS]] {
  // CHECK-NEXT: mk_thread.copy_tensor
  // CHECK: scf.if %[[EXISTS]] {
  // The second chunk lies behind all rows that the tile has room for.
  // CHECK: arith.addi %{{.*}}, %c2048_i32
  // CHECK: mk_thread.copy_tensor
  // CHECK-NOT: mk_thread.copy_tensor
  mk_thread.copy_tile %g at(%g, %g) of 16 x 2 box 5 x 64 to %w counted by %w shared(%w of 2)
      rows_left(%rows) one_box : i64
}
