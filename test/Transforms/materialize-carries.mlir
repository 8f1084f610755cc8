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

// What begins as the carried tile in one branch only is copied there, so that the other may write elsewhere.
// CHECK-LABEL: func @branch
// CHECK: iter_args(%[[ACC:.*]] =
// CHECK: scf.if
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ACC]])
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[SUM]]
// CHECK: scf.yield %[[COPY]]
// CHECK: else
// CHECK-NOT: linalg.copy
// CHECK: scf.yield
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

// Both products are updates in place of the tile that the other one goes to.
// CHECK-LABEL: func @swap
// CHECK: iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[A2:.*]] = linalg.matmul {{.*}} outs(%[[A]]
// CHECK: %[[B2:.*]] = linalg.matmul {{.*}} outs(%[[B]]
// CHECK: %[[B3:.*]] = linalg.copy ins(%[[B2]]
// CHECK: %[[A3:.*]] = linalg.copy ins(%[[A2]]
// CHECK: materialize_in_destination %[[B3]] in %[[A]]
// CHECK: materialize_in_destination %[[A3]] in %[[B]]
func.func @swap(%n: index, %z: tensor<4x4xf32>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %a2 = linalg.matmul ins(%z, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
    %b2 = linalg.matmul ins(%z, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %b2, %a2 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Tiles that begin as the same one have a buffer each. Branches that update the same tile need no copies.
// CHECK-LABEL: func @same
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32>
// CHECK: %[[Y:.*]] = linalg.copy ins(%[[X]]
// CHECK: iter_args(%{{.*}} = %[[X]], %{{.*}} = %[[Y]])
// CHECK: scf.if
// CHECK-NOT: linalg.copy
// CHECK: else
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @same(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>, %n: index, %go: i1) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %next = scf.if %go -> tensor<4x4xf32> {
      %a2 = linalg.matmul ins(%z, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %a2 : tensor<4x4xf32>
    } else {
      scf.yield %a : tensor<4x4xf32>
    }
    scf.yield %next, %b : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
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
