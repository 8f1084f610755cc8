// RUN: mk-opt %s -mk-sm-stage-loads --remarks=stage-loads -verify-diagnostics | FileCheck %s

// What an epilogue takes behind the products of an item.

!a = tensor<64x64xbf16>
!t = tensor<64x64xf32>
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @epilogues on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %r : memref<?x?xf32> [K, K], in %bias : memref<?xf32> [K],
    scratch %s : memref<?x?x?xf32, #mk.symmetric> [2, K, K], scratch %own : memref<?x?xf32> [K, K],
    inout %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !t
  %sent = mk.signals(%c64) : !mk.signal<?, sys, arrivals = 1>
  %me = mk.rank

  // CHECK-LABEL: mk.role @residual
  mk.role @residual ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      // In front of the products nothing is known to be free.
      // CHECK: mk.load %r[%{{.*}}, %{{.*}}] : memref
      %early = mk.load %r[%row, %c0] : memref<?x?xf32> -> !t
      %a = mk.load %x[%row, %c0] : memref<?x?xbf16> -> !a
      %b = mk.load %x[%c0, %row] : memref<?x?xbf16> -> !a
      %d = mk.dot %a, %b, %zero transpose_b : !a, !a, !t
      // CHECK: mk.load %r[%{{.*}}, %{{.*}}] once staged : memref
      // expected-remark @+1 {{mk-sm-stage-loads: passed: may come ahead, by the copy engine (in role 'residual')}}
      %l = mk.load %r[%row, %row] once : memref<?x?xf32> -> !t
      // CHECK: mk.load %r[%{{.*}}, %{{.*}}] : memref
      // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since the copy engine does not take it: it brings tiles of 64 rows and 128 bytes, or multiples of them (or rows of 64 to 128 bytes), from columns that are multiples of 16 bytes}}
      %off = mk.load %r[%row, %i] : memref<?x?xf32> -> !t
      // One dimension, which each thread has a part of.
      // CHECK: mk.load %bias[%{{.*}}] : memref
      %line = mk.load %bias[%row] : memref<?xf32> -> tensor<64xf32>
      %wide = mk.broadcast %line dims [0] : tensor<64xf32> -> !t
      %e = arith.addf %d, %early : !t
      %f = arith.addf %e, %l : !t
      %g = arith.addf %f, %off : !t
      %h = arith.addf %g, %wide : !t
      // CHECK: mk.load %c[%{{.*}}, %{{.*}}] : memref
      // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since this rank writes where it is, and the producer would read it ahead (in role 'residual')}}
      %before = mk.load %c[%row, %c0] : memref<?x?xf32> -> !t
      %sum = arith.addf %h, %before : !t
      mk.store %sum, %c[%row, %c0] : !t, memref<?x?xf32>
    }
  }

  // What a peer writes is waited for; what the own CTA has written before, as another role, is not.
  // CHECK-LABEL: mk.role @parts
  mk.role @parts ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %a = mk.load %x[%row, %c0] : memref<?x?xbf16> -> !a
      %b = mk.load %x[%c0, %row] : memref<?x?xbf16> -> !a
      %d = mk.dot %a, %b, %zero transpose_b : !a, !a, !t
      mk.wait %sent[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
      %total = scf.for %g = %c0 to %c2 step %c1 iter_args(%sum = %d) -> (!t) {
        // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] staged : memref
        // expected-remark @+1 {{mk-sm-stage-loads: passed: may come ahead, by the copy engine (in role 'parts')}}
        %p = mk.load %s[%g, %row, %c0] : memref<?x?x?xf32, #mk.symmetric> -> !t
        %next = arith.addf %sum, %p : !t
        scf.yield %next : !t
      }
      // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since this rank writes where it is}}
      %q = mk.load %own[%row, %c0] : memref<?x?xf32> -> !t
      %all = arith.addf %total, %q : !t
      mk.store %all, %s[%c0, %row, %c0] on %me signal %sent[%i] : !t, memref<?x?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
  }
  mk.role @first ctas(1) then @parts {
    mk.store %zero, %own[%c0, %c0] : !t, memref<?x?xf32>
  }

  // What is stored at a peer, which may be this rank, and announced by no signal that is waited for.
  // CHECK-LABEL: mk.role @silent
  mk.role @silent ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %a = mk.load %x[%row, %c0] : memref<?x?xbf16> -> !a
      %b = mk.load %x[%c0, %row] : memref<?x?xbf16> -> !a
      %d = mk.dot %a, %b, %zero transpose_b : !a, !a, !t
      // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since this rank writes where it is}}
      %p = mk.load %s[%c0, %row, %c0] : memref<?x?x?xf32, #mk.symmetric> -> !t
      %next = arith.addf %d, %p : !t
      mk.store %next, %s[%c0, %row, %c0] on %me signal %sent[%i] : !t, memref<?x?x?xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
      mk.wait %sent[%i] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    }
  }

  // What is summed goes beyond the elements of a thread.
  // CHECK-LABEL: mk.role @whole
  // CHECK-NOT: staged
  mk.role @whole ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %a = mk.load %x[%row, %c0] : memref<?x?xbf16> -> !a
      %b = mk.load %x[%c0, %row] : memref<?x?xbf16> -> !a
      %d = mk.dot %a, %b, %zero transpose_b : !a, !a, !t
      // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since an op takes more of it than the elements that each thread has}}
      %p = mk.load %r[%row, %c0] : memref<?x?xf32> -> !t
      %sums = mk.reduce add %p axis 1 : !t -> tensor<64xf32>
      %wide = mk.broadcast %sums dims [1] : tensor<64xf32> -> !t
      %next = arith.addf %d, %wide : !t
      mk.store %next, %c[%row, %c0] : !t, memref<?x?xf32>
    }
  }

  // In a loop of products slots are in use.
  // CHECK-LABEL: mk.role @masked
  // CHECK-NOT: staged
  mk.role @masked ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %total = scf.for %g = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> (!t) {
        %a = mk.load %x[%row, %c0] : memref<?x?xbf16> -> !a
        %b = mk.load %x[%c0, %row] : memref<?x?xbf16> -> !a
        %d = mk.dot %a, %b, %sum transpose_b : !a, !a, !t
        %p = mk.load %r[%row, %c0] : memref<?x?xf32> -> !t
        %next = arith.addf %d, %p : !t
        scf.yield %next : !t
      }
      mk.store %total, %c[%row, %c0] : !t, memref<?x?xf32>
    }
  }
}

// Rows of half a chunk or more come in boxes as wide as a chunk; of less most of a box would be for nothing.
// CHECK-LABEL: mk.kernel @narrow
mk.kernel @narrow on @mesh dims(uniform K) (
    in %x : memref<?x?xbf16> [K, K], in %w : memref<?x?xi8> [K, K], inout %c : memref<?x?xf32> [K, K]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !t
  mk.role @half ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %total = scf.for %g = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> (!t) {
        %k = arith.muli %g, %c64 : index
        // CHECK: mk.load %{{.*}}[%{{.*}}, %{{.*}}] staged : memref<?x?xi8>
        // expected-remark @+1 {{mk-sm-stage-loads: passed: may come ahead, by the copy engine (in role 'half')}}
        %q = mk.load %w[%row, %k] : memref<?x?xi8> -> tensor<64x64xi8>
        %a = arith.sitofp %q : tensor<64x64xi8> to !a
        %b = mk.load %x[%c0, %k] : memref<?x?xbf16> -> !a
        %d = mk.dot %a, %b, %sum transpose_b : !a, !a, !t
        scf.yield %d : !t
      }
      mk.store %total, %c[%row, %c0] : !t, memref<?x?xf32>
    }
  }
  mk.role @less ctas(1) {
    mk_sm.items (%i) round(%n) of %c64 {
      %row = arith.muli %i, %c64 : index
      %total = scf.for %g = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> (!t) {
        %k = arith.muli %g, %c64 : index
        // expected-remark @+1 {{mk-sm-stage-loads: missed: is loaded by those who use it, since the copy engine does not take it: it brings tiles of 64 rows and 128 bytes, or multiples of them (or rows of 64 to 128 bytes), from columns that are multiples of 16 bytes}}
        %q = mk.load %w[%row, %k] : memref<?x?xi8> -> tensor<64x32xi8>
        %a = arith.sitofp %q : tensor<64x32xi8> to tensor<64x32xbf16>
        %b = mk.load %x[%c0, %k] : memref<?x?xbf16> -> tensor<64x32xbf16>
        %d = mk.dot %a, %b, %sum transpose_b : tensor<64x32xbf16>, tensor<64x32xbf16>, !t
        scf.yield %d : !t
      }
      mk.store %total, %c[%row, %c0] : !t, memref<?x?xf32>
    }
  }
}

// Outside of roles nothing is known of items.
// CHECK-LABEL: func.func @helper
// CHECK-NOT: staged
func.func @helper(%r: memref<?x?xf32>, %t: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %l = mk.load %r[%c0, %c0] : memref<?x?xf32> -> tensor<64x64xf32>
  %s = arith.addf %t, %l : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}
