// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-debuginfo | mk-opt | FileCheck %s
// RUN: mk-opt %s -emit-bytecode | mk-opt | FileCheck %s

// Every op in every form.

// CHECK: mk.mesh @mesh(rack = ? via net, "my node" = 2 via net, gpu = 4 via link)
mk.mesh @mesh (rack = ? via net, "my node" = 2 via net, gpu = 4 via link)

// CHECK: mk.kernel @empty on @mesh () {
// CHECK-NEXT: }
mk.kernel @empty on @mesh () {}

// CHECK: mk.kernel @sized on @mesh dims(uniform M = 64, uniform N, rank T) (
mk.kernel @sized on @mesh dims(uniform M = 64, uniform N, rank T) (in %x : memref<?xf32> [M]) {}

// CHECK: mk.kernel @ops on @mesh sizes(rack, gpu) dims(uniform M, rank T) (
// CHECK-NEXT: in %x : memref<?x?xf32, #mk.symmetric> [T, M ceildiv 128] split [(rack, gpu), ()],
// CHECK-NEXT: out %y : memref<?x4xf32> [(M floordiv 2) * gpu, 4],
// CHECK-NEXT: inout %z : memref<?xf32> [(M * 2) + 3] split [()],
// CHECK-NEXT: scratch %w : memref<?x?xf32, #mk.symmetric> [rack, M mod 7]) {
mk.kernel @ops on @mesh sizes(rack, gpu) dims(uniform M, rank T) (
    in %x : memref<?x?xf32, #mk.symmetric> [T, M ceildiv 128] split [(rack, gpu), ()],
    out %y : memref<?x4xf32> [(M floordiv 2) * gpu, 4],
    inout %z : memref<?xf32> [M * 2 + 3] split [()],
    scratch %w : memref<?x?xf32, #mk.symmetric> [rack, M mod 7]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %fixed = arith.constant 4 : index

  // CHECK: mk.rank{{$}}
  %me = mk.rank
  // CHECK: mk.rank(gpu = %{{.*}}, "my node" = %{{.*}})
  %peer = mk.rank(gpu = %c1, "my node" = %c0)
  // CHECK: mk.coord gpu{{$}}
  %gpu = mk.coord gpu
  // CHECK: mk.coord "my node" of %
  %its = mk.coord "my node" of %peer
  // CHECK: mk.size{{$}}
  %world = mk.size
  // CHECK: mk.size gpu
  %gpus = mk.size gpu
  // CHECK: mk.ctas @work
  %ctas = mk.ctas @work
  // CHECK: mk.likely %{{.*}} as %{{.*}} : index
  %usual = mk.likely %ctas as %world : index
  // CHECK: mk.param "SL" default(%
  %slots = mk.param "SL" default(%world)
  // CHECK: mk.param "TM" = 128 in [64, 128]
  %tm = mk.param "TM" = 128 in [64, 128]
  // CHECK: mk.param "PIECE" = 16 least 1{{$}}
  mk.param "PIECE" = 16 least 1
  // CHECK: mk.param "HD" default(%{{.*}}) least 8 in [64, 128]
  mk.param "HD" default(%world) least 8 in [64, 128]
  %ok = arith.cmpi ule, %slots, %ctas : index
  // CHECK: mk.require %{{.*}}, "too many slots"
  mk.require %ok, "too many slots"

  // CHECK: %ready = mk.signals(%{{.*}}, %{{.*}}) : !mk.signal<?x8x?, sys, arrivals = 1>
  %ready = mk.signals(%world, %M) : !mk.signal<?x8x?, sys, arrivals = 1>
  // CHECK: %part = mk.signals(%{{.*}}) arrivals(%{{.*}}) : !mk.signal<?, sys, arrivals = ?>
  %part = mk.signals(%world) arrivals(%gpus) : !mk.signal<?, sys, arrivals = ?>
  // CHECK: %local = mk.signals() : !mk.signal<2, gpu, dynamic>
  %local = mk.signals() : !mk.signal<2, gpu, dynamic>
  // Of this rank only, so that extents may differ.
  // CHECK: %own = mk.signals(%T) : !mk.signal<?, gpu, arrivals = 3>
  %own = mk.signals(%T) : !mk.signal<?, gpu, arrivals = 3>
  // CHECK: %count = mk.counters(%M) : !mk.counter<?>
  %count = mk.counters(%M) : !mk.counter<?>
  // CHECK: %queue = mk.queue(%M) : !mk.queue<?x2xi32>
  %queue = mk.queue(%M) : !mk.queue<?x2xi32>
  // CHECK: %small = mk.queue() : !mk.queue<8x1xi64>
  %small = mk.queue() : !mk.queue<8x1xi64>

  // CHECK: mk.prepare {
  mk.prepare {
    // CHECK: mk.foreach (%{{.*}}) in (%M) {
    mk.foreach (%i) in (%M) {
      mk.store %zero, %y[%i, %c0] : tensor<4x4xf32>, memref<?x4xf32>
    }
  }

  // CHECK: mk.role @first ctas(2) then @work attributes {note = "odd"} {
  mk.role @first ctas(2) then @work attributes {note = "odd"} {
  }
  // CHECK: mk.role @second ctas(share = 2.500000e-01, min = 2) {
  mk.role @second ctas(share = 0.25, min = 2) {
    // CHECK: mk.foreach (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) schedule(stream_k, tail = 1) order(raster = 4, own = spread(2)) own(%{{.*}}, %{{.*}}) {
    mk.foreach (%i, %j) in (%M, %M) schedule(stream_k, tail = 1)
        order(raster = 4, own = spread(2)) own(%c0, %c1) {
      // CHECK: mk.fold (%{{.*}}) in (%{{.*}}) iter(%{{.*}} = %{{.*}}) combine(add) : tensor<4x4xf32> {
      %r = mk.fold (%k) in (%M) iter(%c = %zero) combine(add) : tensor<4x4xf32> {
        // CHECK: mk.yield %{{.*}} : tensor<4x4xf32>
        mk.yield %c : tensor<4x4xf32>
      }
    }
  }
  // CHECK: mk.role @work ctas(rest, min = 4) {
  mk.role @work ctas(rest, min = 4) {
    // CHECK: mk.foreach {{.*}} likely(%M) schedule(ticket) order(longest_first = 2) {
    mk.foreach (%i, %j) in (%M, %M) likely(%M) schedule(ticket) order(longest_first = 2) {
      // CHECK: mk.foreach {{.*}} order(stagger) attributes {note} {
      mk.foreach (%s) in (%world) order(stagger) attributes {note} {
        // CHECK: mk.wait %ready[%{{.*}}, %{{.*}}, %{{.*}}] ge %{{.*}} : !mk.signal<?x8x?, sys, arrivals = 1>
        mk.wait %ready[%s, %c0, %j] ge %c1 : !mk.signal<?x8x?, sys, arrivals = 1>
      }
      // CHECK: mk.foreach_peer (%{{.*}}) along rack, "my node" {
      mk.foreach_peer (%p) along rack, "my node" {
        // CHECK: mk.put %x[%{{.*}}, %{{.*}}][%{{.*}}, %{{.*}}] to %w[%{{.*}}, %{{.*}}] on %{{.*}} : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
        mk.put %x[%i, %c0][%c1, %M] to %w[%i, %c0] on %p
            : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>
      }
      // CHECK: mk.foreach_peer (%{{.*}}) along gpu including self {
      mk.foreach_peer (%p) along gpu including self {
        // CHECK: mk.put {{.*}} on %{{.*}} signal strong %part[%{{.*}}] reduce(add) : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = ?>
        mk.put %x[%i, %c0][%c1, %M] to %w[%i, %c0] on %p signal strong %part[%i] reduce(add)
            : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = ?>
        // CHECK: mk.fence
        mk.fence
        // CHECK: mk.signal strong %part[%{{.*}}] on %{{.*}} add 2 : !mk.signal<?, sys, arrivals = ?>
        mk.signal strong %part[%i] on %p add 2 : !mk.signal<?, sys, arrivals = ?>
      }
      // CHECK: mk.put {{.*}} rows(%{{.*}} : tensor<2xi32>) to {{.*}} signal %part[
      %list = arith.constant dense<[1, -1]> : tensor<2xi32>
      mk.put %x[%c0, %c0][%c1, %M] rows(%list : tensor<2xi32>) to %w[%i, %c0] on %peer signal %part[%i]
          : memref<?x?xf32, #mk.symmetric> to memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = ?>
      // CHECK: mk.settle
      mk.settle
      // CHECK: mk.signal %local[%{{.*}}] : !mk.signal<2, gpu, dynamic>
      mk.signal %local[%c1] : !mk.signal<2, gpu, dynamic>
      // CHECK: mk.count %count[%{{.*}}] add %{{.*}} : !mk.counter<?>
      %before = mk.count %count[%i] add %c1 : !mk.counter<?>
      // CHECK: mk.push %queue, (%{{.*}}, %{{.*}}) : !mk.queue<?x2xi32>
      mk.push %queue, (%i, %before) : !mk.queue<?x2xi32>
      // CHECK: mk.push %small, (%{{.*}}) : !mk.queue<8x1xi64>
      mk.push %small, (%i) : !mk.queue<8x1xi64>
    }
    // CHECK: mk.foreach_item (%{{.*}}, %{{.*}}) of %queue count(%{{.*}}), (%{{.*}}) in (%{{.*}}) : !mk.queue<?x2xi32> {
    mk.foreach_item (%b, %e) of %queue count(%M), (%f) in (%fixed) : !mk.queue<?x2xi32> {
    }
    // CHECK: mk.foreach_item (%{{.*}}) of %small count(%{{.*}}) : !mk.queue<8x1xi64> {
    mk.foreach_item (%b) of %small count(%M) : !mk.queue<8x1xi64> {
    }
  }
}

// CHECK-LABEL: func.func @tiles
func.func @tiles(%i: index, %own: i1, %m: memref<?x?xf32>, %s: memref<?x?xf32, #mk.symmetric>,
                 %signal: !mk.signal<?, sys, arrivals = 4>, %pad: f32, %list: memref<?xi32>) -> tensor<8x8xf32> {
  // CHECK: mk.select %{{.*}}, %{{.*}}, %{{.*}} : memref<?x?xf32>, memref<?x?xf32, #mk.symmetric> -> memref<?x?xf32>
  %from = mk.select %own, %m, %s : memref<?x?xf32>, memref<?x?xf32, #mk.symmetric> -> memref<?x?xf32>
  // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] once unseen [0, 1] : memref<?x?xf32> -> tensor<8x4xf32>
  %marked = mk.load %from[%i, %i] once unseen [0, 1] : memref<?x?xf32> -> tensor<8x4xf32>
  // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf32> -> tensor<8x4xf32>
  %a = mk.load %from[%i, %i] : memref<?x?xf32> -> tensor<8x4xf32>
  // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] rows(%{{.*}}[%{{.*}}] : memref<?xi32>) valid(%{{.*}}, %{{.*}}) : memref<?x?xf32> -> tensor<8x4xf32>
  %gathered = mk.load %from[%i, %i] rows(%list[%i] : memref<?xi32>) valid(%i, %i) : memref<?x?xf32> -> tensor<8x4xf32>
  // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] valid(%{{.*}}) pad(%{{.*}} : f32) : memref<?x?xf32, #mk.symmetric> -> tensor<8xf32>
  %b = mk.load %s[%i, %i] valid(%i) pad(%pad : f32) : memref<?x?xf32, #mk.symmetric> -> tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  // CHECK: mk.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b precision = tf32 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>
  %d = mk.dot %a, %a, %zero transpose_b precision = tf32 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>
  %at = arith.constant dense<1.0> : tensor<4x8xf16>
  // CHECK: mk.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_a : tensor<4x8xf16>, tensor<4x8xf16>, tensor<8x8xf32>
  %d2 = mk.dot %at, %at, %d transpose_a : tensor<4x8xf16>, tensor<4x8xf16>, tensor<8x8xf32>
  %f1 = arith.constant dense<1.0> : tensor<8x4xf8E4M3FN>
  %f2 = arith.constant dense<1.0> : tensor<4x8xf8E5M2>
  // CHECK: mk.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xf8E4M3FN>, tensor<4x8xf8E5M2>, tensor<8x8xf32>
  %d3 = mk.dot %f1, %f2, %d2 : tensor<8x4xf8E4M3FN>, tensor<4x8xf8E5M2>, tensor<8x8xf32>
  // CHECK: mk.mask %{{.*}} where {{.*}}[%{{.*}}] else %{{.*}} : tensor<8x8xf32>
  %z = mk.mask %d3 where affine_set<(r, c)[d] : (r - c + d >= 0)>[%i] else %pad : tensor<8x8xf32>
  // CHECK: mk.mask %{{.*}} where #{{[a-z0-9]+}} else %{{.*}} skippable : tensor<8x8xf32>
  %z2 = mk.mask %z where affine_set<(r, c) : (r - c >= 0)> else %pad skippable : tensor<8x8xf32>
  // CHECK: mk.reduce max %{{.*}} axis 1 : tensor<8x8xf32> -> tensor<8xf32>
  %r = mk.reduce max %z2 axis 1 : tensor<8x8xf32> -> tensor<8xf32>
  // CHECK: mk.broadcast %{{.*}} dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  %w = mk.broadcast %r dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  // CHECK: mk.iota axis 1 : tensor<8x8xi32>
  %places = mk.iota axis 1 : tensor<8x8xi32>
  // CHECK: mk.transpose %{{.*}} : tensor<8x8xf32> -> tensor<8x8xf32>
  %wt = mk.transpose %w : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: mk.fold (%{{.*}}) in (%{{.*}}) iter(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) combine(@merge) : tensor<8x8xf32>, tensor<8xf32> {
  %t:2 = mk.fold (%k) in (%i) iter(%x = %w, %y = %b) combine(@merge) : tensor<8x8xf32>, tensor<8xf32> {
    // CHECK: mk.yield %{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8xf32>
    mk.yield %x, %y : tensor<8x8xf32>, tensor<8xf32>
  }
  // Integers and scalars are carried too; constants that are neutral.
  %least = arith.constant -2147483648 : i32
  // CHECK: mk.fold {{.*}} combine(max) : i32
  %top = mk.fold (%k) in (%i) iter(%x = %least) combine(max) : i32 {
    mk.yield %x : i32
  }
  // CHECK: mk.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<8x8xf32>, memref<?x?xf32>
  mk.store %t#0, %m[%i, %i] : tensor<8x8xf32>, memref<?x?xf32>
  // CHECK: mk.store {{.*}} valid(%{{.*}}) on %{{.*}} signal strong %{{.*}}[%{{.*}}] reduce(add) : tensor<8xf32>, memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 4>
  mk.store %b, %s[%i, %i] valid(%i) on %i signal strong %signal[%i] reduce(add)
      : tensor<8xf32>, memref<?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 4>
  return %z2 : tensor<8x8xf32>
}

func.func private @merge(tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
