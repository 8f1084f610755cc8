// RUN: mk-opt %examples/moe.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/moe.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/moe.mlir -canonicalize -cse | mk-opt | FileCheck %s

// Mixture of experts: the example that users read. Lists of rows, counts that are read from
// memory, dynamic arrivals, loops whose extents come from data.

// CHECK: mk.kernel @moe on @mesh sizes(node, gpu) dims(rank T, uniform CAP
// CHECK: mk.signals({{.*}}) : !mk.signal<?x?, sys, dynamic>
// CHECK: mk.role @route
// CHECK: mk.role @dispatch
// CHECK: mk.role @plan
// CHECK: mk.role @gather
// CHECK: mk.role @expert
// CHECK: mk.foreach {{.*}} schedule(ticket)
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.role @down
// CHECK: mk.role @combine
// CHECK: mk.put {{.*}} rows({{.*}} : tensor<?xi32, #mk.extents<TB>>)
// CHECK: mk.role @finish
// CHECK: func.func private @bring_rows
// CHECK: mk.put {{.*}} rows({{.*}} : tensor<?xi32, #mk.extents<TM>>)
