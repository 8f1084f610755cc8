// RUN: mk-opt %s --mk-assign-ctas=grid=4 --mk-expand-ranks --mk-build-plan --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = ? via link)
// expected-error @below {{runs on mesh @mesh, which has an axis of unknown size; bind it (mk-bind, or --bind AXIS=N)}}
mk.kernel @unbound on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @contents on @mesh dims(uniform M) (in %a : memref<?x4xf32> [M, 4]) {
  // expected-error @below {{feeds the size of a signal, counter or queue, or a requirement, but depends on the contents of an argument; only dimensions, mesh and extents of arguments are known before a launch}}
  %n = memref.dim %a, %M : memref<?x4xf32>
  %s = mk.counters(%n) : !mk.counter<?>
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @below {{need}}
mk.kernel @grid on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(5) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @one on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}
// expected-error @below {{is the second kernel of the module; a package has one, choose it with --kernel}}
mk.kernel @two on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// expected-error @below {{argument 'a' has extent 'M floordiv (gpu + -1)' in dimension 0, whose divisor is no number above 0: divide by one}}
mk.kernel @divides on @mesh sizes(gpu) dims(uniform M) (in %a : memref<?xf32> [M floordiv (gpu - 1)]) {
  mk.role @r ctas(1) {}
}
