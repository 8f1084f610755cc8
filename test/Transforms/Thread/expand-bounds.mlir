// RUN: mk-opt %s -mk-thread-expand-bounds | FileCheck %s

// What is not known is compared with what 32 bits hold; a loop that does not fit is empty.

// CHECK-LABEL: mk_thread.kernel @ends
mk_thread.kernel @ends threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -1073741824 : i64
  // CHECK-DAG: %[[MOST:.*]] = arith.constant 1073741824 : i64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // CHECK: %[[G:.*]] = mk_thread.param 24
  %g = mk_thread.param 24 : i64
  // CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[G]], %[[MOST]]
  // CHECK: %[[END:.*]] = arith.maxsi %[[G]], %[[LEAST]]
  // CHECK: %[[WORD:.*]] = arith.extui %[[FITS]]
  // CHECK: mk_thread.fail_unless %[[WORD]] report(<kind = 11, role = 1, number = 0>)
  // CHECK: arith.select %[[FITS]], %[[END]], %[[ZERO]]
  %a = mk_thread.clamp_end %zero to %g step %one report(<kind = 11, role = 1, number = 0>)
  // Where it begins is not known: that may be too low as well. Another one says so.
  // CHECK: arith.cmpi sle, %[[G]], %[[MOST]]
  // CHECK: arith.cmpi sge, %[[G]], %[[LEAST]]
  // CHECK-NOT: fail_unless
  // CHECK: arith.select
  %b = mk_thread.clamp_end %g to %one step %one
  // A loop without a turn is right wherever it begins.
  // CHECK: %[[IN:.*]] = arith.andi
  // CHECK: %[[NONE:.*]] = arith.cmpi sge, %[[G]], %c0
  // CHECK: %[[RIGHT:.*]] = arith.ori %[[IN]], %[[NONE]]
  // CHECK: %[[WORD2:.*]] = arith.extui %[[RIGHT]]
  // CHECK: mk_thread.fail_unless %[[WORD2]]
  %c = mk_thread.clamp_end %g to %zero step %one report(<kind = 11, role = 1, number = 0>)
}
