// RUN: mk-opt %s -mk-thread-pair-conversions | FileCheck %s

mk_thread.kernel @numbers threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i32
  %m = mk_thread.param 32 : i32
  %a = llvm.trunc %n : i32 to i8
  %b = llvm.trunc %m : i32 to i8
  // 128 and seven bits of the numbers, 128 or 256 by the eighth.
  // CHECK: %[[PAIR:.*]] = llvm.bitcast %{{.*}} : vector<2xi8> to i16
  // CHECK: %[[WORD:.*]] = arith.extui %[[PAIR]] : i16 to i32
  // CHECK: %[[BITS:.*]] = nvvm.prmt <default> %{{.*}}, %[[WORD]], %
  // CHECK: arith.andi %[[BITS]]
  // CHECK: arith.andi %[[BITS]]
  // CHECK: llvm.fsub %{{.*}}, %{{.*}} : vector<2xbf16>
  // CHECK: llvm.extractelement
  // CHECK: llvm.extractelement
  // CHECK-NOT: arith.sitofp
  %0 = arith.sitofp %a : i8 to bf16
  %1 = arith.sitofp %b : i8 to bf16
  // CHECK: llvm.fsub %{{.*}} : vector<2xbf16>
  // CHECK: llvm.fadd %{{.*}} : vector<2xbf16>
  %2 = arith.uitofp %a : i8 to bf16
  %3 = arith.uitofp %b : i8 to bf16
  // 1024 and the numbers, which are 128 more where they are signed.
  // CHECK: arith.xori
  // CHECK: llvm.fsub %{{.*}} : vector<2xf16>
  %4 = arith.sitofp %a : i8 to f16
  %5 = arith.sitofp %b : i8 to f16
  // CHECK-NOT: arith.xori
  // CHECK: llvm.fsub %{{.*}} : vector<2xf16>
  %6 = arith.uitofp %a : i8 to f16
  %7 = arith.uitofp %b : i8 to f16
  // Numbers of more bits that hold 8.
  // CHECK: arith.xori
  // CHECK-COUNT-2: llvm.fsub %{{.*}} : f32
  // CHECK-NOT: arith.sitofp
  %w0 = arith.extsi %a : i8 to i32
  %w1 = arith.extsi %b : i8 to i32
  %8 = arith.sitofp %w0 : i32 to f32
  %9 = arith.sitofp %w1 : i32 to f32
  // CHECK: mk_thread.from_fp8 f8E4M3FN
  // CHECK-NOT: mk_thread.from_fp8
  %u0 = arith.extui %a : i8 to i16
  %u1 = arith.extui %b : i8 to i16
  %10 = mk_thread.from_fp8 f8E4M3FN %u0
  %11 = mk_thread.from_fp8 f8E4M3FN %u1
  // CHECK: mk_thread.to_fp8 f8E5M2 %{{.*}}, %{{.*}}
  // CHECK-NOT: mk_thread.to_fp8
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %12 = mk_thread.to_fp8 f8E5M2 %8, %zero
  %13 = mk_thread.to_fp8 f8E5M2 %9, %zero
  // Nothing goes with them: another type, another result, the only one of its kind, signed numbers that are
  // taken for unsigned ones, an operand that comes behind the first.
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  // CHECK: mk_thread.from_fp8 f8E4M3FN
  // CHECK: mk_thread.from_fp8 f8E5M2
  // CHECK: arith.sitofp %{{.*}} : i8 to bf16
  %14 = arith.sitofp %n : i32 to f32
  %15 = mk_thread.from_fp8 f8E4M3FN %u0
  %16 = mk_thread.from_fp8 f8E5M2 %u1
  %17 = arith.sitofp %a : i8 to bf16
  // CHECK: arith.uitofp %{{.*}} : i32 to f32
  // CHECK: arith.uitofp %{{.*}} : i32 to f32
  %19 = arith.uitofp %w0 : i32 to f32
  %20 = arith.uitofp %w1 : i32 to f32
  %c = arith.fptosi %17 : bf16 to i8
  // CHECK: arith.sitofp %{{.*}} : i8 to bf16
  %18 = arith.sitofp %c : i8 to bf16
}
