// RUN: mk-opt %s -mk-saturate-conversions | FileCheck %s
// RUN: mk-opt %s -mk-saturate-conversions=hardware | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @signed(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>)
// CHECK: %[[ABOVE:.*]] = arith.constant dense<1.280000e+02> : vector<4xf32>
// CHECK: %[[TOO:.*]] = arith.cmpf oge, %[[X]], %[[ABOVE]]
// CHECK: %[[MOST:.*]] = arith.constant dense<127> : vector<4xi8>
// CHECK: %[[IN:.*]] = arith.fptosi %[[X]]
// CHECK: arith.select %[[TOO]], %[[MOST]], %[[IN]]
// CHECK: %[[BELOW:.*]] = arith.constant dense<-1.280000e+02> : vector<4xf32>
// CHECK: arith.cmpf ole, %[[X]], %[[BELOW]]
// CHECK: %[[LEAST:.*]] = arith.constant dense<-128> : vector<4xi8>
// CHECK: arith.select %{{.*}}, %[[LEAST]]
// CHECK: arith.cmpf ord, %[[X]], %[[X]]
// CHECK: arith.select
func.func @signed(%x: vector<4xf32>) -> vector<4xi8> {
  %y = arith.fptosi %x : vector<4xf32> to vector<4xi8>
  return %y : vector<4xi8>
}

// Half floats have no number beyond those of 32 bits but infinity.
// CHECK-LABEL: func.func @unsigned(
// CHECK: arith.constant 0x7C00 : f16
// CHECK: arith.fptoui
// CHECK: arith.cmpf ogt
// CHECK: arith.select
func.func @unsigned(%x: f16) -> i32 {
  %y = arith.fptoui %x : f16 to i32
  return %y : i32
}

// Instructions of 32 bits saturate; what is shorter is cut from them.
// GPU-LABEL: func.func @short(
// GPU: %[[WIDE:.*]] = arith.fptosi %{{.*}} : f32 to i32
// GPU: %[[UP:.*]] = arith.maxsi %[[WIDE]], %c-128_i32
// GPU: %[[IN:.*]] = arith.minsi %[[UP]], %c127_i32
// GPU: arith.trunci %[[IN]] : i32 to i8
// GPU: %[[BITS:.*]] = arith.fptoui %{{.*}} : f32 to i32
// GPU: arith.minui %[[BITS]], %c255_i32
func.func @short(%x: f32) -> (i8, i8) {
  %y = arith.fptosi %x : f32 to i8
  %z = arith.fptoui %x : f32 to i8
  return %y, %z : i8, i8
}

// GPU-LABEL: func.func @long(
// GPU-NEXT: %[[A:.*]] = arith.fptosi %{{.*}} : f32 to i32
// GPU: arith.cmpf ord
// GPU: arith.fptosi %{{.*}} : f32 to i64
// GPU: arith.cmpf ord
func.func @long(%x: f32, %d: f64) -> (i32, i32, i64) {
  %y = arith.fptosi %x : f32 to i32
  %z = arith.fptosi %d : f64 to i32
  %w = arith.fptosi %x : f32 to i64
  return %y, %z, %w : i32, i32, i64
}
