// Sizes may depend on how many CTAs a role gets on the target's grid.
// RUN: mk-opt %s --mk-assign-ctas=grid=7 --mk-expand-ranks --mk-build-plan=only --canonicalize | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: func @mk_plan(
// CHECK: llvm.store %c5_i64
mk.kernel @plan on @mesh () {
  %ctas = mk.ctas @many
  %n = mk.counters(%ctas) : !mk.counter<?>
  mk.role @few ctas(2) {}
  mk.role @many ctas(rest) {}
}
