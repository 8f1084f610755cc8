// RUN: mk-opt %s -mk-guard-divisions | FileCheck %s

// What is undefined is reported, and divides by 1.

// CHECK: func.func private @mkrt_fault(!llvm.ptr, i32, i32)

// Code of a CTA tells the runtime, with the line.
// CHECK-LABEL: func.func @cta(
// CHECK-SAME: %[[CTA:.*]]: !llvm.ptr)
func.func @cta(%cta: !llvm.ptr) {
  %x = llvm.load %cta : !llvm.ptr -> i32
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[X:.*]], %c0_i32
  // CHECK: scf.if %[[ZERO]]
  // CHECK: %[[KIND:.*]] = arith.constant 0 : i32
  // CHECK: %[[LINE:.*]] = arith.constant [[#@LINE+4]] : i32
  // CHECK: call @mkrt_fault(%[[CTA]], %[[KIND]], %[[LINE]])
  // CHECK: %[[BY:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[X]]
  // CHECK: arith.divui %[[X]], %[[BY]]
  %0 = arith.divui %x, %x : i32
  // The least number by -1 as well, where numbers have signs.
  // CHECK: arith.cmpi eq, %{{.*}}, %c-2147483648_i32
  // CHECK: arith.cmpi eq, %{{.*}}, %c-1_i32
  // CHECK: arith.remsi
  %1 = arith.remsi %x, %x : i32
  // A divisor that is known to be good is left alone.
  // CHECK-NOT: scf.if
  // CHECK: arith.divsi
  %c7 = arith.constant 7 : i32
  %2 = arith.divsi %x, %c7 : i32
  llvm.store %0, %cta : i32, !llvm.ptr
  llvm.store %1, %cta : i32, !llvm.ptr
  llvm.store %2, %cta : i32, !llvm.ptr
  return
}

// What has a status returns -1 - line in it, unless something else went wrong.
// CHECK-LABEL: func.func @status(
func.func @status(%x: index) -> i64 {
  // CHECK: %[[STATUS:.*]] = llvm.alloca
  // CHECK: scf.if
  // CHECK: llvm.store %{{.*}}, %[[STATUS]]
  %0 = arith.divui %x, %x : index
  %1 = arith.index_cast %0 : index to i64
  // CHECK: %[[FOUND:.*]] = llvm.load %[[STATUS]]
  // CHECK: %[[RESULT:.*]] = arith.select %{{.*}}, %[[FOUND]], %{{.*}}
  // CHECK: return %[[RESULT]]
  return %1 : i64
}
