// Sizes that do not fit in 64 bits are refused before a launch, by what computes them.
// REQUIRES: compiler
// RUN: mk-run %s --kernel extents --gpus 2 --bind N=2 | FileCheck %s --check-prefix=FINE
// FINE: done: kernel 'extents'

// 2^32 * 2^30 wraps to 0 twice over.
// RUN: not mk-run %s --kernel extents --gpus 2 --bind N=17179869184 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: kernel 'extents' cannot run with these sizes (rank 0): a sum, difference or product of sizes does not fit in its integers, in extent 1 of argument 's', (N * 1073741824) + -2147483646, in line [[#]]: give smaller sizes

// RUN: mk-run --no-optimize %s --kernel items --bind T=2 | FileCheck %s --check-prefix=ITEMS
// ITEMS: done: kernel 'items'
// RUN: not timeout 60 mk-run %s --kernel items --bind T=4294967296 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: kernel 'items' cannot run with these sizes (rank 0): a sum, difference or product of sizes does not fit in its integers, in line [[#LOOP:]]: give smaller sizes

// Known when it is compiled.
// RUN: not mk-run %s --kernel constant --bind N=4294967296 2>&1 | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: error: 'arith.muli' op wraps: 4294967296 * 4294967296 does not fit in 64 bits; bind smaller sizes

// An axis may divide: it has a size when the plan is built.
// RUN: mk-run --no-optimize %s --kernel divided --gpus 2 --bind N=7 | FileCheck %s --check-prefix=DIVIDED
// DIVIDED: done: kernel 'divided'

mk.mesh @mesh (gpu = ? via link)

mk.kernel @extents on @mesh dims(uniform N) (
    in %x : memref<?xf32> [N], scratch %s : memref<?x?xi8> [1, N * 1073741824 - 2147483646]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
  }
}

mk.kernel @items on @mesh dims(rank T) (out %y : memref<?xf32> [T ceildiv 2147483648] split [(gpu)]) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %small = arith.constant 2 : index
  mk.role @r ctas(1) {
    mk.foreach (%i, %j) in (%T, %T) {
      mk.store %zero, %y[%c0] : tensor<8xf32>, memref<?xf32>
    }
  }
}

mk.kernel @constant on @mesh dims(uniform N) (in %x : memref<?xf32> [8]) {
  %c0 = arith.constant 0 : index
  %n = arith.muli %N, %N : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%n) {
      %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
    }
  }
}

mk.kernel @divided on @mesh sizes(gpu) dims(uniform N) (
    in %x : memref<?xf32> [N ceildiv gpu], scratch %s : memref<?xf32> [N mod gpu + N floordiv gpu]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
  }
}
