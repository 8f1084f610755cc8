// RUN: mk-opt %s --mk-assign-ctas --convert-mk-to-host --split-input-file --verify-diagnostics

mk.mesh @mesh (gpu = ? via link)
// expected-error @below {{runs on mesh @mesh, which has an axis of unknown size; bind it (mk-bind, or --bind AXIS=N)}}
mk.kernel @unbound on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {}
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
