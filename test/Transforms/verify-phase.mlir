// RUN: mk-opt %s --mk-verify-phase='allow=builtin,func,arith'
// RUN: not mk-opt %s --mk-verify-phase='phase=lowering allow=builtin,func' 2>&1 | FileCheck %s
// RUN: not mk-opt %s --mk-verify-phase='phase=lowering forbid=arith' 2>&1 | FileCheck %s
// CHECK: error: 'arith.addi' op is left behind lowering, which has no lowering for it
func.func @f(%i: index) -> index {
  %j = arith.addi %i, %i : index
  return %j : index
}
