// RUN: mk-opt %s -mk-sm-hoist-loads --remarks=hoist-loads -verify-diagnostics | FileCheck %s

// What an epilogue takes of an input is asked for in front of the products, with the ops that say where it is.
// hoist-loads.test has what the passes in front of this one make of an example.

#acc = #mk_sm.mma<warpgroups = 1>
!in = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !in>
!slot = !mk_sm.slot<!in>
!staged = !mk_sm.staged<!in>
!sum = tensor<64x64xf32, #acc>
!tile = tensor<64x64xbf16, #acc>
!buffer = memref<128x128xbf16>
mk.mesh @mesh (gpu = 1 via link)

// A thread has 240 registers, of which products take 32 and more.
// CHECK-LABEL: mk.kernel @left
// CHECK: %[[ROW:.*]] = arith.addi %M, %M
// CHECK-NEXT: %[[LOAD:.*]] = mk.load %r[%[[ROW]],
// CHECK-NEXT: mk_sm.defer %[[LOAD]] ahead(32) : tensor
// CHECK-NEXT: mk_sm.mma %
// CHECK-NOT: mk.load
mk.kernel @left on @mesh dims(uniform M) (in %r : !buffer [128, 128], out %c : !buffer [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(240) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !staged
      %f = mk_sm.mma_fence %zero : !sum
      %d = mk_sm.mma %x, %x, %f transpose_b : !staged, !staged, !sum
      %sum = mk_sm.mma_wait 0, %d : !sum
      mk_sm.release %ring : !ring
      %row = arith.addi %M, %M : index
      // expected-remark @+1 {{mk-sm-hoist-loads: passed: begins in front of the products, with 32 elements of each thread (in role 'r')}}
      %l = mk.load %r[%row, %c0] : !buffer -> !tile
      %later = mk_sm.defer %l : !tile
      %wide = arith.extf %later : !tile to !sum
      %e = arith.addf %sum, %wide : !sum
      %t = arith.truncf %e : !sum to !tile
      mk.store %t, %c[%c0, %c0] : !tile, !buffer
    }
  }
}

// CHECK-LABEL: mk.kernel @none
// CHECK: mk_sm.mma %
// CHECK: %[[LOAD:.*]] = mk.load %r[
// CHECK-NEXT: mk_sm.defer %[[LOAD]] : tensor
mk.kernel @none on @mesh dims(uniform M) (in %r : !buffer [128, 128], out %c : !buffer [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(96) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !staged
      %f = mk_sm.mma_fence %zero : !sum
      %d = mk_sm.mma %x, %x, %f transpose_b : !staged, !staged, !sum
      %sum = mk_sm.mma_wait 0, %d : !sum
      mk_sm.release %ring : !ring
      %row = arith.addi %M, %M : index
      // expected-remark @+1 {{mk-sm-hoist-loads: missed: begins behind the products, which leave no registers for it}}
      %l = mk.load %r[%row, %c0] : !buffer -> !tile
      %later = mk_sm.defer %l : !tile
      %wide = arith.extf %later : !tile to !sum
      %e = arith.addf %sum, %wide : !sum
      %t = arith.truncf %e : !sum to !tile
      mk.store %t, %c[%c0, %c0] : !tile, !buffer
    }
  }
}

// Memory says where it is.
// CHECK-LABEL: mk.kernel @place
// CHECK: mk_sm.mma %
// CHECK: %[[LOAD:.*]] = mk.load %r[
// CHECK-NEXT: mk_sm.defer %[[LOAD]] : tensor
mk.kernel @place on @mesh dims(uniform M) (in %n : memref<8xindex> [8], in %r : !buffer [128, 128], out %c : !buffer [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(240) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !staged
      %f = mk_sm.mma_fence %zero : !sum
      %d = mk_sm.mma %x, %x, %f transpose_b : !staged, !staged, !sum
      %sum = mk_sm.mma_wait 0, %d : !sum
      mk_sm.release %ring : !ring
      %row = memref.load %n[%c0] : memref<8xindex>
      // expected-remark @+1 {{mk-sm-hoist-loads: missed: begins behind the products, since its place is only known there}}
      %l = mk.load %r[%row, %c0] : !buffer -> !tile
      %later = mk_sm.defer %l : !tile
      %wide = arith.extf %later : !tile to !sum
      %e = arith.addf %sum, %wide : !sum
      %t = arith.truncf %e : !sum to !tile
      mk.store %t, %c[%c0, %c0] : !tile, !buffer
    }
  }
}

// Somebody may write it in the meantime.
// CHECK-LABEL: mk.kernel @written
// CHECK: mk_sm.mma %
// CHECK: %[[LOAD:.*]] = mk.load %r[
// CHECK-NEXT: mk_sm.defer %[[LOAD]] : tensor
mk.kernel @written on @mesh dims(uniform M) (inout %r : !buffer [128, 128], out %c : !buffer [128, 128]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(4) registers(240) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %slot[0] : !slot -> !staged
      %f = mk_sm.mma_fence %zero : !sum
      %d = mk_sm.mma %x, %x, %f transpose_b : !staged, !staged, !sum
      %sum = mk_sm.mma_wait 0, %d : !sum
      mk_sm.release %ring : !ring
      %row = arith.addi %M, %M : index
      // expected-remark @+1 {{mk-sm-hoist-loads: missed: begins behind the products, since it may read what this launch writes}}
      %l = mk.load %r[%row, %c0] : !buffer -> !tile
      %later = mk_sm.defer %l : !tile
      %wide = arith.extf %later : !tile to !sum
      %e = arith.addf %sum, %wide : !sum
      %t = arith.truncf %e : !sum to !tile
      mk.store %t, %c[%c0, %c0] : !tile, !buffer
    }
  }
}
