// REQUIRES: compiler
// RUN: mk-opt --mk-lower-reference --split-input-file --verify-diagnostics %s

// expected-error @below {{the reference's argument 0 is of type 'tensor<*xf64>'; it must be a ranked tensor of f64 or integers}}
func.func @reference(%a: tensor<*xf64>) {
  return
}

// -----

// expected-error @below {{the reference must be one block of ops; use scf ops for control flow}}
func.func @reference(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %some = arith.cmpi eq, %n, %c0 : index
  %s = tensor.dim %b, %c0 : tensor<?xf64>
  cf.cond_br %some, ^bb1(%n : index), ^bb2
^bb1(%k: index):
  %more = arith.cmpi eq, %k, %s : index
  cf.cond_br %more, ^bb1(%s : index), ^bb2
^bb2:
  return %a : tensor<?xf64>
}

// -----

func.func @reference(%a: tensor<?x?xf64>, %i: tensor<?x1xi64>) -> tensor<?x?xf64> {
  // expected-error @below {{cannot be used in a reference: this op of tensor has no lowering here; write what it does as a linalg.generic, in which tensor.extract reads any element}}
  %b = tensor.gather %a[%i] gather_dims([0]) : (tensor<?x?xf64>, tensor<?x1xi64>) -> tensor<?x?xf64>
  return %b : tensor<?x?xf64>
}

// -----

func.func @reference(%a: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{cannot be used in a reference, which is written with linalg, tensor, arith, math and scf}}
  %b = "tosa.abs"(%a) : (tensor<4xf64>) -> tensor<4xf64>
  return %b : tensor<4xf64>
}

// -----

func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  %c1 = arith.constant 1 : index
  // expected-error @below {{asks for dimension 1 of a tensor of rank 1; they count from 0}}
  %n = tensor.dim %a, %c1 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  return %e : tensor<?xf64>
}

// -----

func.func private @other(tensor<?xf64>) -> tensor<?xf64>
func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  // expected-error @below {{calls @other, which has no body: write it in this file}}
  %b = call @other(%a) : (tensor<?xf64>) -> tensor<?xf64>
  return %b : tensor<?xf64>
}

// -----

func.func private @double(%a: f64) -> f64 {
  %b = arith.addf %a, %a : f64
  return %b : f64
}
func.func private @half(%a: f64) -> f64 {
  %c2 = arith.constant 2.0 : f64
  %b = arith.divf %a, %c2 : f64
  return %b : f64
}
func.func @reference(%a: tensor<?xf64>, %b: tensor<i1>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %which = tensor.extract %b[] : tensor<i1>
  %x = tensor.extract %a[%c0] : tensor<?xf64>
  %double = func.constant @double : (f64) -> f64
  %half = func.constant @half : (f64) -> f64
  %f = arith.select %which, %double, %half : (f64) -> f64
  // expected-error @below {{calls a function that is chosen when it runs; functions of a reference are inlined: choose between calls by scf.if}}
  %y = call_indirect %f(%x) : (f64) -> f64
  %c = tensor.insert %y into %a[%c0] : tensor<?xf64>
  return %c : tensor<?xf64>
}

// -----

func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the reference has a tensor of 8388608 x 8388608 x 2 elements, more than 2^46: use smaller extents}}
  %e = tensor.empty() : tensor<8388608x8388608x2xf64>
  %x = tensor.extract %e[%c0, %c0, %c0] : tensor<8388608x8388608x2xf64>
  %b = tensor.insert %x into %a[%c0] : tensor<?xf64>
  return %b : tensor<?xf64>
}

// -----

func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0] : tensor<?xf64>
  // expected-error @below {{cannot be used in a reference, which is written with linalg, tensor, arith, math and scf}}
  vector.print %x : f64
  return %a : tensor<?xf64>
}

// -----

func.func @reference(%a: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %m = memref.alloc() : memref<4x4xf64>
  // expected-error @below {{works on buffers and cannot be used in a reference; use tensors}}
  linalg.softmax dimension(1) ins(%m : memref<4x4xf64>) outs(%m : memref<4x4xf64>)
  return %a : tensor<4x4xf64>
}
