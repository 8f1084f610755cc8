// RUN: mk-opt %s -canonicalize | FileCheck %s

// A mask that keeps all elements is what it masks. Nothing is known of numbers that are not constant.

// CHECK-LABEL: func.func @masks(
// CHECK-SAME: %[[T:.*]]: tensor<8x16xf32>, %[[N:.*]]: index)
// CHECK: %[[C15:.*]] = arith.constant 15 : index
// CHECK: %[[SOME:.*]] = mk.mask %[[T]] where #{{.*}}[%[[C15]]]
// CHECK: %[[ANY:.*]] = mk.mask %[[T]] where #{{.*}}[%[[N]]]
// CHECK: %[[DIAGONAL:.*]] = mk.mask %[[T]]
// CHECK: return %[[T]], %[[SOME]], %[[ANY]], %[[DIAGONAL]], %[[T]] :
func.func @masks(%t: tensor<8x16xf32>, %n: index)
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %all = mk.mask %t where affine_set<(r, c)[n] : (n - 1 - c >= 0, r >= 0)>[%c16] else %one : tensor<8x16xf32>
  %some = mk.mask %t where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%c15] else %one : tensor<8x16xf32>
  %any = mk.mask %t where affine_set<(r, c)[n] : (n - 1 - c >= 0)>[%n] else %one : tensor<8x16xf32>
  %diagonal = mk.mask %t where affine_set<(r, c) : (r - c == 0)> else %one : tensor<8x16xf32>
  %sure = mk.mask %t where affine_set<(r, c) : (r - r == 0)> else %one : tensor<8x16xf32>
  return %all, %some, %any, %diagonal, %sure
      : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
