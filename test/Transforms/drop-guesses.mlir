// RUN: mk-opt %s --mk-drop-guesses | FileCheck %s
// REQUIRES: compiler

// Values stand in place of guesses; what only these were computed from goes, other ops stay.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[N]], %[[ONE]]
// CHECK-NEXT:    return %[[SUM]]
func.func @f(%n: index, %m: index) -> index {
  %one = arith.constant 1 : index
  %huge = arith.constant 4611686018427387904 : index
  %product = arith.muli %m, %huge : index
  %guess = arith.addi %product, %one : index
  %likely = mk.likely %n as %guess : index
  %again = mk.likely %likely as %likely : index
  %sum = arith.addi %again, %one : index
  return %sum : index
}

// In a block that nothing reaches an op may be its own operand.
// CHECK-LABEL: func.func @unreachable
func.func @unreachable(%n: index) {
  return
^bb1:
  %x = mk.likely %x as %n : index
  cf.br ^bb1
}
