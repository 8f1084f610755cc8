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
// CHECK: schedule(ticket) order(raster = RASTER)
// ADDS: mk.fold {{.*}} combine(add)
// ADDS: mk.store {{.*}} valid({{.*}}) on {{.*}} signal {{.*}} reduce(add)
// ADDS: mk.role @narrow ctas(param NARROW) then @gemm
// ADDS: mk.wait
// CHECK: mk.signal
// CHECK: mk.role @send
// CHECK: mk.wait
// CHECK: mk.put {{.*}} signal
// ADDS: mk.role @finish
// ADDS: mk.wait
// SLOTS: func.func private @product
// SLOTS: mk.fold {{.*}} combine(add)
// SLOTS: func.func private @leave
// SLOTS: mk.store {{.*}} valid({{.*}}) on {{.*}} signal
// SLOTS: func.func private @add_parts
// SLOTS: mk.wait
// CHECK: func.func @reference
