// A reference sees the kernel's dimensions by name, also those that no extent of a tensor is.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 3 --bind N=5,SHIFT=100,T=7:0:2 --check | FileCheck %s
// CHECK: check: PASS c
// RUN: mk-opt --target=host --bind gpu=3 %s -o %t.mkpkg
// RUN: mk-run %t.mkpkg --bind N=4,SHIFT=1,T=1:2:3 --check | FileCheck %s
// RUN: sed 's/mk.dim = "SHIFT"/mk.dim = "SHFT"/' %s > %t.mlir
// RUN: not mk-run %t.mlir --gpus 3 --bind N=5,SHIFT=1,T=1 --check 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: argument 1 of @reference stands for dimension 'SHFT', but kernel 'shift' has 'N', 'SHIFT', 'T'
// RUN: sed 's/mk.dim = "T"/mk.dim = "N"/' %s > %t.mlir
// RUN: not mk-run %t.mlir --gpus 3 --bind N=5,SHIFT=1,T=1 --check 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: argument 2 of @reference stands for dimension 'N' and is of type 'tensor<?xi64>'; it has to be index
// RUN: sed 's/mk.dim = "SHIFT"/mk.dim = "T"/' %s > %t.mlir
// RUN: not mk-run %t.mlir --gpus 3 --bind N=5,SHIFT=1,T=1 --check 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: argument 1 of @reference stands for dimension 'T' and is of type 'index'; it has to be tensor<?xi64>, with a value for each rank
// RUN: sed 's/ {mk.dim = "T"}//' %s > %t.mlir
// RUN: not mk-run %t.mlir --gpus 3 --bind N=5,SHIFT=1,T=1 --check 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: argument 1 of @reference stands for dimension 'SHIFT': it has to come behind all tensors

mk.mesh @mesh (gpu = ? via link)

// Of N elements for each rank: SHIFT and its T.
mk.kernel @shift on @mesh sizes(gpu) dims(uniform N, uniform SHIFT, rank T) (
    out %c : memref<?xi32> [N * gpu] split [(gpu)]) {
  mk.role @write ctas(rest) {
    %sum = arith.addi %SHIFT, %T : index
    %v = arith.index_cast %sum : index to i32
    mk.foreach (%i) in (%N) {
      %t = tensor.splat %v : tensor<1xi32>
      mk.store %t, %c[%i] : tensor<1xi32>, memref<?xi32>
    }
  }
}

func.func @reference(%c: tensor<?xi32>, %shift: index {mk.dim = "SHIFT"},
                     %ts: tensor<?xi64> {mk.dim = "T"}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %all = tensor.dim %c, %c0 : tensor<?xi32>
  %world = mk.size
  %share = arith.divui %all, %world : index
  %r = linalg.map outs(%c : tensor<?xi32>) (%old: i32) {
    %i = linalg.index 0 : index
    %rank = arith.divui %i, %share : index
    %t = tensor.extract %ts[%rank] : tensor<?xi64>
    %it = arith.index_cast %t : i64 to index
    %sum = arith.addi %shift, %it : index
    %v = arith.index_cast %sum : index to i32
    linalg.yield %v : i32
  }
  return %r : tensor<?xi32>
}
