// RUN: mk-opt %s -mk-thread-merge-checks | FileCheck %s

// CHECK-LABEL: mk_thread.kernel @checks
mk_thread.kernel @checks threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 4 : i32
  // CHECK: %[[I:.*]] = mk_thread.param 16
  %i = mk_thread.param 16 : i64
  %m = mk_thread.param 32 : i64
  // CHECK: %[[A:.*]] = mk_thread.check %[[I]] param(24) least [] named(65539) report(<kind = 12, role = 0, number = 3>) redirect
  %a = mk_thread.check %i param(24) least [] named(65539) report(<kind = 12, role = 0, number = 3>) redirect
  // CHECK-NEXT: mk_thread.param 40
  %k = mk_thread.param 40 : i64
  %b = mk_thread.check %i param(24) least [] named(65539) report(<kind = 12, role = 0, number = 4>) redirect
  // CHECK-NEXT: arith.addi %[[A]], %[[A]]
  %c = arith.addi %a, %b : i64
  // In a loop behind it, too.
  // CHECK: scf.for
  // CHECK-NEXT: arith.addi %[[A]]
  // CHECK-NEXT: }
  scf.for %j = %zero to %n step %one : i32 {
    %d = mk_thread.check %i param(24) least [] named(65539) report(<kind = 12, role = 0, number = 5>) redirect
    %e = arith.addi %d, %c : i64
  }
  // Another extent, another index, a range.
  // CHECK-COUNT-3: mk_thread.check
  %f = mk_thread.check %i param(32) least [] named(65539) report(<kind = 12, role = 0, number = 6>) redirect
  %g = mk_thread.check %m param(24) least [] named(65539) report(<kind = 12, role = 0, number = 7>) redirect
  %h = mk_thread.check %i size(%m) param(24) least [] named(65539) report(<kind = 12, role = 0, number = 8>)
  // What a branch checks is not checked behind it.
  // CHECK: scf.if
  // CHECK-NEXT: mk_thread.check
  // CHECK: mk_thread.check
  %never = arith.constant false
  scf.if %never {
    %p = mk_thread.check %k param(24) least [] named(65539) report(<kind = 12, role = 0, number = 9>) redirect
  }
  %q = mk_thread.check %k param(24) least [] named(65539) report(<kind = 12, role = 0, number = 10>) redirect
}
