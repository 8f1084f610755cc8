// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Accesses where they stand, under a predicate, and those that others see.

// CHECK-LABEL: llvm.func @memory
mk_thread.kernel @memory threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  %g = mk_thread.param 16 : i64
  %f = arith.constant 1.0 : f32
  // CHECK: "ld.volatile.shared.b32 $0, [$1+8];", "=r,r,~{memory}"
  %w = mk_thread.load_shared %s + 8 : i32
  // CHECK: "ld.volatile.shared.b64 $0, [$1];", "=l,r,~{memory}"
  %l = mk_thread.load_shared %s + 0 : i64
  // CHECK: "ld.volatile.shared.b16 $0, [mk_shared+1030];", "=h,~{memory}"
  %h = mk_thread.load_shared 1030 : i16
  // CHECK: "st.volatile.shared.b32 [$1+8], $0;", "r,r,~{memory}"
  mk_thread.store_shared %w, %s + 8 : i32
  // CHECK: "st.volatile.shared.b32 [mk_shared+1032], $0;", "r,~{memory}"
  mk_thread.store_shared %w, 1032 : i32

  // The space follows from the address, the width from bytes and words.
  // CHECK: "ld.shared.b32 $0, [$1];", "=r,r,~{memory}"
  %0 = mk_thread.load %s, 4 : i32 -> i32
  // CHECK: "ld.global.u8 $0, [$1];", "=h,l,~{memory}"
  %1 = mk_thread.load %g, 1 : i64 -> i16
  // CHECK: "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"
  %2:4 = mk_thread.load %s, 16 : i32 -> i32, i32, i32, i32
  // What there was is tied to the results.
  // CHECK: "setp.ne.b32 $0, $1, 0;", "=b,r"
  // CHECK: "@$5 ld.global.v2.b32 {$0, $1}, [$4];", "=r,=r,0,1,l,b"
  %3:2 = mk_thread.load %g, 8 if %w else (%w, %w : i32, i32) : i64 -> i32, i32
  // CHECK: "setp.eq.b32 $0, $1, 0;", "=b,r"
  // CHECK: "@$3 ld.global.b16 $0, [$2];", "=h,0,l,b"
  %4 = mk_thread.load %g, 2 if not %w else (%h : i16) : i64 -> i16
  // CHECK: "st.shared.b8 [$0], $1;", "r,h,~{memory}"
  mk_thread.store %h : i16 to %s : i32 bytes(1)
  // CHECK: "setp.ne.b32 $0, $1, 0;", "=b,r"
  // CHECK: "@$1 st.global.v2.b32 [$0], {$2, $3};", "l,b,r,r,~{memory}"
  mk_thread.store %w, %w : i32, i32 to %g : i64 bytes(8) if %w
  // CHECK: "setp.eq.b32 $0, $1, 0;", "=b,r"
  // CHECK: "@$1 st.global.b64 [$0], $2;", "l,b,l,~{memory}"
  mk_thread.store %g : i64 to %g : i64 bytes(8) if not %w
  // CHECK: "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}"
  mk_thread.store %f : f32 to %g : i64 bytes(4) add(f32, gpu)
  // CHECK: "@$1 red.relaxed.sys.global.add.noftz.bf16 [$0], $2;", "l,b,h,~{memory}"
  mk_thread.store %h : i16 to %g : i64 bytes(2) if %w add(bf16, sys)

  // Order and scope as they are given.
  // CHECK: "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
  %5 = mk_thread.atomic_add acq_rel gpu %g, %w : i32
  // CHECK: "atom.relaxed.sys.global.add.u64 $0, [$1], $2;", "=l,l,l,~{memory}"
  %6 = mk_thread.atomic_add relaxed sys %g, %g : i64
  // CHECK: "red.release.sys.global.add.u32 [$0], $1;", "l,r,~{memory}"
  mk_thread.reduce_add release sys %g, %w : i32
  // CHECK: "ld.acquire.sys.global.b32 $0, [$1];", "=r,l,~{memory}"
  %7 = mk_thread.load_atomic acquire sys %g : i32
  // CHECK: "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}"
  %8 = mk_thread.load_atomic relaxed gpu %g : i64
  // CHECK: "st.release.gpu.global.b32 [$0], $1;", "l,r,~{memory}"
  mk_thread.store_atomic release gpu %w, %g : i32
  // CHECK: arith.ori %{{.*}} : i128
  // CHECK-NEXT: {{.*}}"st.relaxed.sys.global.b128 [$0], $1;", "l,q,~{memory}"
  mk_thread.store_command %g, %g to %g
}
