// A reference that leaves its tensors is reported, with its line, and never executed there.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: cat %t/kernel.mlir %t/fine.mlir > %t/a.mlir
// RUN: mk-run %t/a.mlir --bind N=8 --check | FileCheck %s --check-prefix=FINE
// FINE: check: PASS y

// RUN: cat %t/kernel.mlir %t/index.mlir > %t/a.mlir
// RUN: not mk-run %t/a.mlir --bind N=8 --check 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: cat %t/kernel.mlir %t/extents.mlir > %t/a.mlir
// RUN: not mk-run %t/a.mlir --bind N=8 --check 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: --check: the reference of kernel 'k': an index or a slice lies outside of its tensor, or extents of operands disagree, in line [[#]]

// RUN: cat %t/kernel.mlir %t/negative.mlir > %t/a.mlir
// RUN: not mk-run %t/a.mlir --bind N=8 --check 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: --check: the reference of kernel 'k': there is no memory for a temporary, in line [[#]]: give smaller sizes

// RUN: cat %t/kernel.mlir %t/assert.mlir > %t/a.mlir
// RUN: not mk-run %t/a.mlir --bind N=8 --check 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: mk-run --no-optimize %t/a.mlir --bind N=0 --check | FileCheck %s --check-prefix=FINE
// ASSERT: --check: the reference of kernel 'k': an assertion does not hold, in line [[#]]

// RUN: cat %t/kernel.mlir %t/asm.mlir > %t/a.mlir
// RUN: not mk-run %t/a.mlir --bind N=8 --check 2>&1 | FileCheck %s --check-prefix=ASM
// ASM: error: 'llvm.inline_asm' op cannot be used in a reference, which is written with linalg, tensor, arith, math and scf

//--- kernel.mlir
mk.mesh @mesh (gpu = ? via link)

mk.kernel @k on @mesh dims(uniform N) (
    in %x : memref<?xf32> [N], out %y : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<8xf32>
    mk.store %t, %y[%c0] : tensor<8xf32>, memref<?xf32>
  }
}

//--- fine.mlir
// The last element is the last one.
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i] : tensor<?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

//--- index.mlir
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %far = arith.constant 100000000000 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf64>) {
  ^bb0(%o: f64):
    %v = tensor.extract %x[%far] : tensor<?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

//--- extents.mlir
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 1000003 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %m = arith.addi %n, %c3 : index
  %e = tensor.empty(%m) : tensor<?xf64>
  %y = linalg.add ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %s = tensor.extract_slice %y[%c3] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  return %s : tensor<?xf64>
}

//--- negative.mlir
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %m = arith.subi %c0, %n : index
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%v: f64, %o: f64):
    %d = arith.mulf %v, %v : f64
    linalg.yield %d : f64
  } -> tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %v = tensor.extract %f[%i, %i] : tensor<?x?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

//--- assert.mlir
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %none = arith.cmpi eq, %n, %c0 : index
  cf.assert %none, "has elements"
  return %x : tensor<?xf64>
}

//--- asm.mlir
func.func @reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  llvm.inline_asm has_side_effects "ud2", "" : () -> ()
  return %x : tensor<?xf64>
}
