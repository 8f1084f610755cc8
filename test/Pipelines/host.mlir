// The whole way for a kernel that uses a bit of everything: only the LLVM dialect
// is left, and the functions that the runtime calls.
// RUN: mk-opt %examples/ag_gemm.mlir --mk-host='bind=node=2,gpu=2' | FileCheck %s
// RUN: mk-opt %examples/ag_gemm.mlir --mk-host='bind=node=2,gpu=2,M=256,N=256,K=64 vector-bits=512 grid=8' | FileCheck %s

// Unbound, or bound too far: said by name.
// RUN: not mk-opt %examples/ag_gemm.mlir --mk-host 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: not mk-opt %examples/ag_attention.mlir --mk-host='bind=node=2,gpu=2,D=64 grid=2' 2>&1 | FileCheck %s --check-prefix=GRID

// CHECK-DAG: llvm.func @mk_plan(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i64
// CHECK-DAG: llvm.func @mk_role_0(%{{.*}}: !llvm.ptr)
// CHECK-DAG: llvm.func @mk_role_1(%{{.*}}: !llvm.ptr)
// CHECK-DAG: llvm.func @mk_role_2(%{{.*}}: !llvm.ptr)
// UNBOUND: a size of which is unknown: bind it
// GRID: kernel 'ag_attention' need {{.*}} CTAs on a grid of 2

// Each phase's result can be fed back in.
// RUN: mk-opt %examples/ag_gemm.mlir --mk-tile='bind=node=2,gpu=2' | mk-opt --mk-host | FileCheck %s
