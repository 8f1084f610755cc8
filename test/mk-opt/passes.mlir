// Upstream's passes and pipelines are there beside ours.
// REQUIRES: compiler
// RUN: mk-opt --canonicalize --cse %s | FileCheck %s
// RUN: mk-opt --help | FileCheck %s --check-prefix=HELP

// CHECK-LABEL: func.func @f
// CHECK-NEXT: return %arg0
func.func @f(%x: index) -> index {
  %c0 = arith.constant 0 : index
  %y = arith.addi %x, %c0 : index
  return %y : index
}
// HELP-DAG: --convert-linalg-to-loops
// HELP-DAG: --mk-lower-reference
// HELP-DAG: --mk-host
// HELP-DAG: --emit=
