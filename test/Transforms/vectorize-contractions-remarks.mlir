// RUN: mk-opt %s --pass-pipeline='builtin.module(func.func(mk-vectorize-contractions))' --remarks=vectorize -verify-diagnostics -o %t

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#turned = affine_map<(m, n, k) -> (n, m)>

// In blocks: nothing is said of it. Into columns: it stays loops.
func.func @products(%a: memref<8x4xf32>, %b: memref<4x16xf32>, %c: memref<8x16xf32>, %d: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x16xf32>) outs(%c : memref<8x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  // expected-remark @+1 {{mk-vectorize-contractions: missed: is a contraction that stays loops over single elements: those in blocks are of matrices of static sizes, into rows of floats}}
  linalg.generic {indexing_maps = [#a, #b, #turned], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x16xf32>) outs(%d : memref<16x8xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
