// Several kernels in one file.
// REQUIRES: compiler
// RUN: not mk-opt --target=host %s 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: mk-opt --emit=tile --kernel=two %s | FileCheck %s
// RUN: not mk-opt --target=host --kernel=two --grid=4 %s 2>&1 | FileCheck %s --check-prefix=CTAS

// WHICH: kernels.mlir:[[@LINE+8]]:1: error: the file has several kernels, 'one', 'two'; say which by --kernel
// CHECK-NOT: @one
// CHECK: mk.kernel @two
// CTAS: error: roles of kernel 'two' need 5 CTAs on a grid of 4: 'a' 3, 'b' at least 2;
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @one on @mesh (in %a : memref<?xf32> [16]) {
  mk.role @a ctas(1) {}
}
mk.kernel @two on @mesh (in %a : memref<?xf32> [16]) {
  mk.role @a ctas(3) {}
  mk.role @b ctas(rest, min = 2) {}
}
