// RUN: mk-opt %s --mk-expand-fp8 --split-input-file --verify-diagnostics | FileCheck %s

// Scalars and vectors, either format; what only moves elements stays.
// CHECK-LABEL: @widen
// CHECK-NOT: arith.extf %arg
// CHECK: %[[BITS:.*]] = arith.bitcast %arg0 : f8E4M3FN to i8
// CHECK: arith.extui %[[BITS]] : i8 to i32
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.bitcast %arg1 : vector<4xf8E5M2> to vector<4xi8>
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
func.func @widen(%x: f8E4M3FN, %y: vector<4xf8E5M2>) -> (f32, vector<4xbf16>) {
  %a = arith.extf %x : f8E4M3FN to f32
  %b = arith.extf %y : vector<4xf8E5M2> to vector<4xbf16>
  return %a, %b : f32, vector<4xbf16>
}

// CHECK-LABEL: @narrow
// CHECK: arith.extf %arg0 : f16 to f32
// CHECK: arith.minui
// CHECK: %[[BYTE:.*]] = arith.trunci {{.*}} : i32 to i8
// CHECK: arith.bitcast %[[BYTE]] : i8 to f8E5M2
func.func @narrow(%x: f16) -> f8E5M2 {
  %a = arith.truncf %x : f16 to f8E5M2
  return %a : f8E5M2
}

// Integers by way of f32, which is exact enough for them.
// CHECK-LABEL: @integers
// CHECK: arith.sitofp %arg0 : i32 to f32
// CHECK: arith.bitcast {{.*}} : i8 to f8E4M3FN
// CHECK: arith.uitofp %arg1 : vector<4xi64> to vector<4xf32>
// CHECK: arith.bitcast {{.*}} : vector<4xi8> to vector<4xf8E5M2>
func.func @integers(%x: i32, %y: vector<4xi64>) -> (f8E4M3FN, vector<4xf8E5M2>) {
  %a = arith.sitofp %x : i32 to f8E4M3FN
  %b = arith.uitofp %y : vector<4xi64> to vector<4xf8E5M2>
  return %a, %b : f8E4M3FN, vector<4xf8E5M2>
}

// CHECK-LABEL: @move
// CHECK: %[[ONE:.*]] = arith.constant 56 : i8
// CHECK: arith.bitcast %[[ONE]] : i8 to f8E4M3FN
// CHECK: memref.store {{.*}} : memref<4xf8E4M3FN>
func.func @move(%m: memref<4xf8E4M3FN>, %i: index) {
  %one = arith.constant 1.0 : f8E4M3FN
  memref.store %one, %m[%i] : memref<4xf8E4M3FN>
  return
}

// -----

func.func @calculate(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error @+1 {{calculates in fp8, for which there is no arithmetic: widen by arith.extf to f32 first, and narrow the result by arith.truncf}}
  %a = arith.addf %x, %x : f8E4M3FN
  return %a : f8E4M3FN
}
