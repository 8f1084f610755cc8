// RUN: mk-opt %s --mk-bind=sizes=M=2 -verify-diagnostics

// Which dimension is asked for may be known when sizes are bound.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh dims(uniform M) (in %a : memref<?x4xf32> [M, 4]) {
  // expected-error @+1 {{'memref.dim' op asks for dimension 2 of a buffer of 2: they are numbered from 0}}
  %d = memref.dim %a, %M : memref<?x4xf32>
  %s = mk.counters(%d) : !mk.counter<?>
}
