// RUN: mk-opt %s --mk-widen-reductions | FileCheck %s
// REQUIRES: compiler

// Sums of 16 bits are added up in f32; others, and what does not round, stay.
// CHECK-LABEL: func.func @f(
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<16x64xbf16> to tensor<16x64xf32>
// CHECK-NEXT:    %[[SUM:.*]] = mk.reduce add %[[WIDE]] axis 1 : tensor<16x64xf32> -> tensor<16xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : tensor<16xf32> to tensor<16xbf16>
// CHECK-NEXT:    %[[MOST:.*]] = mk.reduce max %{{.*}} axis 1 : tensor<16x64xbf16> -> tensor<16xbf16>
// CHECK-NEXT:    %[[WHOLE:.*]] = mk.reduce add %{{.*}} axis 0 : tensor<16x64xf32> -> tensor<64xf32>
// CHECK-NEXT:    return %[[ROUNDED]], %[[MOST]], %[[WHOLE]]
func.func @f(%a: tensor<16x64xbf16>, %b: tensor<16x64xf32>) -> (tensor<16xbf16>, tensor<16xbf16>, tensor<64xf32>) {
  %sum = mk.reduce add %a axis 1 : tensor<16x64xbf16> -> tensor<16xbf16>
  %most = mk.reduce max %a axis 1 : tensor<16x64xbf16> -> tensor<16xbf16>
  %whole = mk.reduce add %b axis 0 : tensor<16x64xf32> -> tensor<64xf32>
  return %sum, %most, %whole : tensor<16xbf16>, tensor<16xbf16>, tensor<64xf32>
}
