// RUN: mk-opt %examples/gemm_ar_norm.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_ar_norm.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_ar_norm.mlir -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + AllReduce + residual + RMSNorm: columns are the GPUs', statistics of rows travel beside them.

// CHECK: mk.kernel @gemm_ar_norm on @mesh sizes(node, gpu) dims(uniform M, uniform N, uniform K)
// CHECK: mk.role @gemm ctas(rest)
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: mk.wait
// CHECK: mk.reduce add {{.*}} axis 1
// CHECK: mk.foreach_peer {{.*}} along gpu including self
// CHECK-COUNT-2: mk.store {{.*}} on
// CHECK: mk.foreach_peer {{.*}} along gpu including self
// CHECK: mk.signal {{.*}} on
// CHECK: mk.store {{.*}} on {{.*}} signal
// CHECK: mk.foreach {{.*}} schedule(ticket)
// CHECK: mk.foreach {{.*}} schedule(ticket)
// CHECK: mk.wait
// CHECK: mk.reduce add {{.*}} axis 0
// CHECK: mk.role @send
// CHECK: mk.put
// CHECK: mk.role @publish ctas(param PUBLISH) then @gemm
// CHECK: func.func private @publish
// CHECK: math.rsqrt
// CHECK: func.func @reference
