// RUN: mk-opt %s --mk-materialize-carries --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mk-opt %s --mk-materialize-carries --one-shot-bufferize --split-input-file --verify-diagnostics

// A product accumulates in place: nothing to copy.
// CHECK-LABEL: func @in_place
// CHECK-NOT: materialize_in_destination
func.func @in_place(%n: index, %a: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<4x4xf32> {
    %next = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%acc : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %next : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func @other_buffer
// CHECK-SAME: %[[N:.*]]: index
// CHECK: iter_args(%[[ACC:.*]] =
// CHECK: %[[NEXT:.*]] = linalg.map
// CHECK: %[[IN:.*]] = bufferization.materialize_in_destination %[[NEXT]] in %[[ACC]]
// CHECK: scf.yield %[[IN]]
func.func @other_buffer(%n: index, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<4xf32> {
    %empty = tensor.empty() : tensor<4xf32>
    %next = linalg.map { math.absf } ins(%acc : tensor<4xf32>) outs(%empty : tensor<4xf32>)
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A rotation: both are read before either is overwritten.
// CHECK-LABEL: func @rotate
// CHECK: iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[B2:.*]] = linalg.copy ins(%[[B]]
// CHECK: %[[A2:.*]] = linalg.copy ins(%[[A]]
// CHECK: materialize_in_destination %[[B2]] in %[[A]]
// CHECK: materialize_in_destination %[[A2]] in %[[B]]
func.func @rotate(%n: index, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The sum of a branch that starts from the carried tile goes there in both branches.
// CHECK-LABEL: func @branch
// CHECK: iter_args(%[[ACC:.*]] =
// CHECK: scf.if
// CHECK: %[[START:.*]] = linalg.copy ins(%[[ACC]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @branch(%n: index, %own: i1, %x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<4xf32> {
    %next = scf.if %own -> tensor<4xf32> {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%part = %acc) -> tensor<4xf32> {
        %empty = tensor.empty() : tensor<4xf32>
        %more = linalg.map { arith.addf } ins(%part, %x : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>)
        scf.yield %more : tensor<4xf32>
      }
      scf.yield %sum : tensor<4xf32>
    } else {
      %empty = tensor.empty() : tensor<4xf32>
      %more = linalg.map { arith.addf } ins(%acc, %x : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>)
      scf.yield %more : tensor<4xf32>
    }
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @while(%init: tensor<4xf32>, %go: i1) -> tensor<4xf32> {
  // expected-error @below {{carries a tile, which cannot be lowered for the host target yet; use scf.for or mk.fold}}
  %r = scf.while (%a = %init) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%go) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
