// mk-reduce takes away what a failure does not need.
// REQUIRES: compiler
// RUN: mk-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-wait.sh' | FileCheck %s

// CHECK-NOT: @noise
// CHECK: mk.wait
func.func private @noise(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  return %a : i32
}
func.func private @noise_too(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  return %a : i32
}
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @k on @mesh (in %a : memref<?xf32> [16]) {
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%c1) {
      mk.wait %s[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    }
  }
}
