// RUN: mk-opt %examples/ring_attention.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ring_attention.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ring_attention.mlir -canonicalize -cse | mk-opt | FileCheck %s

// Ring attention: the example that users read. Three tiles are carried across waits;
// what a launch needs to be free of deadlock is required of its sizes.

// CHECK: mk.kernel @ring_attention_causal on @mesh sizes(node, gpu)
// CHECK: mk.require {{.*}}, "SLOTS must be
// CHECK: mk.role @ring
// CHECK: mk.role @attention
// CHECK: order(longest_first = 4)
// CHECK: scf.for {{.*}} iter_args({{.*}}, {{.*}}, {{.*}})
// CHECK: mk.wait
// CHECK: mk.fold ({{.*}}) in ({{.*}}) iter({{.*}}, {{.*}}, {{.*}})
// CHECK: mk.mask
// CHECK: mk.yield
// CHECK: func.func private @pass_on
// CHECK: mk.wait
// CHECK: mk.put {{.*}} signal
// CHECK: mk.settle
// CHECK: func.func private @done
// CHECK: mk.count
// CHECK: mk.signal {{.*}} on
// CHECK: func.func private @step
// CHECK: mk.reduce max
// CHECK: mk.broadcast
// CHECK: mk.reduce add
// CHECK: mk.dot
// CHECK: func.func private @finish
// CHECK: mk.store {{.*}} valid
