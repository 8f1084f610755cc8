// RUN: mk-opt %s -mk-mark-single-reads --remarks=mark-single-reads -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// Loads of inputs that no other item, and no other op, reads.

mk.mesh @mesh (gpu = 1 via link)
!m = memref<?x?xbf16>
!t = tensor<64x64xbf16>

// CHECK-LABEL: mk.kernel @items
mk.kernel @items on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : !m [M, K], in %b : !m [N, K], in %c : !m [N, K], in %d : !m [N, K], in %e : !m [N, K],
    inout %f : !m [N, K], in %g : !m [N, K], in %h : !m [N, K], in %i : !m [N, K],
    in %list : memref<?xi32> [N], in %rows : !m [N, K]) {
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
        // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: a loop around it has iterations that read the same, or may (in role 'r')}}
        %p = mk.load %a[%one, %k] : !m -> !t
        // CHECK: mk.load %b[%{{.*}}] once : memref
        // expected-remark @+1 {{mk-mark-single-reads: passed: is read once in a launch: the L2 cache keeps others (in role 'r')}}
        %q = mk.load %b[%column, %k] : !m -> !t
        // All iterations read the same.
        // CHECK: mk.load %c[%{{.*}}] : memref
        // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: a loop around it has iterations that read the same, or may (in role 'r')}}
        %s = mk.load %c[%column, %c0] : !m -> !t
        // Neighbours read the same.
        // CHECK: mk.load %d[%{{.*}}] : memref
        %half = arith.divui %column, %c2 : index
        // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: a loop around it has iterations that read the same, or may (in role 'r')}}
        %u = mk.load %d[%half, %k] : !m -> !t
        // Another op reads it, too.
        // CHECK: mk.load %e[%{{.*}}] : memref
        // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: another op takes the argument, too (in role 'r')}}
        %v = mk.load %e[%column, %k] : !m -> !t
        // No input: somebody may have just written it.
        // CHECK: mk.load %f[%{{.*}}] : memref
        // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: the kernel may write it (in role 'r')}}
        %w = mk.load %f[%column, %k] : !m -> !t
        mk.yield %q : !t
      }
      // CHECK: mk.load %e[%{{.*}}] : memref
      // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: another op takes the argument, too (in role 'r')}}
      %again = mk.load %e[%column, %c0] : !m -> !t
      // CHECK: mk.load %g[%{{.*}}] valid(%{{.*}}) once : memref
      // expected-remark @+1 {{mk-mark-single-reads: passed: is read once in a launch: the L2 cache keeps others (in role 'r')}}
      %y = mk.load %g[%column, %c0] valid(%c1, %c64) : !m -> !t
      mk.store %y, %f[%column, %c0] : !t, !m
    }
    // CTAs do all of it.
    // CHECK: mk.load %h[%{{.*}}] : memref
    // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: all CTAs of the role read it, without an mk.foreach that deals it out (in role 'r')}}
    %z = mk.load %h[%c0, %c0] : !m -> !t
    // Rows are as many as are known at launch.
    mk.foreach (%m, %n) in (%M, %N) {
      // CHECK: mk.load %i[%{{.*}}] : memref
      // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: a loop around it has iterations that read the same, or may (in role 'r')}}
      %y = mk.load %i[%n, %c0] : !m -> !t
      // CHECK: mk.load %rows[%{{.*}}] rows(%{{.*}}) : memref
      // expected-remark @+1 {{mk-mark-single-reads: missed: may be read again: a list may name rows of it several times (in role 'r')}}
      %gathered = mk.load %rows[%c0, %c0] rows(%list[%c0] : memref<?xi32>) : !m -> !t
      mk.store %y, %f[%n, %c0] : !t, !m
    }
  }
}
