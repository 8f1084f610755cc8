// RUN: not mk-opt --target=host %s 2>&1 | FileCheck %s
// REQUIRES: compiler
// CHECK: error: the kernel has no role, so that nothing would run: write a mk.role
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (out %c : memref<8xf32> [8]) {
}
