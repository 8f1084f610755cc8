// RUN: mk-opt %s -mk-complete-floats -split-input-file -verify-diagnostics | FileCheck %s

// What is not exact becomes odd before it is narrowed once more.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: %[[X:.*]]: vector<8xf64>
// CHECK: %[[NEAREST:.*]] = arith.truncf %[[X]] : vector<8xf64> to vector<8xf32>
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAREST]]
// CHECK: %[[EXACT:.*]] = arith.cmpf ueq, %[[BACK]], %[[X]]
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: %[[BITS:.*]] = arith.bitcast %[[ODD]] : vector<8xi32> to vector<8xf32>
// CHECK: %[[ROUNDED:.*]] = arith.select %[[EXACT]], %[[NEAREST]], %[[BITS]]
// CHECK: arith.truncf %[[ROUNDED]] : vector<8xf32> to vector<8xbf16>
func.func @narrow(%x: vector<8xf64>) -> vector<8xbf16> {
  %y = arith.truncf %x : vector<8xf64> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// The product is exact in f64, the sum becomes odd.
// CHECK-LABEL: func.func @fma
// CHECK-COUNT-3: arith.extf {{.*}} : f16 to f64
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[WORD:.*]] = arith.bitcast %[[SUM]] : f64 to i64
// CHECK: %[[ODD:.*]] = arith.select %{{.*}}, %{{.*}}, %[[WORD]] : i64
// CHECK: arith.bitcast %[[ODD]] : i64 to f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @fma(%x: f16, %y: f16, %z: f16) -> f16 {
  %r = math.fma %x, %y, %z : f16
  return %r : f16
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: math.expm1
// CHECK-NOT: math.log1p
// CHECK: return
func.func @small(%x: f32, %y: vector<4xf64>) -> (f32, vector<4xf64>) {
  %e = math.expm1 %x : f32
  %l = math.log1p %y : vector<4xf64>
  return %e, %l : f32, vector<4xf64>
}

// CHECK-LABEL: func.func @classes
// CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK: arith.cmpf oeq, %{{.*}}, %[[INF]] : f32
// CHECK: arith.constant dense<6.103520e-05> : vector<2xf16>
// CHECK: arith.andi %{{.*}}, %{{.*}} : vector<2xi1>
func.func @classes(%x: f32, %y: vector<2xf16>) -> (i1, vector<2xi1>) {
  %i = math.isinf %x : f32
  %n = math.isnormal %y : vector<2xf16>
  return %i, %n : i1, vector<2xi1>
}

// The rounding that there is may be named.
// CHECK-LABEL: func.func @nearest
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @nearest(%x: f32) -> f16 {
  %y = arith.truncf %x to_nearest_even : f32 to f16
  return %y : f16
}

// -----

func.func @down(%x: f32) -> bf16 {
  // expected-error @+1 {{cannot be lowered: numbers are rounded to the nearest, ties to even, on every target: leave the rounding mode out}}
  %y = arith.truncf %x downward : f32 to bf16
  return %y : bf16
}

// -----

func.func @small_down(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  // expected-error @+1 {{cannot be lowered: numbers are rounded to the nearest, ties to even, on every target: leave the rounding mode out}}
  %y = arith.truncf %x downward : vector<4xf32> to vector<4xf8E4M3FN>
  return %y : vector<4xf8E4M3FN>
}

// -----

func.func @other(%x: f32) -> f8E4M3 {
  // expected-error @+1 {{cannot be lowered: floats are f64, f32, f16, bf16, f8E4M3FN and f8E5M2 (f32 as tf32 is a precision of mk.dot)}}
  %y = arith.truncf %x : f32 to f8E4M3
  return %y : f8E4M3
}
