// RUN: mk-opt %examples/gemm_rs.mlir | mk-opt | FileCheck %s --check-prefixes=CHECK,SLOTS
// RUN: mk-opt %examples/gemm_rs.mlir -mlir-print-op-generic | mk-opt | FileCheck %s --check-prefixes=CHECK,SLOTS
// RUN: mk-opt %examples/gemm_rs.mlir -canonicalize -cse | mk-opt | FileCheck %s --check-prefixes=CHECK,SLOTS
// RUN: mk-opt %examples/gemm_rs_add.mlir | mk-opt | FileCheck %s --check-prefixes=CHECK,ADDS
// RUN: mk-opt %examples/gemm_rs_add.mlir -mlir-print-op-generic | mk-opt | FileCheck %s --check-prefixes=CHECK,ADDS
// RUN: mk-opt %examples/gemm_rs_add.mlir -canonicalize -cse | mk-opt | FileCheck %s --check-prefixes=CHECK,ADDS

// GEMM + ReduceScatter: parts in slots, or added where they are needed.

// CHECK: mk.kernel @gemm_rs{{.*}} sizes(node, gpu) dims(uniform M, uniform N, uniform K)
// ADDS: mk.prepare
// CHECK: mk.role @gemm ctas(rest)
// CHECK: schedule(ticket) order(raster = RASTER, own = last) own(
// CHECK: mk.signal
// CHECK: mk.role @send
// CHECK: mk.wait
// CHECK: mk.put {{.*}} signal
// CHECK: func.func private @product
// CHECK: mk.fold {{.*}} combine(add)
// CHECK: func.func private @leave
// SLOTS: mk.store {{.*}} valid({{.*}}) on {{.*}} signal
// ADDS: mk.store {{.*}} valid({{.*}}) on {{.*}} signal {{.*}} reduce(add)
// CHECK: func.func private @add_parts
// CHECK: mk.wait
// CHECK: func.func @reference
