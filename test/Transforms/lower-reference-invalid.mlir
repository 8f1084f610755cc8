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

func.func @reference(%a: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{op was not bufferized}}
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
