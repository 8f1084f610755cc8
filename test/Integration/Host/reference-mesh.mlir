// What results look like may depend on the mesh and on the outputs' extents, which a
// reference may ask for.
// REQUIRES: compiler
// RUN: mk-run %s --nodes 2 --gpus 3 --bind N=5 --check | FileCheck %s
// CHECK: check: PASS c
// RUN: sed 's/mk.size gpu/mk.size rack/' %s > %t.mlir
// RUN: not mk-run %t.mlir --nodes 2 --gpus 3 --bind N=5 --check 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: in the reference names axis 'rack', but mesh @mesh has

mk.mesh @mesh (node = ? via net, gpu = ? via link)

// Of 2 N elements for each rank: 1000 times its place in the node, and its ranks.
mk.kernel @ranks on @mesh sizes(node, gpu) dims(uniform N) (
    out %c : memref<?xi32> [N * 2 * (node * gpu)] split [(node, gpu)]) {
  mk.role @write ctas(rest) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1000 = arith.constant 1000 : index
    %n = memref.dim %c, %c0 : memref<?xi32>
    %place = mk.coord gpu
    %world = mk.size
    %high = arith.muli %place, %c1000 : index
    %sum = arith.addi %high, %world : index
    %v = arith.index_cast %sum : index to i32
    mk.foreach (%i) in (%n) {
      %t = tensor.splat %v : tensor<1xi32>
      mk.store %t, %c[%i] : tensor<1xi32>, memref<?xi32>
    }
  }
}

func.func @reference(%c: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  %all = tensor.dim %c, %c0 : tensor<?xi32>
  %world = mk.size
  %gpus = mk.size gpu
  %share = arith.divui %all, %world : index
  %r = linalg.map outs(%c : tensor<?xi32>) (%old: i32) {
    %i = linalg.index 0 : index
    %rank = arith.divui %i, %share : index
    %place = arith.remui %rank, %gpus : index
    %high = arith.muli %place, %c1000 : index
    %sum = arith.addi %high, %world : index
    %v = arith.index_cast %sum : index to i32
    linalg.yield %v : i32
  }
  return %r : tensor<?xi32>
}
