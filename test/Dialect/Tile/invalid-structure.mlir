// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Meshes, declarations, attributes and types.

// expected-error @+1 {{axis 'gpu' has size 0: give a positive size, or '?' to bind it later}}
mk.mesh @m (gpu = 0 via link)

// -----

// expected-error @+1 {{an axis needs a name}}
mk.mesh @m ("" = 2 via link)

// -----

// expected-error @+1 {{axis 'gpu': unknown link kind 'wire', expected 'link' (peers load and store) or 'net' (only the transport reaches them)}}
mk.mesh @m (gpu = 2 via wire)

// -----

// expected-error @+1 {{'mk.mesh' op @m needs at least one axis, as in (gpu = ? via link)}}
"mk.mesh"() <{sym_name = "m", axes = []}> : () -> ()

// -----

// expected-error @+1 {{lists 1 : i32 as an axis, expected #mk.axis<...>}}
"mk.mesh"() <{sym_name = "m", axes = [1 : i32]}> : () -> ()

// -----

// expected-error @+1 {{@m has two axes named 'gpu': rename one of them}}
mk.mesh @m (gpu = 2 via link, gpu = ? via net)

// -----

func.func @f() {
  // expected-error @+1 {{'mk.mesh' op expects parent op 'builtin.module'}}
  mk.mesh @m (gpu = 2 via link)
  return
}

// -----

// expected-error @+1 {{a role needs at least one CTA, got 0: give a positive number, a share or 'rest'}}
func.func private @f() attributes {x = #mk.ctas<0>}

// -----

// expected-error @+1 {{a role needs at least one CTA, got -2}}
func.func private @f() attributes {x = #mk.ctas<-2>}

// -----

// expected-error @+1 {{a role's share of the grid is 1.500000e+00, it must be above 0 and at most 1}}
func.func private @f() attributes {x = #mk.ctas<share = 1.5>}

// -----

// expected-error @+1 {{a role's share of the grid is 2}}
func.func private @f() attributes {x = #mk.ctas<param P, share = 2.0>}

// -----

// expected-error @+1 {{the minimum of CTAs is 0, it must be at least 1}}
func.func private @f() attributes {x = #mk.ctas<rest, min = 0>}

// -----

// expected-error @+1 {{expected 'share', 'rest', 'beside', 'engines' or a number of CTAs}}
func.func private @f() attributes {x = #mk.ctas<all>}

// -----

// expected-error @+1 {{unknown schedule 'fast', expected static, ticket, stream_k or param NAME}}
func.func private @f() attributes {x = #mk.schedule<fast>}

// -----

// expected-error @+1 {{schedule stream_k needs the number of waves that are split: write 'stream_k, tail = 1'}}
func.func private @f() attributes {x = #mk.schedule<stream_k>}

// -----

// expected-error @+1 {{schedule ticket has no tail: only stream_k splits one}}
func.func private @f() attributes {x = #mk.schedule<ticket, tail = 1>}

// -----

// expected-error @+1 {{schedule ticket has no parts: only items of static are done by CTAs side by side}}
func.func private @f() attributes {x = #mk.schedule<ticket, parts = 2>}

// -----

// expected-error @+1 {{has parts = 9: 1 to 8 CTAs of a cluster do an item together}}
func.func private @f() attributes {x = #mk.schedule<static, parts = 9>}

// -----

// expected-error @+1 {{an order has a negative number: raster, spread and longest_first count items}}
func.func private @f() attributes {x = #mk.order<raster = -1>}

// -----

// expected-error @+1 {{own = spread(n) needs n of at least 1, other places have no n}}
func.func private @f() attributes {x = #mk.order<own = spread(0)>}

// -----

// expected-error @+1 {{own = 'middle', expected first, last or spread(n)}}
func.func private @f() attributes {x = #mk.order<own = middle>}

// -----

// expected-error @+1 {{an order says raster, own, stagger, longest_first or alternate; leave it out for row-major}}
func.func private @f() attributes {x = #mk.order<alternate = 0>}

// -----

// expected-error @+1 {{raster = 0: it counts items and is at least 1}}
func.func private @f() attributes {x = #mk.order<stagger, raster = 0>}

// -----

// expected-error @+1 {{longest_first = 0: it counts items and is at least 1}}
func.func private @f() attributes {x = #mk.order<longest_first = 0>}

// -----

// expected-error @+1 {{longest_first fixes the order by itself: drop raster, own and stagger, or longest_first}}
func.func private @f() attributes {x = #mk.order<longest_first, stagger>}

// -----

// expected-error @+1 {{expected raster, own, stagger, longest_first or alternate}}
func.func private @f() attributes {x = #mk.order<zigzag>}

// -----

// expected-error @+1 {{a signal array has extent 0: extents are positive, or '?' for operands}}
func.func private @f(!mk.signal<0, gpu, arrivals = 1>)

// -----

// expected-error @+1 {{a signal needs at least one arrival a launch, got 0: use 'arrivals = ?' for a run-time number, 'dynamic' for one not known beforehand}}
func.func private @f(!mk.signal<?, gpu, arrivals = 0>)

// -----

// expected-error @+1 {{a signal needs at least one arrival a launch, got -1}}
func.func private @f(!mk.signal<?, gpu, arrivals = -1>)

// -----

// expected-error @+1 {{unknown signal scope 'cta', expected gpu or sys}}
func.func private @f(!mk.signal<?, cta, arrivals = 1>)

// -----

// expected-error @+1 {{a counter array has extent 0}}
func.func private @f(!mk.counter<?x0>)

// -----

// expected-error @+1 {{a queue has room for 0 records: give a positive capacity, or '?' for an operand}}
func.func private @f(!mk.queue<0x2xi32>)

// -----

// expected-error @+1 {{the records of a queue need a fixed, positive number of words, as in !mk.queue<?x2xi32>}}
func.func private @f(!mk.queue<?x?xi32>)

// -----

// expected-error @+1 {{the words of a queue are i32 or i64, got 'f32'}}
func.func private @f(!mk.queue<?x2xf32>)

// -----

// expected-error @+1 {{a queue type has a capacity and a record width, as in !mk.queue<?x2xi32>; got 1 extents}}
func.func private @f(!mk.queue<?xi32>)

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{has 0 extents, but its type has 1 '?': give one for each}}
  %s = mk.signals() : !mk.signal<?, gpu, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{has type '!mk.signal<?, gpu, arrivals = ?>' and needs the number: add arrivals(%n)}}
  %s = mk.signals(%M) : !mk.signal<?, gpu, arrivals = ?>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{is given arrivals, but its type says a number: drop the operand or write 'arrivals = ?'}}
  %s = mk.signals(%M) arrivals(%M) : !mk.signal<?, gpu, arrivals = 2>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{is given arrivals, but its type says 'dynamic': drop the operand or write 'arrivals = ?'}}
  %s = mk.signals(%M) arrivals(%M) : !mk.signal<?, gpu, dynamic>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-note @+1 {{this may differ between ranks}}
mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{of scope sys needs extents that are the same on every rank: use uniform dimensions and mk.size}}
  %s = mk.signals(%T) : !mk.signal<?, sys, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// What a loop's body takes counts, too.
mk.kernel @k on @m dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{this may differ between ranks}}
  %me = mk.rank
  %n = scf.for %i = %c0 to %M step %c1 iter_args(%s = %c0) -> (index) {
    %next = arith.addi %s, %me : index
    scf.yield %next : index
  }
  // expected-error @+1 {{of scope sys needs extents}}
  %s = mk.signals(%n) : !mk.signal<?, sys, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = scf.for %i = %c0 to %M step %c1 iter_args(%s = %c0) -> (index) {
    // expected-note @+1 {{this may differ between ranks}}
    %me = mk.rank
    %next = arith.addi %s, %me : index
    scf.yield %next : index
  }
  // expected-error @+1 {{of scope sys needs extents}}
  %s = mk.signals(%n) : !mk.signal<?, sys, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-note @+1 {{this may differ between ranks}}
  %me = mk.rank
  %n = arith.addi %me, %M : index
  // expected-error @+1 {{of scope sys needs extents}}
  %s = mk.signals(%n) : !mk.signal<?, sys, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{this may differ between ranks}}
  %n = memref.dim %a, %c0 : memref<?xf32>
  // expected-error @+1 {{of scope sys needs extents}}
  %s = mk.signals(%n) : !mk.signal<?, sys, arrivals = 1>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{has 2 extents, but its type has 1 '?'}}
  %s = mk.counters(%M, %M) : !mk.counter<?x4>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{has type '!mk.queue<?x2xi32>' and needs its capacity: mk.queue(%records)}}
  %q = mk.queue() : !mk.queue<?x2xi32>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{is given a capacity, but its type has one: drop the operand or write '?' in the type}}
  %q = mk.queue(%M) : !mk.queue<8x2xi32>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{names 1 axes, but gives 2 coordinates}}
  %r = "mk.rank"(%M, %M) <{axes = ["gpu"]}> : (index, index) -> index
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{gives two coordinates along axis 'gpu'}}
  %r = mk.rank(gpu = %M, gpu = %M)
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{names axis 'rack', but mesh @m has axes 'node', 'gpu'}}
  %r = mk.rank(rack = %M)
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.coord' op names axis 'rack', but mesh @m has axes 'node', 'gpu'}}
  %r = mk.coord rack
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.size' op names axis 'rack', but mesh @m has axes 'node', 'gpu'}}
  %r = mk.size rack
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{asks for role @gemm, but kernel @k has no such role}}
  %n = mk.ctas @gemm
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'mk.signals' op expects parent op 'mk.kernel'}}
  %s = mk.signals(%n) : !mk.signal<?, gpu, arrivals = 1>
  return
}

// -----

// A role that is behind the op and has no name.
mk.mesh @mesh (gpu = 1 via link)
"mk.kernel"() <{arg_kinds = [], arg_names = [], arg_shapes = [], arg_splits = [], arg_types = [], dim_kinds = [], dim_names = [], mesh = @mesh, size_axes = [], sym_name = "k"}> ({
  %0 = "mk.ctas"() <{role = @b}> : () -> index
  // expected-error @+1 {{requires attribute 'sym_name'}}
  "mk.role"() <{ctas = #mk.ctas<2>}> ({
  ^bb0:
  }) : () -> ()
  "mk.role"() <{ctas = #mk.ctas<rest>, sym_name = "b"}> ({
  ^bb0:
  }) : () -> ()
}) : () -> ()

// -----

// What does not dominate its use has not been verified: this constant has no value.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %s = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    "mk.wait"(%s, %i, %c1) : (!mk.signal<?, gpu, arrivals = 1>, index, index) -> ()
    // expected-error @+1 {{requires attribute 'value'}}
    %i = "arith.constant"() : () -> index
  }
}

// -----

// expected-error @+1 {{alternate = 3, but items are shared by all warpgroups (1) or go to two teams in turn (2)}}
func.func private @f() attributes {x = #mk.order<alternate = 3>}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-note @+1 {{this may differ between ranks}}
mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M]) {
  // expected-error @+1 {{'TM' needs a default that is the same on every rank before the launch: use uniform dimensions, mk.size and other parameters}}
  mk.param "TM" default(%T)
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?xindex> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-note @+1 {{this is known in the launch only}}
    %x = mk.load %a[%c0] : memref<?xindex> -> tensor<4xindex>
    %n = tensor.extract %x[%c0] : tensor<4xindex>
    // expected-error @+1 {{'TM' needs a default}}
    mk.param "TM" default(%n)
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M) (in %a : memref<?xf32> [M]) {
  mk.role @r ctas(1) {
    // expected-note @+1 {{this is known in the launch only}}
    mk.foreach (%i) in (%M) {
      // expected-error @+1 {{'TM' needs a default}}
      mk.param "TM" default(%i)
    }
  }
}
