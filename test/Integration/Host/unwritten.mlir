// What a kernel leaves unwritten is found, whatever was there before: integers that
// would be right, and rows of a large output that are not compared.
// REQUIRES: compiler
// RUN: mk-run %s --kernel flags --bind N=40 --check | FileCheck %s
// CHECK: check: PASS c
// RUN: sed 's/%%filled = .*/%%filled = arith.constant 39 : index/' %s > %t.mlir
// RUN: not mk-run %t.mlir --kernel flags --bind N=40 --check | FileCheck %s --check-prefix=FLAGS
// FLAGS: c[39] on rank 0: got 0, want -1
// FLAGS: check: FAIL c
// RUN: not mk-run %t.mlir --kernel flags --bind N=40 --check=each --launches 3 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: launch 1 of 3: c[39]
//
// RUN: mk-run --no-optimize %s --kernel large --bind N=2000,W=200 --check | FileCheck %s
// RUN: sed 's/%%hole = .*/%%hole = arith.constant 778 : index/' %s > %t.large.mlir
// RUN: not mk-run %t.large.mlir --kernel large --bind N=2000,W=200 --check | FileCheck %s --check-prefix=LARGE
// LARGE: c[778, 0] on rank 0: is NaN, as it was before the launch
// RUN: not mk-run --no-optimize %t.large.mlir --kernel large --bind N=800,W=2 --check | FileCheck %s --check-prefix=COMPARED
// COMPARED: c[778, 0] on rank 0: is NaN, as it was before the launch, want 1: nobody wrote it, or what it comes from
// RUN: sed 's/xf32>/xi16>/g; s/: f32/: i16/; s/1.0/1/; s/xf64>/xi16>/g; s/: f64/: i16/' %t.large.mlir > %t.ints.mlir
// RUN: not mk-run %t.ints.mlir --kernel large --bind N=2000,W=200 --check | FileCheck %s --check-prefix=INTS
// INTS: c[778, 0] on rank 0: differs between two runs, as it did before the launch: not written

mk.mesh @mesh (gpu = ? via link)

// All are true.
mk.kernel @flags on @mesh dims(uniform N) (out %c : memref<?xi8> [N]) {
  %true = arith.constant -1 : i8
  %tile = tensor.splat %true : tensor<1xi8>
  %filled = arith.addi %N, %N : index
  mk.role @write ctas(rest) {
    mk.foreach (%i) in (%filled) {
      mk.store %tile, %c[%i] : tensor<1xi8>, memref<?xi8>
    }
  }
}

func.func @flags_reference(%c: tensor<?xi8>) -> tensor<?xi8> {
  %true = arith.constant -1 : i8
  %r = linalg.fill ins(%true : i8) outs(%c : tensor<?xi8>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}

mk.kernel @large on @mesh dims(uniform N, uniform W) (out %c : memref<?x?xf32> [N, W]) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %tile = tensor.splat %one : tensor<1x256xf32>
  %hole = arith.constant -1 : index
  mk.role @write ctas(rest) {
    mk.foreach (%i) in (%N) {
      %wanted = arith.cmpi ne, %i, %hole : index
      scf.if %wanted {
        mk.store %tile, %c[%i, %c0] : tensor<1x256xf32>, memref<?x?xf32>
      }
    }
  }
}

func.func @large_reference(%c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = arith.constant 1.0 : f64
  %r = linalg.fill ins(%one : f64) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
