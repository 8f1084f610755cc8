// RUN: mk-opt %examples/moe.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/moe.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/moe.mlir -canonicalize -cse | mk-opt | FileCheck %s

// Mixture of experts: the example that users read. Lists of rows, counts that are read from
// memory, dynamic arrivals, queues between roles.

// CHECK: mk.kernel @moe on @mesh sizes(node, gpu) dims(rank T, uniform CAP
// CHECK: mk.signals({{.*}}) : !mk.signal<?, sys, dynamic>
// CHECK: mk.queue({{.*}}) : !mk.queue<?x4xi32>
// CHECK: mk.role @route
// CHECK: mk.role @dispatch
// CHECK: mk.role @plan
// CHECK: mk.role @fill
// CHECK: mk.role @expert
// CHECK: mk.foreach_item
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.count
// CHECK: mk.push
// CHECK: mk.foreach_item
// CHECK: mk.role @combine
// CHECK: mk.put {{.*}} rows({{.*}} : tensor<?xi32, #mk.extents<TB>>)
// CHECK: mk.role @finish
// CHECK: func.func private @fill_blocks
// CHECK: mk.count
// CHECK: mk.put {{.*}} rows({{.*}} : tensor<?xi32, #mk.extents<TM>>)
// CHECK: mk.push
