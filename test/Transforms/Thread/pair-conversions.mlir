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

// What bytes and words are masked and shifted by is done with two of them at once, and constants that are added go with
// the exponent's.
mk_thread.kernel @pieces threads(384) cluster(1) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %n = mk_thread.param 24 : i32
  %m = mk_thread.param 32 : i32
  %a = llvm.trunc %n : i32 to i8
  %b = llvm.trunc %m : i32 to i8
  %four = arith.constant 4 : i8
  %eight = arith.constant 8 : i8
  %fifteen = arith.constant 15 : i8
  %twelve = arith.constant 12 : i32
  %nibble = arith.constant 15 : i32
  %up = arith.constant 28 : i32
  %point = arith.constant 127 : i32
  // CHECK-LABEL: @pieces
  // CHECK: %[[N:.*]] = mk_thread.param 24 : i32
  // CHECK: %[[M:.*]] = mk_thread.param 32 : i32
  // CHECK: %[[HALVES:.*]] = nvvm.prmt <default>
  // CHECK: %[[BITS:.*]] = mk_thread.masked_or %[[HALVES]], mask 983055 bits 1124090624
  // CHECK: %[[NUMBERS:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xbf16>
  // CHECK: %[[TAKEN:.*]] = llvm.mlir.constant(dense<1.360000e+02> : vector<2xbf16>)
  // CHECK: llvm.fsub %[[NUMBERS]], %[[TAKEN]]
  // CHECK-NOT: arith.sitofp
  %a0 = arith.andi %a, %fifteen : i8
  %b0 = arith.andi %b, %fifteen : i8
  %a1 = arith.subi %a0, %eight : i8
  %b1 = arith.subi %b0, %eight : i8
  %0 = arith.sitofp %a1 : i8 to bf16
  %1 = arith.sitofp %b1 : i8 to bf16
  // The sign of four bits.
  // CHECK: %[[SHIFTED:.*]] = arith.shrui
  // CHECK: %[[MASKED:.*]] = arith.andi %[[SHIFTED]]
  // CHECK: %[[FLIPPED:.*]] = arith.xori %[[MASKED]]
  // CHECK: mk_thread.masked_or %[[FLIPPED]], mask -1 bits 1677747200
  // CHECK: dense<1.032000e+03> : vector<2xf16>
  %a2 = arith.shrsi %a, %four : i8
  %b2 = arith.shrsi %b, %four : i8
  %2 = arith.sitofp %a2 : i8 to f16
  %3 = arith.sitofp %b2 : i8 to f16
  // Four bits of words: from one byte each.
  // CHECK: %[[BYTES:.*]] = nvvm.prmt <default> %{{.*}}, %[[N]], %[[M]] : i32
  // CHECK: %[[LOWER:.*]] = arith.shrui %[[BYTES]]
  // CHECK: mk_thread.masked_or %[[LOWER]], mask 983055
  %a3 = arith.shrui %n, %twelve : i32
  %b3 = arith.shrui %m, %twelve : i32
  %a4 = arith.andi %a3, %nibble : i32
  %b4 = arith.andi %b3, %nibble : i32
  %4 = arith.uitofp %a4 : i32 to bf16
  %5 = arith.uitofp %b4 : i32 to bf16
  // Of 8 bits with an odd zero point the constant has no room in bf16: it is taken off in two steps.
  // CHECK: dense<1.000000e+00> : vector<2xbf16>
  // CHECK: dense<3.820000e+02> : vector<2xbf16>
  %a5 = arith.extui %a : i8 to i32
  %b5 = arith.extui %b : i8 to i32
  %a6 = arith.subi %a5, %point : i32
  %b6 = arith.subi %b5, %point : i32
  %6 = arith.sitofp %a6 : i32 to bf16
  %7 = arith.sitofp %b6 : i32 to bf16
  // Bits of two bytes, and steps that differ, do not go together.
  // CHECK-COUNT-4: arith.sitofp
  %a7 = arith.shrsi %n, %up : i32
  %8 = arith.sitofp %a7 : i32 to bf16
  %9 = arith.sitofp %b4 : i32 to bf16
  %six = arith.constant 6 : i32
  %a8 = arith.shrui %n, %six : i32
  %b8 = arith.shrui %m, %six : i32
  %a9 = arith.andi %a8, %nibble : i32
  %b9 = arith.andi %b8, %nibble : i32
  %10 = arith.sitofp %a9 : i32 to bf16
  %11 = arith.sitofp %b9 : i32 to bf16
}
