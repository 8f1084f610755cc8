// RUN: mk-opt %s -mk-assign-ctas=grid=8 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -split-input-file | FileCheck %s

// CTAs 0 to 4 begin in @work, 5 and 6 in @push, 7 in @end. What a role does is there once, behind the roles that
// go on with it. What they add to the counter tells them apart.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
mk.kernel @chain on @mesh (scratch %a : memref<64xi32> [64]) {
  %c0 = arith.constant 0 : index
  %c1001 = arith.constant 1001 : index
  %c1002 = arith.constant 1002 : index
  %c1003 = arith.constant 1003 : index
  %n = mk.counters(%c1001) : !mk.counter<?>
  // CHECK: mk_thread.arrive
  // CHECK: %[[CTA:.*]] = mk_thread.cta_id
  // CHECK: %[[AT:.*]] = arith.subi %[[CTA]], %[[C5]] : i32
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[AT]], %[[C2]] : i32
  // CHECK: scf.if %[[IN]] {
  // CHECK: %[[N:.*]] = arith.constant 1001 : i32
  // CHECK: mk_thread.atomic_add acq_rel gpu %{{.*}}, %[[N]] :
  // Those of both roles.
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[CTA]], %[[C7]] : i32
  // CHECK-NEXT: scf.if %[[IN]] {
  // CHECK: %[[N:.*]] = arith.constant 1002 : i32
  // CHECK: mk_thread.atomic_add acq_rel gpu %{{.*}}, %[[N]] :
  // All CTAs: nobody is asked.
  // CHECK-NOT: arith.cmpi ult
  // CHECK: %[[N:.*]] = arith.constant 1003 : i32
  // CHECK: mk_thread.atomic_add acq_rel gpu %{{.*}}, %[[N]] :
  // CHECK-NOT: arith.constant 100{{[123]}} : i32
  // CHECK: llvm.mlir.global internal constant @mk_gpu
  mk.role @work ctas(5) then @end {
    mk_sm.partition consumer warps(4) registers(168) {
      %old = mk.count %n[%c0] add %c1002 : !mk.counter<?>
    }
  }
  mk.role @push ctas(2) then @work {
    mk_sm.partition consumer warps(4) registers(168) {
      %old = mk.count %n[%c0] add %c1001 : !mk.counter<?>
    }
  }
  mk.role @end ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %old = mk.count %n[%c0] add %c1003 : !mk.counter<?>
    }
  }
}

// -----

// Both roles have something in shared memory: CTAs 1 to 7 meet as a whole, the producer and four warps, before they
// go on, and only they.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : i32
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[C7]] : i32
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: mk_thread.fence_async shared
// CHECK-NEXT: mk_thread.sync %[[C9]], 160
// CHECK-NEXT: }
// CHECK: mk_thread.copy_bulk
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[C7]] : i32
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: mk_thread.fence_async shared
// CHECK-NEXT: mk_thread.sync %[[C9]], 160
// CHECK-NEXT: }
// CHECK: mk_thread.copy_bulk
// CHECK-NOT: mk_thread.sync %{{.*}}, 160
// CHECK: llvm.mlir.global internal constant @mk_gpu
mk.kernel @tiles on @mesh (in %a : memref<64x64xf32> [64, 64], scratch %b : memref<64x64xf32, #mk.symmetric> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  mk.role @second ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      mk.put %a[%c0, %c0][%c32, %c64] to %b[%c0, %c0] on %c0 : memref<64x64xf32> to memref<64x64xf32, #mk.symmetric>
    }
  }
  mk.role @first ctas(7) then @second {
    mk_sm.partition consumer warps(4) registers(168) {
      mk.put %a[%c32, %c0][%c32, %c64] to %b[%c32, %c0] on %c0 : memref<64x64xf32> to memref<64x64xf32, #mk.symmetric>
    }
  }
}

// -----

// The role that is helped hands out items: CTAs 1 to 7 meet as a whole before their producer draws one, though nothing of theirs
// is in shared memory. The consumer may still wait for what just this item tells.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : i32
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[C7]] : i32
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: mk_thread.fence_async shared
// CHECK-NEXT: mk_thread.sync %[[C9]], 160
// CHECK-NEXT: }
// CHECK: mk_thread.atomic_add
// CHECK: mk_thread.wait_word gpu
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[C7]] : i32
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: mk_thread.fence_async shared
// CHECK-NEXT: mk_thread.sync %[[C9]], 160
// CHECK-NEXT: }
// CHECK-NOT: mk_thread.sync %{{.*}}, 160
// CHECK: llvm.mlir.global internal constant @mk_gpu
mk.kernel @items on @mesh () {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = mk.signals() : !mk.signal<1, gpu, arrivals = 4>
  mk.role @second ctas(1) {
    %box = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      scf.while : () -> () {
        %item = mk_sm.ticket loop(0)
        mk_sm.send %box, %item : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %item, %c4 : index
        scf.condition(%more)
      } do {
        scf.yield
      }
    }
    mk_sm.partition consumer warps(4) registers(168) {
      scf.while : () -> () {
        %item = mk_sm.receive %box : !mk_sm.mailbox<2, words = 1>
        %more = arith.cmpi slt, %item, %c4 : index
        scf.condition(%more)
      } do {
        mk.signal %s[%c0] : !mk.signal<1, gpu, arrivals = 4>
        scf.yield
      }
    }
  }
  mk.role @first ctas(7) then @second {
    mk_sm.partition consumer warps(4) registers(168) {
      mk.wait %s[%c0] ge %c1 : !mk.signal<1, gpu, arrivals = 4>
    }
  }
}

// -----

// CTAs 1 to 5 have the items 0 to 4; CTA 0, which comes from elsewhere, draws the one behind them. The loop does not
// ask whether the CTA has failed: its tickets end.

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK: %[[PUSHES:.*]] = arith.cmpi ult, %[[CTA:[^,]*]], %[[C1]] : i32
// CHECK-NEXT: scf.if %[[PUSHES]] {
// CHECK: %[[AT:.*]] = arith.subi %[[CTA]], %[[C1]] : i32
// CHECK-NEXT: %[[INDEX:.*]] = arith.extui %[[AT]] : i32 to i64
// CHECK: %[[OWN:.*]] = arith.cmpi ult, %{{.*}}, %[[C5]] : i32
// CHECK-NEXT: %[[DEALT:.*]] = arith.select %[[OWN]], %[[INDEX]], %[[NONE]] : i64
// CHECK: scf.while (%[[I:.*]] = %[[DEALT]])
// CHECK: %[[DRAWS:.*]] = arith.cmpi eq, %[[I]], %[[NONE]] : i64
// CHECK-NEXT: scf.if %[[DRAWS]] -> (i64) {
// CHECK: mk_thread.atomic_add relaxed gpu
// CHECK: scf.yield %[[I]] : i64
// CHECK-NEXT: }
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt
// CHECK-NEXT: scf.condition(%[[MORE]])
// CHECK: scf.yield %[[NONE]] : i64
mk.kernel @dealt on @mesh (scratch %a : memref<64xi32> [64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant -1 : index
  %n = mk.counters(%c64) : !mk.counter<?>
  mk.role @push ctas(1) then @work {
    mk_sm.partition consumer warps(4) registers(168) {
      %old = mk.count %n[%c0] add %c1 : !mk.counter<?>
    }
  }
  mk.role @work ctas(5) {
    mk_sm.partition consumer warps(4) registers(168) {
      %dealt = mk_sm.initial_item
      scf.while (%i = %dealt) : (index) -> index {
        %draws = arith.cmpi eq, %i, %none : index
        %item = scf.if %draws -> (index) {
          %t = mk_sm.ticket loop(0)
          %drawn = arith.addi %t, %c5 : index
          scf.yield %drawn : index
        } else {
          scf.yield %i : index
        }
        %more = arith.cmpi slt, %item, %c64 : index
        scf.condition(%more) %item : index
      } do {
      ^bb0(%i: index):
        %old = mk.count %n[%i] add %c1 : !mk.counter<?>
        scf.yield %none : index
      }
    }
  }
}
