// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=product --remarks=unseen 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --input-file %t.remarks
// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=others | FileCheck %s --check-prefix=OTHERS
// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=carried | FileCheck %s --check-prefix=CARRIED
// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=few | FileCheck %s --check-prefix=FEW
// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=groups | FileCheck %s --check-prefix=GROUPS
// The pass alone, on what it has marked, without the marks.
// RUN: mk-opt %s --target=sm_90a --emit=tile --kernel=product | sed 's/ unseen \[[01]\]//' > %t.mlir
// RUN: not grep 'unseen \[' %t.mlir
// RUN: mk-opt %t.mlir -mk-mark-unseen | FileCheck %s
// The host target has no copy engine.
// RUN: mk-opt %s --target=host --emit=tile --kernel=product | FileCheck %s --check-prefix=HOST
// HOST-NOT: unseen

// Elements behind the end of an argument of which a product's stores keep nothing: rows of the left operand, rows of a right
// one that is transposed, columns of one that is not. What is summed along is seen: nothing times a NaN is a NaN.

// REMARKS: passed: comes without boxes that lie behind the end of dimension 0: nobody sees them
// REMARKS: passed: comes without boxes that lie behind the end of dimension 0: nobody sees them
// REMARKS: passed: comes without boxes that lie behind the end of dimension 1: nobody sees them
!m = memref<?x?xbf16>
!x = tensor<128x64xbf16>
!y = tensor<96x64xbf16>
!z = tensor<64x96xbf16>
!acc = tensor<128x96xf32>
!out = tensor<128x96xbf16>

mk.mesh @mesh (gpu = 1 via link)

// CHECK-LABEL: mk.kernel @product
mk.kernel @product on @mesh dims(uniform M = 900, uniform N = 500, uniform K = 100) (
    in %a : !m [M, K], in %b : !m [N, K], in %d : !m [K, N], in %e : !m [M, K], in %g : !m [M, K], out %c : !m [M, N], out %f : !m [N, N]) {
  %c8 = arith.constant 8 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %one = arith.constant 1.0 : bf16
  %zero = arith.constant dense<0.0> : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%c8, %c6) {
      %row = arith.muli %i, %c128 : index
      %column = arith.muli %j, %c96 : index
      // Of two folds, by `add` and without.
      %sum = mk.fold (%t) in (%c2) iter(%s = %zero) combine(add) : !acc {
        %k = arith.muli %t, %c64 : index
        // CHECK: mk.load %a[%{{.*}}, %{{.*}}] unseen [0] : memref
        %x = mk.load %a[%row, %k] : !m -> !x
        // CHECK: mk.load %b[%{{.*}}, %{{.*}}] unseen [0] : memref
        %y = mk.load %b[%column, %k] : !m -> !y
        %n = mk.dot %x, %y, %s transpose_b : !x, !y, !acc
        mk.yield %n : !acc
      }
      %more = mk.fold (%t) in (%c2) iter(%s = %sum) : !acc {
        %k = arith.muli %t, %c64 : index
        // Rows of another place than those that are stored.
        // CHECK: mk.load %e[%{{.*}}, %{{.*}}] : memref
        %x = mk.load %e[%column, %k] : !m -> !x
        // CHECK: mk.load %d[%{{.*}}, %{{.*}}] unseen [1] : memref
        %y = mk.load %d[%k, %column] : !m -> !z
        %n = mk.dot %x, %y, %s : !x, !z, !acc
        mk.yield %n : !acc
      }
      // What is padded is written over.
      // CHECK: mk.load %g{{.*}} pad(%{{.*}} : bf16) : memref
      %p = mk.load %g[%row, %c64] pad(%one : bf16) : !m -> !x
      %q = mk.load %d[%c64, %column] : !m -> !z
      %last = mk.dot %p, %q, %more : !x, !z, !acc
      %out = arith.truncf %last : !acc to !out
      mk.store %out, %c[%row, %column] : !out, !m
    }
  }
}

// OTHERS-LABEL: mk.kernel @others
mk.kernel @others on @mesh dims(uniform M = 1000, uniform N = 500, uniform K = 2048, uniform L) (
    in %a : !m [K, K], in %b : !m [L, K], in %d : !m [N, K], in %e : !m [M, K], out %c : !m [M, N], out %f : !m [M, M]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%c8, %c8) {
      %row = arith.muli %i, %c128 : index
      %column = arith.muli %j, %c96 : index
      // No tile reaches behind the end, nor does most of the last one; an extent that is not known.
      // OTHERS: mk.load %a[%{{.*}}, %{{.*}}] : memref
      %x = mk.load %a[%row, %c0] : !m -> !x
      // OTHERS: mk.load %b[%{{.*}}, %{{.*}}] : memref
      %y = mk.load %b[%column, %c0] : !m -> !y
      %n = mk.dot %x, %y, %zero transpose_b : !x, !y, !acc
      %out = arith.truncf %n : !acc to !out
      mk.store %out, %c[%row, %column] : !out, !m
      // More rows are stored than there are: zeros; some of the tile's columns: that is for `valid`.
      // OTHERS: mk.load %d[%{{.*}}, %{{.*}}] : memref
      %z = mk.load %d[%row, %c0] : !m -> !x
      // OTHERS: mk.load %e[%{{.*}}, %{{.*}}] : memref
      %w = mk.load %e[%column, %c0] : !m -> !y
      %o = mk.dot %z, %w, %zero transpose_b : !x, !y, !acc
      %also = arith.truncf %o : !acc to !out
      mk.store %also, %f[%row, %column] valid(%c128, %j) : !out, !m
    }
  }
}

// What a loop carries is stored at the place of another iteration, if that place is computed in the loop.
// CARRIED-LABEL: mk.kernel @carried
mk.kernel @carried on @mesh dims(uniform M = 900, uniform N = 500, uniform K = 64) (
    in %a : !m [M, K], in %b : !m [N, K], in %d : !m [M, K], in %e : !m [N, K], out %c : !m [M, N], out %f : !m [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%c8) {
      %row = arith.muli %i, %c128 : index
      %all = scf.for %j = %c0 to %c6 step %c1 iter_args(%s = %zero) -> !acc {
        %column = arith.muli %j, %c96 : index
        // CARRIED: mk.load %a[%{{.*}}, %{{.*}}] unseen [0] : memref
        %x = mk.load %a[%row, %c0] : !m -> !x
        // CARRIED: mk.load %b[%{{.*}}, %{{.*}}] : memref
        %y = mk.load %b[%column, %c0] : !m -> !y
        %n = mk.dot %x, %y, %s transpose_b : !x, !y, !acc
        %out = arith.truncf %n : !acc to !out
        mk.store %out, %c[%row, %column] : !out, !m
        scf.yield %n : !acc
      }
      %more = mk.fold (%j) in (%c6) iter(%s = %zero) : !acc {
        %column = arith.muli %j, %c96 : index
        // CARRIED: mk.load %d[%{{.*}}, %{{.*}}] unseen [0] : memref
        %x = mk.load %d[%row, %c0] : !m -> !x
        // CARRIED: mk.load %e[%{{.*}}, %{{.*}}] : memref
        %y = mk.load %e[%column, %c0] : !m -> !y
        %n = mk.dot %x, %y, %s transpose_b : !x, !y, !acc
        %out = arith.truncf %n : !acc to !out
        mk.store %out, %f[%row, %column] : !out, !m
        mk.yield %n : !acc
      }
    }
  }
}

// Rows that all fit into a tile, most of it: one box. Not where a tile may begin in front of them.
// FEW-LABEL: mk.kernel @few
mk.kernel @few on @mesh dims(uniform M = 100, uniform N = 500, uniform K = 64) (
    in %a : !m [M, K], in %b : !m [N, K], out %c : !m [M, N]) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c96 = arith.constant 96 : index
  %back = arith.constant -28 : index
  %zero = arith.constant dense<0.0> : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%j) in (%c6) {
      %column = arith.muli %j, %c96 : index
      %y = mk.load %b[%column, %c0] : !m -> !y
      // FEW: mk.load %a[%{{.*}}, %{{.*}}] unseen [0] : memref
      %x = mk.load %a[%c0, %c0] : !m -> !x
      %n = mk.dot %x, %y, %zero transpose_b : !x, !y, !acc
      %out = arith.truncf %n : !acc to !out
      mk.store %out, %c[%c0, %column] : !out, !m
      // FEW: mk.load %a[%{{.*}}, %{{.*}}] : memref
      %z = mk.load %a[%back, %c0] : !m -> !x
      %o = mk.dot %z, %y, %zero transpose_b : !x, !y, !acc
      %also = arith.truncf %o : !acc to !out
      mk.store %also, %c[%back, %column] : !out, !m
    }
  }
}

// Groups of four tiles: five are whole, three lie behind the end.
// GROUPS-LABEL: mk.kernel @groups
mk.kernel @groups on @mesh dims(uniform M = 640, uniform N = 512, uniform K = 64) (
    in %a : !m [M, K], in %b : !m [N, K], out %c : !m [M, N]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : !acc
  mk.role @r ctas(rest) {
    mk.foreach (%g, %j, %i) in (%c2, %c6, %c4) {
      %group = arith.muli %g, %c512 : index
      %own = arith.muli %i, %c128 : index
      %row = arith.addi %group, %own : index
      %column = arith.muli %j, %c96 : index
      // GROUPS: mk.load %a[%{{.*}}, %{{.*}}] unseen [0] : memref
      %x = mk.load %a[%row, %c0] : !m -> !x
      // 32 of the last 96.
      // GROUPS: mk.load %b[%{{.*}}, %{{.*}}] unseen [0] : memref
      %y = mk.load %b[%column, %c0] : !m -> !y
      %n = mk.dot %x, %y, %zero transpose_b : !x, !y, !acc
      %out = arith.truncf %n : !acc to !out
      mk.store %out, %c[%row, %column] : !out, !m
    }
  }
}
