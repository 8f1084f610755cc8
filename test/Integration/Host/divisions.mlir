// An integer division that is not defined is reported, with its line, wherever it stands: in a
// role, on elements of a tile, in what is known before a launch, in the reference.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 2 --bind N=8,D=2 --random x=2:2 --check | FileCheck %s --check-prefix=FINE
// FINE: check: PASS y

// RUN: not mk-run %s --gpus 2 --bind N=8,D=0 --random x=2:2 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: kernel 'divide' cannot run with these sizes (rank 0): an integer is divided by zero, or the quotient does not fit, in line [[#PLAN:]]: test the divisor, or refuse such sizes by mk.require

// RUN: not timeout 20 mk-run %s --gpus 2 --bind N=8,D=2 --random x=0:0 2>&1 | FileCheck %s --check-prefix=ROLE
// ROLE: rank {{[01]}}, division, {{.*}}: kernel 'divide', role 'r', CTA {{[0-9]+}}, item (0) of loop 0: an integer is divided by zero, or the quotient does not fit, in line [[#]]: test the divisor (beyond an edge a tile has zeros, unless its load has a pad), or refuse such sizes by mk.require

// The least number by -1.
// RUN: sed 's/constant 7 :/constant -2147483648 :/' %s > %t.least.mlir
// RUN: not timeout 20 mk-run %t.least.mlir --gpus 2 --bind N=8,D=2 --random x=-1:-1 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: mk-run --no-optimize %t.least.mlir --gpus 2 --bind N=8,D=2 --random x=1:1 --check | FileCheck %s --check-prefix=FINE

// RUN: sed 's/divsi \(.*\), \(.*\) : tensor/divsi \2, \1 : tensor/' %s > %t.reference.mlir
// RUN: not timeout 20 mk-run %t.reference.mlir --gpus 2 --bind N=8,D=2 --random x=0:0 --check 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: --check: the reference of kernel 'divide': an integer is divided by zero, or the quotient does not fit, in line [[#]]

// Code for a CTA, and for what is known before.
// RUN: mk-opt --target=host --emit=llvm --bind gpu=1 %s | FileCheck %s --check-prefix=CODE
// CODE-DAG: llvm.func @mkrt_fault(!llvm.ptr, i32, i32)
// CODE-DAG: llvm.call @mkrt_fault

mk.mesh @mesh (gpu = ? via link)

mk.kernel @divide on @mesh dims(uniform N, uniform D) (
    in %x : memref<?xi32> [N], out %y : memref<?xi32> [N]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %seven = arith.constant 7 : i32
  %tiles = tensor.splat %seven : tensor<8xi32>
  %some = arith.divui %N, %D : index
  %s = mk.signals(%some) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %n = arith.ceildivui %N, %c8 : index
    mk.foreach (%i) in (%n) {
      %at = arith.muli %i, %c8 : index
      %t = mk.load %x[%at] : memref<?xi32> -> tensor<8xi32>
      %q = arith.divsi %tiles, %t : tensor<8xi32>
      mk.store %q, %y[%at] : tensor<8xi32>, memref<?xi32>
    }
  }
}

func.func @reference(%x: tensor<?xi32>) -> tensor<?xi32> {
  %seven = arith.constant 7 : i32
  %y = linalg.map ins(%x : tensor<?xi32>) outs(%x : tensor<?xi32>) (%e: i32, %o: i32) {
    %q = arith.divsi %seven, %e : i32
    linalg.yield %q : i32
  }
  return %y : tensor<?xi32>
}
