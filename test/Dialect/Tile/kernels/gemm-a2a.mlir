// RUN: mk-opt %examples/gemm_a2a.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_a2a.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/gemm_a2a.mlir -canonicalize -cse | mk-opt | FileCheck %s

// GEMM + AllToAll.

// CHECK: mk.kernel @gemm_a2a on @mesh sizes(node, gpu)
// CHECK: mk.role @gemm
// CHECK: mk.store {{.*}} on
// CHECK: mk.store {{.*}} on {{.*}} signal
// CHECK: mk.role @send ctas(param SEND) then @gemm
// CHECK: mk.wait
// CHECK: mk.put
// CHECK: func.func @reference
