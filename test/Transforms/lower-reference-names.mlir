// RUN: mk-opt --mk-lower-reference %s | FileCheck %s

// Functions are inlined, whatever they ask for and whatever their names.
// CHECK-LABEL: llvm.func internal @mk_reference.mk_reference_rows(
// CHECK: llvm.intr.exp(
// CHECK-NOT: llvm.call @{{.*}}reference
// CHECK: llvm.fneg
func.func private @f(%a: f64) -> f64 attributes {no_inline} {
  %b = arith.negf %a : f64
  return %b : f64
}
func.func private @mk_reference.f(%a: f64) -> f64 attributes {no_inline} {
  %b = math.exp %a : f64
  return %b : f64
}
func.func private @mk_reference_rows(%a: f64) -> f64 {
  return %a : f64
}
func.func private @malloc(%a: f64) -> f64 {
  return %a : f64
}
func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0] : tensor<?xf64>
  %y = call @mk_reference.f(%x) : (f64) -> f64
  %z = call @f(%y) : (f64) -> f64
  %v = call @mk_reference_rows(%z) {no_inline} : (f64) -> f64
  %w = call @malloc(%v) : (f64) -> f64
  %b = tensor.insert %w into %a[%c0] : tensor<?xf64>
  return %b : tensor<?xf64>
}
