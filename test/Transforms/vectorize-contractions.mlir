// RUN: mk-opt %s --pass-pipeline='builtin.module(func.func(mk-vectorize-contractions{vector-width=8 block-rows=4 block-vectors=2}))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#at = affine_map<(m, n, k) -> (k, m)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// bf16 operands are widened once, B in panels of 16 columns; four rows of two
// vectors are held in registers over the whole of K.
// CHECK-LABEL: func @bf16
// CHECK-DAG: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x16xf32>
// CHECK-DAG: %[[WIDE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x64xf32>
// CHECK-NOT: linalg.generic
// CHECK: arith.extf
// CHECK: memref.store %{{.*}}, %[[WIDE]]
// CHECK: arith.extf
// CHECK: memref.store %{{.*}}, %[[PANEL]]
// CHECK-COUNT-8: vector.load %{{.*}} : memref<32x48xf32>, vector<8xf32>
// CHECK: scf.for
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-8: vector.store
func.func @bf16(%x: memref<32x64xbf16>, %y: memref<48x64xbf16>, %z: memref<32x48xf32>) {
  linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<32x64xbf16>, memref<48x64xbf16>) outs(%z : memref<32x48xf32>) {
  ^bb0(%l: bf16, %r: bf16, %s: f32):
    %lw = arith.extf %l : bf16 to f32
    %rw = arith.extf %r : bf16 to f32
    %p = arith.mulf %lw, %rw : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// Odd sizes get the largest block that divides them (3 rows, one vector of 5); a
// transposed left operand is packed.
// CHECK-LABEL: func @odd
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<9x7xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<7x5xf32>
// CHECK-COUNT-3: vector.fma %{{.*}} : vector<5xf32>
// CHECK-NOT: vector.fma
// CHECK: return
func.func @odd(%x: memref<7x9xf32>, %y: memref<7x5xf32>, %z: memref<9x5xf32>) {
  linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<7x9xf32>, memref<7x5xf32>) outs(%z : memref<9x5xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// Not a plain product: left alone.
// CHECK-LABEL: func @not_a_product
// CHECK: linalg.generic
func.func @not_a_product(%x: memref<4x8xf32>, %y: memref<8x8xf32>, %z: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<4x8xf32>, memref<8x8xf32>) outs(%z : memref<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.addf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
