// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-build-plan=only --canonicalize | FileCheck %s

mk.mesh @mesh (node = 2 via net, gpu = 3 via link)

// Shapes of the arguments, then extents and arrivals of signals, extents of
// counters, capacities of queues. An extent of a split argument is this rank's.
// CHECK-LABEL: func @mk_plan(
// CHECK-SAME: %[[LAUNCH:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr) -> i64
// CHECK-DAG: %[[P1:.*]] = llvm.getelementptr %[[OUT]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-DAG: llvm.store %c12_i64, %[[P1]]
// CHECK-DAG: %[[P2:.*]] = llvm.getelementptr %[[OUT]][2]
// CHECK-DAG: %[[P3:.*]] = llvm.getelementptr %[[OUT]][3]
// CHECK-DAG: llvm.store %c6_i64, %[[P3]]
// CHECK-DAG: %[[P4:.*]] = llvm.getelementptr %[[OUT]][4]
// CHECK-DAG: %[[P5:.*]] = llvm.getelementptr %[[OUT]][5]
// CHECK-DAG: llvm.store %c-1_i64, %[[P5]]
// CHECK-DAG: %[[P6:.*]] = llvm.getelementptr %[[OUT]][6]
// CHECK-NOT: llvm.getelementptr %[[OUT]][7]
// 0, or 1 + the number of the requirement that does not hold.
// CHECK: %[[FAILS:.*]] = arith.cmpi slt, %{{.*}}, %c7
// CHECK: %[[V:.*]] = arith.extui %[[FAILS]]
// CHECK: return %[[V]]
mk.kernel @plan on @mesh sizes(gpu, node) dims(uniform M) (
    in %a : memref<?x12xf32, #mk.symmetric> [M, gpu * 2 * node] split [(node, gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %rows = memref.dim %a, %c0 : memref<?x12xf32, #mk.symmetric>
  %world = mk.size
  %local = mk.signals(%rows) arrivals(%world) : !mk.signal<?, gpu, arrivals = ?>
  %s = mk.signals(%world) : !mk.signal<?, sys, dynamic>
  %n = mk.counters(%M) : !mk.counter<?>
  %ok = arith.cmpi sge, %M, %c7 : index
  mk.require %ok, "M must be at least 7"
  mk.role @r ctas(1) {}
}
