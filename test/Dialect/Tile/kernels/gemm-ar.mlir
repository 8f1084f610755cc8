// RUN: mk-opt %examples/gemm_ar.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_ar.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_ar.mlir -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + AllReduce: two shots in a node, an exchange between nodes.

// CHECK: mk.kernel @gemm_ar on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K)
// CHECK: mk.role @gemm ctas(rest)
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.wait
// CHECK: mk.foreach_peer {{.*}} along gpu including self
// CHECK: mk.signal
// CHECK: mk.store {{.*}} on {{.*}} signal
// CHECK: mk.role @send
// CHECK: mk.foreach_peer {{.*}} along node
// CHECK: mk.put
// CHECK: mk.role @publish ctas(param PUBLISH) then @gemm
// CHECK: func.func private @publish
// CHECK: mk.wait
// CHECK: mk.foreach_peer {{.*}} along gpu including self
// CHECK: func.func @reference
