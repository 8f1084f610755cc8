// RUN: mk-opt %s -mk-mark-single-reads | FileCheck %s

// Loads of inputs that no other item, and no other op, reads.

mk.mesh @mesh (gpu = 1 via link)
!m = memref<?x?xbf16>
!t = tensor<64x64xbf16>

// CHECK-LABEL: mk.kernel @items
mk.kernel @items on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : !m [M, K], in %b : !m [N, K], in %c : !m [N, K], in %d : !m [N, K], in %e : !m [N, K],
    inout %f : !m [N, K], in %g : !m [N, K], in %h : !m [N, K], in %i : !m [N, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %x = arith.constant dense<0.0> : !t
  mk.role @r ctas(rest) {
    mk.foreach (%one, %n, %j) in (%c1, %N, %c2) {
      %group = arith.muli %n, %c128 : index
      %of_group = arith.muli %j, %c64 : index
      %column = arith.addi %group, %of_group : index
      %all = mk.fold (%kt) in (%K) iter(%last = %x) : !t {
        %k = arith.muli %kt, %c64 : index
        // Items have a row in common.
        // CHECK: mk.load %a[%{{.*}}] : memref
        %p = mk.load %a[%one, %k] : !m -> !t
        // CHECK: mk.load %b[%{{.*}}] once : memref
        %q = mk.load %b[%column, %k] : !m -> !t
        // All iterations read the same.
        // CHECK: mk.load %c[%{{.*}}] : memref
        %s = mk.load %c[%column, %c0] : !m -> !t
        // Neighbours read the same.
        // CHECK: mk.load %d[%{{.*}}] : memref
        %half = arith.divui %column, %c2 : index
        %u = mk.load %d[%half, %k] : !m -> !t
        // Another op reads it, too.
        // CHECK: mk.load %e[%{{.*}}] : memref
        %v = mk.load %e[%column, %k] : !m -> !t
        // No input: somebody may have just written it.
        // CHECK: mk.load %f[%{{.*}}] : memref
        %w = mk.load %f[%column, %k] : !m -> !t
        mk.yield %q : !t
      }
      // CHECK: mk.load %e[%{{.*}}] : memref
      %again = mk.load %e[%column, %c0] : !m -> !t
      // CHECK: mk.load %g[%{{.*}}] valid(%{{.*}}) once : memref
      %y = mk.load %g[%column, %c0] valid(%c1, %c64) : !m -> !t
      mk.store %y, %f[%column, %c0] : !t, !m
    }
    // CTAs do all of it.
    // CHECK: mk.load %h[%{{.*}}] : memref
    %z = mk.load %h[%c0, %c0] : !m -> !t
    // Rows are as many as are known at launch.
    mk.foreach (%m, %n) in (%M, %N) {
      // CHECK: mk.load %i[%{{.*}}] : memref
      %y = mk.load %i[%n, %c0] : !m -> !t
      mk.store %y, %f[%n, %c0] : !t, !m
    }
  }
}
