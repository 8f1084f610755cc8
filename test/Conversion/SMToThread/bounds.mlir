// RUN: mk-opt %s -convert-mk-sm-to-thread=grid=4 | FileCheck %s
// RUN: mk-opt %s -convert-mk-sm-to-thread="grid=4 bounds=false" | FileCheck %s --check-prefix=NONE

// What puts, scalars, signals, counters and queues name is compared with extents among the parameters,
// and reported by the number of the op. An option leaves that out.
// NONE-NOT: FINE
// NONE-NOT: \22sites\22
// NONE: mk_thread.wait_group 0
// NONE-NOT: FINE

mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x64xf32, #mk.symmetric>
!sig = !mk.signal<2x?, sys, dynamic>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @k on @mesh dims(uniform M) (
    in %a : !x [M, 64], scratch %b : !x [M, 64], inout %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %s = mk.signals(%M) : !sig
  %n = mk.counters(%M) : !mk.counter<?>
  %q = mk.queue(%M) : !mk.queue<?x1xi32>
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // Rows of the source: argument 0, dimension 0, read (1). Its columns are all there.
      // CHECK: mov.b64 begin, $0; ld.param.b64 extent, [mk_kernel_param_0+{{[0-9]+}}]; mov.b64 size, 4; sub.s64 value, extent, size; setp.ge.s64 some, value, begin; setp.ge.and.s64 some, begin, 0, some; @some bra FINE;
      // CHECK-SAME: st.global.b32 [report+16], 0; st.global.b32 [report+20], 1;
      // CHECK-SAME: ld.param.b32 word, [mk_kernel_param_0+{{[0-9]+}}]; cvt.u64.u32 value, word; st.global.b64 [report+48], value;
      // Those of the destination, argument 1 (2 + 65536): as many as the peer has.
      // CHECK: ld.acquire.sys.global.b32
      // CHECK: mov.b64 begin, $0; mov.b64 extent, $1; mov.b64 size, 4;
      // CHECK-SAME: st.global.b32 [report+16], 0; st.global.b32 [report+20], 65538;
      // CHECK-SAME: mov.b64 value, $2; st.global.b64 [report+48], value;
      // The constant index of the signal needs no comparison, the other one does: signal 0,
      // dimension 1 (3 + 256). The launch goes on, with index 0.
      // CHECK: mov.b64 begin, $0; ld.param.b64 extent, [mk_kernel_param_0+{{[0-9]+}}]; setp.lt.u64 some, begin, extent; @some bra FINE;
      // CHECK-SAME: atom.acq_rel.gpu.global.exch.b32 word, [report+12], 1; setp.ne.u32 some, word, 0; @some bra LOST;
      // CHECK-SAME: st.global.b32 [report+4], 12;
      // CHECK-SAME: st.global.b32 [report+16], 0; st.global.b32 [report+20], 259;
      // CHECK-SAME: mov.b64 value, begin; st.global.b64 [report+24], value; mov.b64 value, extent; st.global.b64 [report+32], value;
      // CHECK-SAME: st.relaxed.sys.global.b32 [report+8], 1; LOST: st.volatile.shared.b32 [mk_shared+{{[0-9]+}}], 1; mov.b64 $0, 0; FINE: }
      // CHECK: mk_thread.wait_group 0
      mk.put %a[%M, %c0][%c4, %c64] to %b[%M, %c0] on %c1 signal %s[%c1, %M] : !x to !x, !sig
      // Where nothing is put nothing is compared.
      // CHECK: mov.b64 begin, $0; {{.*}} mov.b64 size, $1; {{.*}} @some bra FINE; setp.lt.s64 some, $2, 1; @some bra FINE;
      mk.put %a[%M, %c0][%M, %c64] to %b[%M, %c0] on %c1 : !x to !x
      // CHECK: mov.b64 begin, $0; ld.param.b64 extent, [mk_kernel_param_0+{{[0-9]+}}]; setp.lt.u64 some, begin, extent;
      // CHECK-SAME: st.global.b32 [report+16], 2; st.global.b32 [report+20], 131073;
      // CHECK: llvm.load
      %v = memref.load %list[%c4] : memref<?xi32>
      // CHECK: st.global.b32 [report+16], 3; st.global.b32 [report+20], 131074;
      memref.store %v, %list[%M] : memref<?xi32>
      // CHECK: st.global.b32 [report+16], 4; st.global.b32 [report+20], 4;
      // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
      %old = mk.count %n[%c4] add %c1 : !mk.counter<?>
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: st.global.b32 [report+16], 5; st.global.b32 [report+20], 5;
      // CHECK: mk_thread.store_atomic release gpu {{.*}} : i32
      mk.push %q, (%c4) : !mk.queue<?x1xi32>
    }
  }
}
// CHECK: \22sites\22:[{\22at\22:\22bounds.mlir:{{[0-9]+}}:7\22,\22op\22:\22mk.put\22},{{.*}}\22op\22:\22mk.push\22}]
