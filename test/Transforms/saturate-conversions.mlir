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

// By instructions, which are no folding's business. What is shorter is cut from 32 bits.
// GPU-LABEL: func.func @short(
// GPU: %[[WIDE:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%{{.*}}) : (f32) -> i32
// GPU: %[[UP:.*]] = arith.maxsi %[[WIDE]], %c-128_i32
// GPU: %[[IN:.*]] = arith.minsi %[[UP]], %c127_i32
// GPU: arith.trunci %[[IN]] : i32 to i8
// GPU: %[[HALF:.*]] = arith.extf %{{.*}} : bf16 to f32
// GPU: %[[BITS:.*]] = llvm.call_intrinsic "llvm.nvvm.f2ui.rz"(%[[HALF]])
// GPU: arith.minui %[[BITS]], %c65535_i32
func.func @short(%x: f32, %b: bf16) -> (i8, i16) {
  %y = arith.fptosi %x : f32 to i8
  %z = arith.fptoui %b : bf16 to i16
  return %y, %z : i8, i16
}

// NaN of 64 bits, or for them, gives the least number.
// GPU-LABEL: func.func @long(
// GPU-NEXT: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rz"
// GPU-NEXT: %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.d2ui.rz"
// GPU-NEXT: arith.cmpf ord
// GPU: llvm.call_intrinsic "llvm.nvvm.f2ll.rz"
// GPU-NEXT: arith.cmpf ord
// GPU: arith.fptosi %{{.*}} : vector<2xf32> to vector<2xi8>
func.func @long(%x: f32, %d: f64, %v: vector<2xf32>) -> (i32, i32, i64, vector<2xi8>) {
  %y = arith.fptosi %x : f32 to i32
  %z = arith.fptoui %d : f64 to i32
  %w = arith.fptosi %x : f32 to i64
  %u = arith.fptosi %v : vector<2xf32> to vector<2xi8>
  return %y, %z, %w, %u : i32, i32, i64, vector<2xi8>
}
