// RUN: mk-opt %s -mk-thread-expand-elements | FileCheck %s

// Of eight elements of a row and more, those that a constraint keeps are bits of a word: the first ones, or all but the first.

#acc = #mk_sm.mma<warpgroups = 1>

// CHECK-LABEL: mk_thread.kernel @first
mk_thread.kernel @first threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 2.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // Columns 0, 1, 8, 9, 16, 17, 24, 25 of those of the quad: two for each eight columns that are whole, and up to two more.
  // CHECK: %[[END:.*]] = arith.trunci {{.*}} : i64 to i32
  // CHECK: %[[EIGHTS:.*]] = arith.shrui %[[END]], %c3_i32
  // CHECK: %[[WHOLE:.*]] = arith.muli %[[EIGHTS]], %c2_i32
  // CHECK: %[[REST:.*]] = arith.andi %[[END]], %c7_i32
  // CHECK: %[[MORE:.*]] = arith.minsi %[[REST]], %c2_i32
  // CHECK: arith.addi %[[WHOLE]], %[[MORE]]
  // CHECK: %[[BITS:.*]] = arith.shli %c1_i64
  // CHECK: %[[ONES:.*]] = arith.subi %[[BITS]], %c1_i64
  // CHECK: %[[WORD:.*]] = arith.trunci %[[ONES]] : i64 to i32
  // CHECK: %[[FIRST:.*]] = arith.andi %[[WORD]], %c1_i32
  // CHECK: %[[KEPT:.*]] = arith.cmpi ne, %[[FIRST]], %c0_i32
  // CHECK: arith.select %[[KEPT]]
  // CHECK: arith.andi %[[WORD]], %c128_i32
  // CHECK-NOT: arith.cmpi sge
  %a:16 = mk_thread.mask_elements %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x32xf32, #acc>
      where affine_set<(r, c)[s] : (r - c + s >= 0)>[%g] else %low : f32 thread(%w)
      : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  mk_thread.pin %a#0, %a#15 : f32, f32
}

// CHECK-LABEL: mk_thread.kernel @band
mk_thread.kernel @band threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 24 : i64
  %x = arith.constant 2.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // CHECK: %[[TO:.*]] = arith.trunci {{.*}} : i64 to i32
  // CHECK: %[[BEFORE:.*]] = arith.shli %c1_i64
  // CHECK: %[[ALL:.*]] = arith.xori {{.*}}, %c-1_i32
  // CHECK: %[[BOTH:.*]] = arith.andi {{.*}}, %[[ALL]]
  // CHECK: arith.andi %[[BOTH]], %c1_i32
  %a:16 = mk_thread.mask_elements %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x of tensor<64x32xf32, #acc>
      where affine_set<(r, c)[s] : (r - c + s >= 0, c - s >= 0)>[%g] else %low : f32 thread(%w)
      : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  mk_thread.pin %a#0, %a#15 : f32, f32
}
