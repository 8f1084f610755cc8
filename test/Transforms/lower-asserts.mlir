// An assertion ends its function with a fault: the line it is at and of what kind it is.
// REQUIRES: compiler
// RUN: mk-opt -mk-lower-asserts %s | FileCheck %s
// RUN: sed 's/-> i64/-> i32/; s/i64/i32/g' %s | not mk-opt -mk-lower-asserts 2>&1 | FileCheck %s --check-prefix=STATUS
// STATUS: error: 'cf.assert' op stands in @status, which returns no status: write what it is needed for without a function that is called

// 12 + 4 * 2^32, 13 + 2 * 2^32 and 14 + 3 * 2^32, each taken from -1.
// CHECK-LABEL: func.func @status
func.func @status(%own: i1, %inside: i1, %memory: i1) -> i64 {
  %c0 = arith.constant 0 : i64
  // Of the file's, of a tensor, of an allocation.
  cf.assert %own, "the file's"
  cf.assert %inside, "bounds"
  cf.assert %memory, "memory"
  return %c0 : i64
}
// CHECK:      %[[OWN:.*]] = arith.constant -17179869197 : i64
// CHECK-NEXT: cf.cond_br %arg0, ^{{.*}}, ^[[EXIT:bb[0-9]+]](%[[OWN]] : i64)
// CHECK:      %[[INSIDE:.*]] = arith.constant -8589934606 : i64
// CHECK-NEXT: cf.cond_br %arg1, ^{{.*}}, ^[[EXIT]](%[[INSIDE]] : i64)
// CHECK:      %[[MEMORY:.*]] = arith.constant -12884901903 : i64
// CHECK-NEXT: cf.cond_br %arg2, ^{{.*}}, ^[[EXIT]](%[[MEMORY]] : i64)
// CHECK:      ^[[EXIT]](%[[FAULT:.*]]: i64):
// CHECK-NEXT: return %[[FAULT]] : i64

// RUN: sed 's/cf.assert %%own.*/scf.if %%own { cf.assert %%own, "inside" }/' %s | not mk-opt -mk-lower-asserts 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: 'cf.assert' op stands inside another op, where nothing can return
