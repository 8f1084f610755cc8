// RUN: mk-opt %s -mk-thread-promote-variables --remarks=promote-variables -verify-diagnostics | FileCheck %s

// Variables that stay in memory, and why.

mk_thread.kernel @kept threads(128) cluster(1) params(512) shared(1024)
    frame(<launch = 64, failed = 512>) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK-COUNT-3: llvm.alloca
  // CHECK-NOT: llvm.alloca
  // expected-remark @+1 {{mk-thread-promote-variables: missed: is a variable that stays in memory: its address is used for more than loads and stores of all of it}}
  %half = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %half : i32, !llvm.ptr
  // expected-remark @+1 {{mk-thread-promote-variables: missed: is a variable that stays in memory: it is not stored right behind its declaration}}
  %late = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %1 = llvm.load %half : !llvm.ptr -> i16
  llvm.store %c0, %late : i32, !llvm.ptr
  // expected-remark @+1 {{mk-thread-promote-variables: missed: is a variable that stays in memory: it is used in a region of an op that is no loop or branch of scf}}
  %counter = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %counter : i32, !llvm.ptr
  %cta = mk_thread.cta_id
  mk_thread.by_ctas %cta in [0, 1] {
    %x = llvm.load %counter : !llvm.ptr -> i32
    mk_thread.store_shared %x, 516 : i32
  }
  %there = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %c0, %there : i32, !llvm.ptr
  %2 = llvm.load %there : !llvm.ptr -> i32
  mk_thread.store_shared %2, 512 : i32
}
