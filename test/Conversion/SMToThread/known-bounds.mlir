// RUN: mk-opt %s -mk-assign-ctas=grid=4 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand | FileCheck %s

// No check where the values that an index can have all lie in an extent that is known.

mk.mesh @mesh (gpu = 2 via link)

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @k on @mesh dims(uniform M = 64, uniform N) (
    in %a : memref<?x?xi32> [M ceildiv 4, M], in %half : memref<?xi32> [M] split [(gpu)],
    in %odd : memref<?xi32> [M + 1] split [(gpu)], in %open : memref<?xi32> [N], inout %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      scf.for %i = %c0 to %c64 step %c1 {
        %row = arith.divui %i, %c4 : index
        // CHECK: scf.for
        // CHECK-NOT: mk_thread.check
        %x = memref.load %a[%row, %i] : memref<?x?xi32>
        %first = arith.minui %i, %c31 : index
        %y = memref.load %half[%first] : memref<?xi32>
        memref.store %x, %list[%i] : memref<?xi32>
        memref.store %y, %list[%first] : memref<?xi32>
        // One row too many; its column is there.
        // CHECK: mk_thread.check {{.*}} named(1)
        // CHECK-NOT: mk_thread.check {{.*}} named(257)
        %next = arith.addi %row, %c1 : index
        %z = memref.load %a[%next, %i] : memref<?x?xi32>
        memref.store %z, %list[%i] : memref<?xi32>
        // The second rank has 32 elements of 65.
        // CHECK: mk_thread.check {{.*}} named(131073)
        %behind = arith.minui %i, %c32 : index
        %v = memref.load %odd[%behind] : memref<?xi32>
        memref.store %v, %list[%i] : memref<?xi32>
        // CHECK: mk_thread.check {{.*}} named(196609)
        %w = memref.load %open[%i] : memref<?xi32>
        memref.store %w, %list[%i] : memref<?xi32>
        // Nobody knows what a value of memory is.
        // CHECK: mk_thread.check {{.*}} named(262146)
        %wide = arith.index_cast %w : i32 to index
        memref.store %w, %list[%wide] : memref<?xi32>
      }
    }
  }
}
