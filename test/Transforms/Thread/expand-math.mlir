// RUN: mk-opt %s -mk-thread-expand-math | FileCheck %s

mk_thread.kernel @math threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i32
  %x = llvm.bitcast %n : i32 to f32
  // CHECK: llvm.fmul
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  %a = math.exp %x : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
  %b = math.log2 %a : f32
  // CHECK: mk_thread.approximate sin
  %c = math.sin %b : f32
  // Two polynomials, of which the magnitude chooses.
  // CHECK-COUNT-12: llvm.intr.fma
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: llvm.intr.copysign
  // CHECK: llvm.fcmp "ogt"
  // CHECK: arith.select
  %d = math.erf %c : f32
  // CHECK: nvvm.rcp.approx.ftz.f
  %e = math.tanh %d : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
  %f = arith.divf %e, %x : f32
  // CHECK: llvm.intr.maximum
  %g = arith.maximumf %f, %x : f32
  // 16-bit floats by way of f32.
  // CHECK: llvm.fpext
  // CHECK: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"
  // CHECK: llvm.fptrunc
  %h = arith.truncf %g : f32 to bf16
  %i = math.sqrt %h : bf16
  // f64 has no instruction for a maximum.
  // CHECK: arith.maximumf
  %j = arith.extf %i : bf16 to f64
  %k = arith.maximumf %j, %j : f64
  // CHECK: llvm.intr.ctpop
  %l = math.ctpop %n : i32
  // CHECK-NOT: math.
  mk_thread.pin %k, %l : f64, i32
}

// 1 + tanh x without cancellation, by one exponential and a reciprocal, unless tanh x is needed, too; what is divided by 1 + e^x.
// CHECK-LABEL: mk_thread.kernel @logistic
mk_thread.kernel @logistic threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i32
  %x = llvm.bitcast %n : i32 to f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  // CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK-NEXT: %[[H:.*]] = llvm.intr.fma(%[[E]], %[[HALF:.*]], %[[HALF]])
  // CHECK-NEXT: %[[T:.*]] = nvvm.rcp.approx.ftz.f %[[H]]
  %a = math.tanh %x : f32
  %b = arith.addf %a, %one : f32
  // CHECK: arith.mulf %[[T]], %[[T]]
  %c = arith.mulf %b, %b : f32
  // CHECK-COUNT-4: llvm.intr.fma
  // CHECK: arith.addf
  %d = math.tanh %c : f32
  %e = arith.addf %one, %d : f32
  %f = arith.mulf %d, %e : f32
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[P]]
  // CHECK: %[[R:.*]] = nvvm.rcp.approx.ftz.f %[[S]]
  // CHECK: llvm.fmul %{{.*}}, %[[R]]
  %g = math.exp2 %f : f32
  %h = arith.addf %one, %g : f32
  %i = arith.divf %f, %h : f32
  // CHECK: llvm.nvvm.div.full
  %j = arith.addf %two, %g : f32
  %k = arith.divf %i, %j : f32
  mk_thread.pin %k : f32
}
