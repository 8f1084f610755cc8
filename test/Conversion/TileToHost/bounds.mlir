// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host --canonicalize --cse | FileCheck %s
// RUN: mk-opt %s --mk-assign-ctas --mk-expand-ranks --mk-expand-loops --mk-expand-folds --mk-expand-ranks --convert-mk-to-host=bounds=false --canonicalize --cse | FileCheck %s --check-prefix=NONE

// What puts, scalars, signals and counters name is checked, unless an option leaves that out.
// NONE-NOT: mkrt_region
// NONE-NOT: mkrt_outside
// NONE-NOT: mk_sites
// NONE: call @mkrt_put

mk.mesh @mesh (gpu = 2 via link)
!x = memref<?x64xf32, #mk.symmetric>
!sig = !mk.signal<2x?, sys, dynamic>
// CHECK-LABEL: func @mk_role_0
mk.kernel @k on @mesh dims(uniform M) (
    in %a : !x [M, 64], scratch %b : !x [M, 64], inout %list : memref<?xi32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %s = mk.signals(%M) : !sig
  mk.role @r ctas(1) {
    // The constant index of the signal is not compared.
    // CHECK: %[[OUT:.*]] = arith.cmpi {{u[gl]e}}
    // CHECK-NEXT: scf.if %[[OUT]] {
    // CHECK: call @mkrt_outside(%arg0, %c0_i32, %c3_i32, %c0_i32, %c1_i32,
    // Site 0, read argument 0; then written argument 1.
    // CHECK: call @mkrt_region(%arg0, %c0_i32, %c1_i32, %c0_i32, %{{.*}}, %c2_i32, %{{.*}}, %{{.*}})
    // CHECK: call @mkrt_region(%arg0, %c0_i32, %c2_i32, %c1_i32, %{{.*}}, %c2_i32, %{{.*}}, %{{.*}})
    // CHECK: call @mkrt_put(
    mk.put %a[%c0, %c0][%c4, %c64] to %b[%M, %c0] on %c1 signal %s[%c1, %c4] : !x to !x, !sig
    %rows = mk.load %list[%c0] : memref<?xi32> -> tensor<32xi32>
    // CHECK: call @mkrt_region_rows(%arg0, %c1_i32, %c1_i32, %c0_i32,
    // CHECK: call @mkrt_region_rows(%arg0, %c1_i32, %c2_i32, %c1_i32,
    // CHECK: call @mkrt_put_rows(
    mk.put %a[%c0, %c0][%c4, %c64] rows(%rows : tensor<32xi32>) to %b[%c4, %c0] on %c1 : !x to !x
    // CHECK: scf.if
    // CHECK: call @mkrt_outside(%arg0, %c2_i32, %c1_i32, %c2_i32, %c0_i32,
    // CHECK: memref.load
    %n = memref.load %list[%c4] : memref<?xi32>
    memref.store %n, %list[%c0] : memref<?xi32>
  }
}
// CHECK: llvm.mlir.global internal constant @mk_sites("{\22sites\22:[{\22at\22:\22bounds.mlir:[[#PUT:]]:5\22,\22op\22:\22mk.put\22},{\22at\22:\22bounds.mlir:{{[0-9]+}}:5\22,\22op\22:\22mk.put\22},{\22at\22:\22bounds.mlir:{{[0-9]+}}:10\22,\22op\22:\22memref.load\22}{{.*}}]}")
