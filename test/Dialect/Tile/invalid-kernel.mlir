// RUN: mk-opt %s -split-input-file -verify-diagnostics

// Signatures of kernels, roles, and what may stand beside them.

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has 1 dimensions, but 0 kinds for them}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = [], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has 1 dimensions, but 2 sizes for them}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], dim_sizes = array<i64: 1, 2>, arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has dimension "M" of size -1, which must not be negative}}
mk.kernel @k on @m dims(uniform M = -1) (in %a : memref<?xf32> [M]) {}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has a size for dimension "T", which is each rank's own: leave it out}}
mk.kernel @k on @m dims(rank T = 8) (in %a : memref<?xf32> [T]) {}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has 1 arguments, but an attribute lists 0: each needs a kind, a shape, a split and a type}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has a dimension of kind "local", expected "uniform" or "rank"}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["local"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has an argument of kind "tmp", expected "in", "out", "inout" or "scratch"}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["tmp"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has argument shape affine_map<(d0, d1) -> (d0)>, expected an affine map of 1 dimensions and 0 axis sizes}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0, d1) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has argument split ["gpu"], expected lists of axis names}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [["gpu"]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{uses the name 'M' for a dimension and for an argument: rename one of them}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["M"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{uses the name 'M' for a dimension and for an axis size}}
"mk.kernel"() <{sym_name = "k", size_axes = ["M"], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0)[s0] -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{has 1 dimensions and 1 arguments, but a body with 1 block arguments}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{dimension "M" must be of type index in the body, got 'i32'}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: i32, %a: memref<?xf32>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' is declared as 'memref<?xf32>', but the body has it as 'memref<?xf64>'}}
"mk.kernel"() <{sym_name = "k", size_axes = [], dim_names = ["M"], dim_kinds = ["uniform"], arg_names = ["a"], arg_kinds = ["in"], arg_shapes = [affine_map<(d0) -> (d0)>], arg_splits = [[]], arg_types = [memref<?xf32>], mesh = @m}> ({
^bb0(%M: index, %a: memref<?xf64>):
}) : () -> ()

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has type 'tensor<4xf32>', expected a memref with a rank}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : tensor<4xf32> [4]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' lies in memory space 1 : i32: leave it out, or use #mk.symmetric}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?xf32, 1 : i32> [M]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has type 'memref<?x?xf32, strided<[1, ?]>>', whose layout nobody reads: leave it out, strides are given with the memory that is attached}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?x?xf32, strided<[1, ?]>> [M, M]) {
}

// -----

mk.mesh @m (M = ? via link)

// expected-error @+1 {{has dimension 'M', and @m has an axis of that name: rename one, since sizes of both are bound by name}}
mk.kernel @k on @m dims(uniform M) (in %a : memref<?xf32> [M]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has rank 2, but a shape of 1 extent: give one for each dimension}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?x?xf32> [M]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has rank 2, but its split has 1 entry: give one list of axes for each dimension, () for one that is whole}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?x?xf32> [M, M] split [(gpu)]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' is scratch and cannot be split: there is no whole; give the extents that each rank needs}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (scratch %a : memref<?xf32> [M] split [(gpu)]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' is split twice over axis 'gpu'}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?x?xf32> [M, M] split [(gpu), (node, gpu)]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has extent -4 in dimension 0}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?xf32> [-4]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has extent 8 in dimension 1, but its type says 4}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?x4xf32> [M, 8]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{argument 'a' has extent 'T' of its own on each rank in dimension 0: say by 'split' over which axes the whole is spread}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (in %a : memref<?xf32> [T]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{unknown kind of argument 'tmp', expected in, out, inout or scratch}}
mk.kernel @k on @m sizes(gpu) dims(uniform M, rank T) (tmp %a : memref<?xf32> [M]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{unknown kind of dimension 'local', expected uniform or rank}}
mk.kernel @k on @m dims(local M) () {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{unknown kind of dimension 'M', expected uniform or rank}}
mk.kernel @k on @m dims(M, N) () {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{use of undeclared identifier; extents are integers, what dims(...) and sizes(...) name ('M', 'gpu'), their sums, and their products with integers and what sizes(...) names: a product of two dimensions is a dimension of its own}}
mk.kernel @k on @m sizes(gpu) dims(uniform M) (in %a : memref<?x?xf32> [M, Q]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic; extents are integers, what dims(...) and sizes(...) name ('M', 'N'), their sums, and their products with integers and what sizes(...) names: a product of two dimensions is a dimension of its own}}
mk.kernel @k on @m dims(uniform M, uniform N) (in %a : memref<?xf32> [M * N]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{use of undeclared identifier; extents are integers, what dims(...) and sizes(...) name (here nothing), their sums, and their products with integers and what sizes(...) names: a product of two dimensions is a dimension of its own}}
mk.kernel @k on @m (in %a : memref<?xf32> [M]) {
}

// -----

// expected-error @+1 {{'mk.kernel' op @k runs on @nowhere, which does not exist: declare mk.mesh @nowhere (...)}}
mk.kernel @k on @nowhere () {
}

// -----

func.func private @helper()
// expected-error @+1 {{'mk.kernel' op @k runs on @helper, which is no mk.mesh: declare mk.mesh @helper (...)}}
mk.kernel @k on @helper () {
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @past_the_rank_of_a_tile on @mesh () {
  mk.role @r ctas(1) {
    %t = arith.constant dense<0.0> : tensor<4x4xf32>
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{asks for dimension 2 of a tensor of rank 2; they count from 0}}
    %d = tensor.dim %t, %c2 : tensor<4x4xf32>
  }
}

// -----

func.func private @f()
// expected-error @+1 {{@k runs on @f, which is no mk.mesh}}
mk.kernel @k on @f () {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

// expected-error @+1 {{names axis 'rack', but mesh @m has axes 'node', 'gpu'}}
mk.kernel @k on @m sizes(rack) () {
}

// -----

mk.mesh @m (gpu = ? via link)

// expected-error @+1 {{names axis 'rack', but mesh @m has axis 'gpu'}}
mk.kernel @k on @m dims(uniform M) (in %a : memref<?xf32> [M] split [(rack)]) {
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.foreach' op stands beside the roles of a kernel: work is done in a mk.role or in mk.prepare}}
  mk.foreach (%i) in (%M) {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'memref.load' op has side effects and stands beside the roles of a kernel, where only pure scalar ops and declarations may: move it into a mk.role}}
  %v = memref.load %a[%c0] : memref<?xf32>
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  mk.prepare {
  }
  // expected-error @+1 {{'mk.prepare' op is the second of kernel @k: merge them}}
  mk.prepare {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  mk.role @x ctas(1) {
  }
  // expected-error @+1 {{'mk.role' op 'x' of kernel @k exists already: rename one of them}}
  mk.role @x ctas(rest) {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'x' goes on with @y, but kernel @k has no such role}}
  mk.role @x ctas(1) then @y {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.role' op 'x' never ends: its chain of 'then' is a cycle; drop one}}
  mk.role @x ctas(1) then @y {
  }
  mk.role @y ctas(1) then @x {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.role' op 'x' never ends}}
  mk.role @x ctas(1) then @x {
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-note @+1 {{helper declared here}}
  mk.role @x ctas(1) then @y {
  }
  mk.role @y ctas(1) {
    // expected-error @+1 {{of role 'y' has a static schedule, but CTAs of role 'x' help there: use schedule(ticket), or drop 'then @y'}}
    mk.foreach (%i) in (%M) {
    }
  }
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'x' takes no block arguments: use the kernel's values}}
  "mk.role"() <{sym_name = "x", ctas = #mk.ctas<1>}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

mk.mesh @m (node = ? via net, gpu = ? via link)

mk.kernel @k on @m dims(uniform M, rank T) (in %a : memref<?xf32> [M] split [(gpu)], out %b : memref<?xf32> [M]) {
  // expected-error @+1 {{'mk.prepare' op takes no block arguments: use the kernel's values}}
  "mk.prepare"() ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

func.func @f() {
  // expected-error @+1 {{'mk.role' op expects parent op 'mk.kernel'}}
  mk.role @x ctas(1) {
  }
  return
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @past_the_rank on @mesh (in %a : memref<?x?xf32> [4, 4]) {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{asks for dimension 2 of a buffer of rank 2; they count from 0}}
  %d = memref.dim %a, %c2 : memref<?x?xf32>
  mk.role @r ctas(rest) {
  }
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @nobody on @mesh () {
  // expected-error @+1 {{'push' is run beside @gemm, but kernel @nobody has no such role}}
  mk.role @push ctas(beside @gemm) {}
  mk.role @other ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @goes_on on @mesh () {
  // expected-error @+1 {{'push' is run beside @gemm, with which its CTAs begin as well: drop 'then @gemm'}}
  mk.role @push ctas(beside @gemm) then @gemm {}
  mk.role @gemm ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @of_beside on @mesh () {
  // expected-error @+1 {{'push' is run beside @send, which has no CTAs of its own: name "gemm", beside which that is run}}
  mk.role @push ctas(beside @send) {}
  mk.role @send ctas(beside @gemm) {}
  mk.role @gemm ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @into on @mesh () {
  mk.role @send ctas(beside @gemm) {}
  // expected-error @+1 {{'first' goes on with @send, which is run beside @gemm and nowhere else: drop 'then'}}
  mk.role @first ctas(1) then @send {}
  mk.role @gemm ctas(rest) {}
}

// -----

mk.mesh @mesh (gpu = ? via link)
mk.kernel @tile on @mesh (in %a : memref<?xf32> [8]) {
  %c0 = arith.constant 0 : index
  mk.role @send ctas(beside @gemm) {
    // expected-error @+1 {{takes or gives a tile in role 'send', which is run beside @gemm by a warp that holds none: give the role CTAs of its own}}
    %t = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
  }
  mk.role @gemm ctas(rest) {}
}
