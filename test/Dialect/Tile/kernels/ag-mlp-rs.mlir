// RUN: mk-opt %examples/ag_mlp_rs.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_mlp_rs.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_mlp_rs.mlir -canonicalize -cse | mk-opt | FileCheck %s

// AllGather -> GEMM -> bias + GELU -> GEMM -> ReduceScatter.

// CHECK: mk.kernel @ag_mlp_rs on @mesh sizes(node, gpu)
// CHECK: mk.role @push {{.*}} then @gemm
// CHECK: mk.role @gemm
// CHECK: mk.select
// CHECK: mk.broadcast
// CHECK: mk.signal
// CHECK: mk.wait
// CHECK: mk.role @reduce
// CHECK: mk.role @send
// CHECK: mk.put
// CHECK: mk.put
// CHECK: mk.role @finish
// CHECK: func.func @reference
