// RUN: mk-opt %examples/ag_attention.mlir | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_attention.mlir -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %examples/ag_attention.mlir -canonicalize -cse | mk-opt | FileCheck %s

// Attention whose keys and values are gathered: helpers communicate and hold loops of roles.

// CHECK: mk.kernel @ag_attention on @mesh
// CHECK: mk.role @send
// CHECK: call @send
// CHECK: mk.role @attention
// CHECK: mk.wait
// CHECK: mk.fold
// CHECK: mk.kernel @ag_attention_causal on @mesh
// CHECK: order(longest_first = 4)
// CHECK: mk.mask
// CHECK: func.func private @send
// CHECK: mk.foreach_peer {{.*}} along node
// CHECK: mk.put
