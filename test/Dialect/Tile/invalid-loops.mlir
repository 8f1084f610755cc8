// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Loops and folds.

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.foreach' op needs at least one dimension}}
  mk.foreach () in () {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{has 2 indices, but its bounds make 1}}
  mk.foreach (%i, %j) in (%n) {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{index 0 must be of type index, got 'i32'}}
  "mk.foreach"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: i32):
  }) : (index) -> ()
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{takes own(%first, %count), got 1 values}}
  mk.foreach (%i) in (%n) order(own = first) own(%n) {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{orders the own part by 'own = last' and must say what it is: own(%first, %count)}}
  mk.foreach (%i) in (%n) order(own = last) {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{names its own part, but its order does not use it: add order(own = first), or drop own(...)}}
  mk.foreach (%i) in (%n) order(stagger) own(%n, %n) {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{with a raster order needs two dimensions}}
  mk.foreach (%i) in (%n) order(raster = 8) {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{with longest_first = 2 needs two dimensions: the first is grouped, the last descends}}
  mk.foreach (%i) in (%n) order(longest_first = 2) {
  }
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @x ctas(1) {
    mk.foreach (%i) in (%M) {
      // expected-error @+1 {{lies in another loop and runs in order: drop its schedule, only the outermost is distributed}}
      mk.foreach (%j) in (%M) schedule(ticket) {
      }
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  mk.prepare {
    // expected-error @+1 {{cannot be split in mk.prepare: drop stream_k}}
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @x ctas(1) {
    // expected-error @+1 {{with schedule stream_k needs exactly one mk.fold directly in its body, which is what gets split; it has 0}}
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @x ctas(1) {
    %z = arith.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{with schedule stream_k splits its mk.fold, which does not say how parts are put together: add combine(...)}}
    mk.foreach (%i) in (%M) schedule(stream_k, tail = 1) {
      %r = mk.fold (%k) in (%M) iter(%c = %z) : tensor<4xf32> {
        mk.yield %c : tensor<4xf32>
      }
    }
  }
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{has 1 indices, but the words of a record and the inner bounds make 2}}
  mk.foreach_item (%b) of %q count(%n) : !mk.queue<?x2xi32> {
  }
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.prepare {
    // expected-error @+1 {{stands in mk.prepare, where nothing is pushed: move it into a mk.role}}
    mk.foreach_item (%r, %e) of %q count(%M) : !mk.queue<?x2xi32> {
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @x ctas(1) {
    mk.foreach (%i) in (%M) {
      // expected-error @+1 {{lies in another loop, but the records of a queue go to CTAs as they become free: make it the outermost loop of its role}}
      mk.foreach_item (%r, %e) of %q count(%M) : !mk.queue<?x2xi32> {
      }
    }
  }
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.foreach_peer' op needs at least one axis, as in 'along gpu'}}
  "mk.foreach_peer"() <{axes = []}> ({
  ^bb0(%p: index):
  }) : () -> ()
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{names axis 'gpu' twice}}
  mk.foreach_peer (%p) along gpu, gpu {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{has 2 indices, but its axes make 1}}
  mk.foreach_peer (%p, %r) along gpu {
  }
  return
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %q = mk.queue(%M) : !mk.queue<?x2xi32>
  mk.role @x ctas(1) {
    // expected-error @+1 {{'mk.foreach_peer' op names axis 'rack', but mesh @m has axes 'node', 'gpu'}}
    mk.foreach_peer (%p) along rack {
    }
  }
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{'mk.fold' op carries nothing: use scf.for}}
  "mk.fold"(%n) ({
  ^bb0(%k: index):
    mk.yield
  }) : (index) -> ()
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{carries tiles (tensors of static shape) and scalars, not 'memref<?xf32>'}}
  %r = mk.fold (%k) in (%n) iter(%c = %m) : memref<?xf32> {
    mk.yield %c : memref<?xf32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{mk.fold carries 1 values but lists 2 types}}
  %r = mk.fold (%k) in (%n) iter(%c = %t) : tensor<4xf32>, f32 {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{unknown reduction 'xor', expected add, mul, max, min or @function}}
  %r = mk.fold (%k) in (%n) iter(%c = %t) combine(xor) : tensor<4xf32> {
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{combines by 1 : i32, expected add, mul, max, min or @function}}
  %r = "mk.fold"(%n, %t) <{combine = 1 : i32}> ({
  ^bb0(%k: index, %c: tensor<4xf32>):
    mk.yield %c : tensor<4xf32>
  }) : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{combines parts by add, but its initial value would be counted once for each part: start from 0 and apply it after the loop}}
  %r = mk.fold (%k) in (%n) iter(%c = %z) combine(add) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{combines parts by mul, but its initial value would be counted once for each part: start from 1 and apply it after the loop}}
  %r = mk.fold (%k) in (%n) iter(%c = %z) combine(mul) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<1> : tensor<4xi32>
  // expected-error @+1 {{combines parts by add, but its initial value would be counted once for each part: start from 0 and apply it after the loop}}
  %r = mk.fold (%k) in (%n) iter(%c = %z) combine(add) : tensor<4xi32> {
    mk.yield %c : tensor<4xi32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<0> : tensor<4xi32>
  // expected-error @+1 {{combines parts by mul, but its initial value would be counted once for each part: start from 1 and apply it after the loop}}
  %r = mk.fold (%k) in (%n) iter(%c = %z) combine(mul) : tensor<4xi32> {
    mk.yield %c : tensor<4xi32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<[0.0, 1.0, 0.0, 0.0]> : tensor<4xf32>
  // expected-error @+1 {{combines parts by add, but its initial value would be counted once for each part: start from 0 and apply it after the loop}}
  %r = mk.fold (%k) in (%n) iter(%c = %z) combine(add) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %o = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{combines parts by add, but its initial value number 1 would be counted once for each part: start from 0 and apply it after the loop}}
  %r:2 = mk.fold (%k) in (%n) iter(%c = %z, %d = %o) combine(add) : tensor<4xf32>, tensor<4xf32> {
    mk.yield %c, %d : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{carries 1 values, so its body has one index and as many arguments; it has 1 arguments}}
  %r = "mk.fold"(%n, %t) ({
  ^bb0(%k: index):
    mk.yield %t : tensor<4xf32>
  }) : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{index must be of type index, got 'i32'}}
  %r = "mk.fold"(%n, %t) ({
  ^bb0(%k: i32, %c: tensor<4xf32>):
    mk.yield %t : tensor<4xf32>
  }) : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{starts value 0 with 'tensor<4xf32>', but its body has 'tensor<4xf64>'}}
  %r = "mk.fold"(%n, %t) ({
  ^bb0(%k: index, %c: tensor<4xf64>):
    mk.yield %t : tensor<4xf32>
  }) : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  %r = mk.fold (%k) in (%n) iter(%c = %t) : tensor<4xf32> {
    // expected-error @+1 {{'mk.yield' op gives ('index'), but the fold carries ('tensor<4xf32>')}}
    mk.yield %k : index
  }
  return
}

// -----

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{combines by @merge, which does not exist}}
  %r = mk.fold (%k) in (%n) iter(%c = %t) combine(@merge) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

mk.mesh @merge (gpu = 1 via link)

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{combines by @merge, which is no function}}
  %r = mk.fold (%k) in (%n) iter(%c = %t) combine(@merge) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func private @merge(tensor<4xf32>) -> tensor<4xf32>

func.func @f(%n: index, %i1: i1, %t: tensor<4xf32>, %m: memref<?xf32>, %q: !mk.queue<?x2xi32>) {
  // expected-error @+1 {{combines by @merge of type '(tensor<4xf32>) -> tensor<4xf32>', expected ('tensor<4xf32>', 'tensor<4xf32>') -> ('tensor<4xf32>'): the left tiles, then the right ones}}
  %r = mk.fold (%k) in (%n) iter(%c = %t) combine(@merge) : tensor<4xf32> {
    mk.yield %c : tensor<4xf32>
  }
  return
}

// -----

// A put that says by what kind of link it goes is looked at before the loop around it.
mk.mesh @mesh (node = 2 via net)
mk.kernel @k on @mesh dims() (in %a : memref<8xf32, #mk.symmetric> [8], scratch %b : memref<8xf32, #mk.symmetric> [8]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{'mk.foreach_peer' op names axis 'gpu', but mesh @mesh has axis 'node'}}
    mk.foreach_peer (%p) along node, gpu {
      mk.put %a[%c0][%c8] to %b[%c0] on %p via net : memref<8xf32, #mk.symmetric> to memref<8xf32, #mk.symmetric>
    }
  }
}
