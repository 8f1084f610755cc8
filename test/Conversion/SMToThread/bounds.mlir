// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s
// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread=bounds=false -mk-thread-expand | FileCheck %s --check-prefix=NONE

// What puts, scalars, signals, counters and queues name is compared with extents among the parameters,
// and reported by the number of the op. An option leaves that out.
// NONE-NOT: mk_thread.check
// NONE-NOT: \22sites\22
// NONE: mk_thread.wait_group 0
// NONE-NOT: mk_thread.check

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
      // CHECK: mk_thread.check %{{.*}} size(%{{.*}}) param({{[0-9]+}}) least [] named(1) report(<kind = 13, role = 0, number = 0>){{$}}
      // Those of the destination, argument 1 (2 + 65536): as many as the peer has.
      // CHECK: mk_thread.wait_word sys
      // CHECK: mk_thread.check %{{.*}} size(%{{.*}}) extent(%{{.*}}) rank(%{{.*}}) least [] named(65538) report(<kind = 13, role = 0, number = 0>)
      // The constant index of the signal needs no comparison, the other one does: signal 0,
      // dimension 1 (3 + 256). The launch goes on, with index 0.
      // CHECK: mk_thread.check %{{.*}} param({{[0-9]+}}) least [] named(259) report(<kind = 13, role = 0, number = 0>) redirect
      // CHECK: mk_thread.wait_group 0
      mk.put %a[%M, %c0][%c4, %c64] to %b[%M, %c0] on %c1 signal %s[%c1, %M] : !x to !x, !sig
      // Where nothing is put nothing is compared.
      // CHECK: mk_thread.check %{{.*}} size(%[[ROWS:.*]]) param({{[0-9]+}}) when(%[[ROWS]] : i64) least [1] named(1) report(<kind = 13, role = 0, number = 1>)
      mk.put %a[%M, %c0][%M, %c64] to %b[%M, %c0] on %c1 : !x to !x
      // CHECK: mk_thread.check %{{.*}} param({{[0-9]+}}) least [] named(131073) report(<kind = 13, role = 0, number = 2>) redirect
      // CHECK: llvm.load
      %v = memref.load %list[%c4] : memref<?xi32>
      // CHECK: mk_thread.check {{.*}} named(131074) report(<kind = 13, role = 0, number = 3>) redirect
      memref.store %v, %list[%M] : memref<?xi32>
      // CHECK: mk_thread.check {{.*}} named(4) report(<kind = 13, role = 0, number = 4>) redirect
      // CHECK: mk_thread.atomic_add acq_rel gpu {{.*}} : i32
      %old = mk.count %n[%c4] add %c1 : !mk.counter<?>
      // CHECK: mk_thread.atomic_add relaxed gpu {{.*}} : i32
      // CHECK: mk_thread.check {{.*}} named(5) report(<kind = 13, role = 0, number = 5>) redirect
      // CHECK: mk_thread.store_atomic release gpu {{.*}} : i32
      mk.push %q, (%c4) : !mk.queue<?x1xi32>
    }
  }
}
// CHECK: \22sites\22:[{\22at\22:\22bounds.mlir:{{[0-9]+}}:7\22,\22op\22:\22mk.put\22},{{.*}}\22op\22:\22mk.push\22}]
