// RUN: mk-opt %examples/ag_gemm.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_gemm.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_gemm.mlir -canonicalize -cse | mk-opt | FileCheck %s

// Hierarchical AllGather + GEMM: the example that users read.

// CHECK: mk.kernel @ag_gemm on @mesh dims(uniform M, uniform N, uniform K)
// CHECK: mk.role @send ctas(beside @gemm)
// CHECK: mk.foreach_peer {{.*}} along node
// CHECK: mk.put
// CHECK: mk.role @push ctas(beside @gemm)
// CHECK: mk.wait
// CHECK: mk.put
// CHECK: mk.role @gemm
// CHECK: mk.select
// CHECK: mk.wait
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: func.func @reference
