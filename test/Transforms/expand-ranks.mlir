// RUN: mk-opt %s -mk-expand-ranks -canonicalize -cse -split-input-file | FileCheck %s
// RUN: mk-opt %s -mk-expand-ranks=checked -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=CHECKED

// A coordinate outside of its axis makes no rank.
// CHECKED-LABEL: mk.kernel @ranks
// CHECKED: %[[INSIDE:.*]] = arith.cmpi ult, %M, %c2
// CHECKED: %[[S:.*]] = arith.muli %M, %c3
// CHECKED: %[[AT:.*]] = arith.addi %[[S]], %{{.*}}
// CHECKED: arith.select %[[INSIDE]], %[[AT]], %c-1
// CHECKED-LABEL: mk.kernel @one
// CHECKED: %[[NONE:.*]] = arith.cmpi ult, %M, %c1
// CHECKED: arith.select %[[NONE]], %M, %c-1

// CHECK-LABEL: mk.kernel @ranks
// CHECK-DAG: %[[ME:.*]] = mk.rank
// CHECK-DAG: %[[GPU:.*]] = mk.coord gpu
// CHECK-DAG: %[[NODE:.*]] = mk.coord node
// Sizes and the axis of one rank are known.
// CHECK: mk.require %{{.*}}, "6 1 3"
// The rank at another node.
// CHECK: %[[S:.*]] = arith.muli %M, %c3
// CHECK: %[[AT:.*]] = arith.addi %[[S]], %[[GPU]]
// CHECK: mk.require
// The node of another rank.
// CHECK: %[[N:.*]] = arith.divsi %M, %c3
// CHECK: %[[R:.*]] = arith.remsi %[[N]], %c2
// CHECK: mk.require
mk.mesh @mesh (node = 2 via net, rail = 1 via link, gpu = 3 via link)
mk.kernel @ranks on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %me = mk.rank
  %gpu = mk.coord gpu
  %node = mk.coord node
  %rail = mk.coord rail
  %all = mk.size
  %rails = mk.size rail
  %gpus = mk.size gpu
  %0 = arith.addi %me, %gpu : index
  %1 = arith.addi %0, %node : index
  %2 = arith.addi %1, %rail : index
  %3 = arith.muli %all, %2 : index
  %4 = arith.muli %rails, %3 : index
  %5 = arith.muli %gpus, %4 : index
  %6 = arith.cmpi ugt, %5, %M : index
  mk.require %6, "6 1 3"
  %there = mk.rank(node = %M)
  %7 = arith.cmpi ugt, %there, %M : index
  mk.require %7, "there"
  %its = mk.coord node of %M
  %8 = arith.cmpi ugt, %its, %M : index
  mk.require %8, "its"
}

// -----

// A mesh of one rank.
// CHECK-LABEL: mk.kernel @one
// CHECK-NOT: mk.rank
// CHECK-NOT: mk.coord
// CHECK: arith.cmpi eq, %M, %c0
mk.mesh @mesh (node = 1 via net, gpu = 1 via link)
mk.kernel @one on @mesh dims(uniform M) (in %a : memref<?xf32> [M]) {
  %me = mk.rank
  %node = mk.coord node
  %there = mk.rank(gpu = %M)
  %0 = arith.addi %me, %node : index
  %1 = arith.addi %0, %there : index
  %2 = arith.cmpi eq, %M, %1 : index
  mk.require %2, "M"
}
