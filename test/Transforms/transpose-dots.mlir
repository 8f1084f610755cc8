// RUN: mk-opt %s -split-input-file -mk-transpose-dots -verify-diagnostics --remarks=transpose-dots | FileCheck %s

// A fold carries the sum transposed; the columns of the result are rows again behind it.
mk.mesh @mesh (gpu = 1 via link)
// CHECK-LABEL: mk.kernel @few
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK: %[[SUM:.*]] = mk.fold (%{{.*}}) in (%{{.*}}) iter(%[[CARRIED:.*]] = %[[ZERO]]) combine(add) : tensor<64x16xf32> {
// CHECK: %[[X:.*]] = mk.load %{{.*}} -> tensor<16x128xbf16>
// CHECK: %[[Y:.*]] = mk.load %{{.*}} -> tensor<64x128xbf16>
// CHECK: %[[NEXT:.*]] = mk.dot %[[Y]], %[[X]], %[[CARRIED]] transpose_b swapped
// CHECK: mk.yield %[[NEXT]] : tensor<64x16xf32>
// CHECK: %[[T:.*]] = mk.transpose %[[SUM]] : tensor<64x16xf32> -> tensor<16x64xf32>
// CHECK: arith.truncf %[[T]] : tensor<16x64xf32> to tensor<16x64xbf16>
mk.kernel @few on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K], out %c : memref<?x?xbf16> [M, N]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  mk.role @gemm ctas(1) {
    %acc = mk.fold (%k) in (%K) iter(%sum = %zero) combine(add) : tensor<16x64xf32> {
      %x = mk.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<16x128xbf16>
      %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> tensor<64x128xbf16>
      // expected-remark @+1 {{mk-transpose-dots: passed: computes 16 rows as columns (in role 'gemm')}}
      %next = mk.dot %x, %y, %sum transpose_b : tensor<16x128xbf16>, tensor<64x128xbf16>, tensor<16x64xf32>
      mk.yield %next : tensor<16x64xf32>
    }
    %out = arith.truncf %acc : tensor<16x64xf32> to tensor<16x64xbf16>
    mk.store %out, %c[%c0, %c0] : tensor<16x64xbf16>, memref<?x?xbf16>
  }
}

// What is made of a product in the fold follows: rows that are spread along columns are spread along rows.
// CHECK-LABEL: mk.kernel @scaled
// CHECK: mk.fold {{.*}} : tensor<128x8xf32> {
// CHECK: %[[P:.*]] = mk.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_a swapped : tensor<64x128xbf16>, tensor<64x8xbf16>, tensor<128x8xf32>
// CHECK: %[[S:.*]] = mk.broadcast %{{.*}} dims [0] : tensor<8xf32> -> tensor<128x8xf32>
// CHECK: %[[M:.*]] = arith.mulf %[[P]], %[[S]] : tensor<128x8xf32>
// CHECK: %[[N:.*]] = arith.addf %{{.*}}, %[[M]] : tensor<128x8xf32>
// CHECK: mk.yield %[[N]] : tensor<128x8xf32>
// CHECK: mk.transpose
// CHECK-NOT: mk.transpose
mk.kernel @scaled on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [K, M], in %b : memref<?x?xbf16> [K, N], in %s : memref<?xf32> [M],
    out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 0.0 : f32
  %zero = tensor.splat %0 : tensor<8x128xf32>
  mk.role @gemm ctas(1) {
    %acc = mk.fold (%k) in (%K) iter(%sum = %zero) combine(add) : tensor<8x128xf32> {
      %x = mk.load %a[%k, %c0] : memref<?x?xbf16> -> tensor<64x8xbf16>
      %y = mk.load %b[%k, %c0] : memref<?x?xbf16> -> tensor<64x128xbf16>
      %r = mk.load %s[%c0] : memref<?xf32> -> tensor<8xf32>
      %scales = mk.broadcast %r dims [1] : tensor<8xf32> -> tensor<8x128xf32>
      // expected-remark @+1 {{mk-transpose-dots: passed: computes 8 rows as columns (in role 'gemm')}}
      %p = mk.dot %x, %y, %zero transpose_a : tensor<64x8xbf16>, tensor<64x128xbf16>, tensor<8x128xf32>
      %scaled = arith.mulf %p, %scales : tensor<8x128xf32>
      %next = arith.addf %sum, %scaled : tensor<8x128xf32>
      mk.yield %next : tensor<8x128xf32>
    }
    mk.store %acc, %c[%c0, %c0] : tensor<8x128xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// Rows that fill the unit, columns that do not either, operands that are computed, sums that begin with what differs.
// CHECK-LABEL: mk.kernel @others
// CHECK-NOT: mk.transpose
mk.kernel @others on @mesh dims(uniform M) (in %a : memref<?x?xbf16> [M, M], in %z : memref<?x?xf32> [M, M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %odd = arith.constant dense<0.0> : tensor<16x24xf32>
  %few = arith.constant dense<0.0> : tensor<16x64xf32>
  mk.role @gemm ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<16x64xbf16>
    %y = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %w = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<24x64xbf16>
    %p = mk.dot %y, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    mk.store %p, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    %q = mk.dot %x, %w, %odd transpose_b : tensor<16x64xbf16>, tensor<24x64xbf16>, tensor<16x24xf32>
    mk.store %q, %c[%c0, %c0] : tensor<16x24xf32>, memref<?x?xf32>
    %twice = arith.addf %x, %x : tensor<16x64xbf16>
    // expected-remark @+1 {{mk-transpose-dots: missed: leaves 16 rows as they are: an operand is not loaded, or the sum is neither the same everywhere nor carried by loops that begin so, yield this product and combine by no function (in role 'gemm')}}
    %r = mk.dot %twice, %y, %few transpose_b : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    mk.store %r, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
    %begin = mk.load %z[%c0, %c0] : memref<?x?xf32> -> tensor<16x64xf32>
    // expected-remark @+1 {{mk-transpose-dots: missed: leaves 16 rows as they are}}
    %s = mk.dot %x, %y, %begin transpose_b : tensor<16x64xbf16>, tensor<64x64xbf16>, tensor<16x64xf32>
    mk.store %s, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
// A transposition that is there already stays; a fold that combines by a function, too, and one whose sum is read apart.
// CHECK-LABEL: mk.kernel @folds
// CHECK: mk.fold {{.*}} : tensor<64x16xf32>
// CHECK: mk.dot {{.*}} precision = tf32 : tensor<64x32xf32>, tensor<16x32xf32>, tensor<64x16xf32>
// CHECK: mk.fold {{.*}} : tensor<64x64xf32>
// CHECK-NEXT: mk.transpose
// CHECK-NEXT: mk.yield
// CHECK: mk.fold {{.*}} combine(@add) : tensor<16x64xf32>
// CHECK: mk.fold {{.*}} : tensor<16x64xf32>, tensor<16x64xf32>
// CHECK-NOT: mk.transpose
// CHECK: mk.yield
func.func private @add(%a: tensor<16x64xf32>, %b: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c = arith.addf %a, %b : tensor<16x64xf32>
  return %c : tensor<16x64xf32>
}
mk.kernel @folds on @mesh dims(uniform M) (in %a : memref<?x?xf32> [M, M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %few = arith.constant dense<0.0> : tensor<16x64xf32>
  %0 = arith.constant 0.0 : f32
  %square = tensor.splat %0 : tensor<64x64xf32>
  mk.role @gemm ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<16x32xf32>
    %y = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<64x32xf32>
    %p = mk.fold (%k) in (%M) iter(%sum = %few) combine(add) : tensor<16x64xf32> {
      // expected-remark @+1 {{mk-transpose-dots: passed: computes 16 rows as columns}}
      %next = mk.dot %x, %y, %sum transpose_b precision = tf32 : tensor<16x32xf32>, tensor<64x32xf32>, tensor<16x64xf32>
      mk.yield %next : tensor<16x64xf32>
    }
    mk.store %p, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
    %q = mk.fold (%k) in (%M) iter(%s = %square) : tensor<64x64xf32> {
      %t = mk.transpose %s : tensor<64x64xf32> -> tensor<64x64xf32>
      mk.yield %t : tensor<64x64xf32>
    }
    mk.store %q, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    %r = mk.fold (%k) in (%M) iter(%sum = %few) combine(@add) : tensor<16x64xf32> {
      // expected-remark @+1 {{mk-transpose-dots: missed: leaves 16 rows as they are}}
      %next = mk.dot %x, %y, %sum transpose_b precision = tf32 : tensor<16x32xf32>, tensor<64x32xf32>, tensor<16x64xf32>
      mk.yield %next : tensor<16x64xf32>
    }
    mk.store %r, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
    %u, %v = mk.fold (%k) in (%M) iter(%sum = %few, %other = %few) : tensor<16x64xf32>, tensor<16x64xf32> {
      // expected-remark @+1 {{mk-transpose-dots: missed: leaves 16 rows as they are}}
      %next = mk.dot %x, %y, %sum transpose_b precision = tf32 : tensor<16x32xf32>, tensor<64x32xf32>, tensor<16x64xf32>
      mk.yield %other, %next : tensor<16x64xf32>, tensor<16x64xf32>
    }
    mk.store %u, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
    mk.store %v, %c[%c0, %c0] : tensor<16x64xf32>, memref<?x?xf32>
  }
}

// -----

// Loops around the fold carry the sum transposed, too, where each hands on what the one inside it leaves.
// CHECK-LABEL: mk.kernel @nested
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x72xf32>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[OUTER:.*]] = %[[ZERO]]) -> (tensor<128x72xf32>) {
// CHECK: %[[IN:.*]] = mk.fold {{.*}} iter(%[[MIDDLE:.*]] = %[[OUTER]]) combine(add) : tensor<128x72xf32> {
// CHECK: mk.fold {{.*}} iter(%{{.*}} = %[[MIDDLE]]) combine(add) : tensor<128x72xf32> {
// CHECK: mk.dot {{.*}} : tensor<128x64xbf16>, tensor<72x64xbf16>, tensor<128x72xf32>
// CHECK-NOT: mk.transpose
// CHECK: scf.yield %[[IN]] : tensor<128x72xf32>
// CHECK: mk.transpose %[[SUM]] : tensor<128x72xf32> -> tensor<72x128xf32>
// CHECK-NOT: mk.transpose
// Also a loop around a loop.
// CHECK: scf.for {{.*}} -> (tensor<128x72xf32>) {
// CHECK-NEXT: scf.for {{.*}} -> (tensor<128x72xf32>) {
// CHECK: mk.transpose
// What is read in between stays as it is.
// CHECK: scf.for {{.*}} -> (tensor<72x128xf32>) {
// CHECK: mk.dot {{.*}} : tensor<72x64xbf16>, tensor<128x64xbf16>, tensor<72x128xf32>
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nested on @mesh dims(uniform M) (in %a : memref<?x?xbf16> [M, M], out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<72x128xf32>
  mk.role @gemm ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<72x64xbf16>
    %y = mk.load %a[%c0, %c0] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %sum = scf.for %i = %c0 to %M step %c1 iter_args(%outer = %zero) -> (tensor<72x128xf32>) {
      %after = mk.fold (%j) in (%M) iter(%middle = %outer) combine(add) : tensor<72x128xf32> {
        %inner = mk.fold (%k) in (%M) iter(%s = %middle) combine(add) : tensor<72x128xf32> {
          // expected-remark @+1 {{mk-transpose-dots: passed: computes 72 rows as columns}}
          %p = mk.dot %x, %y, %s transpose_b : tensor<72x64xbf16>, tensor<128x64xbf16>, tensor<72x128xf32>
          mk.yield %p : tensor<72x128xf32>
        }
        mk.yield %inner : tensor<72x128xf32>
      }
      scf.yield %after : tensor<72x128xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<72x128xf32>, memref<?x?xf32>
    %both = scf.for %i = %c0 to %M step %c1 iter_args(%outer = %zero) -> (tensor<72x128xf32>) {
      %after = scf.for %j = %c0 to %M step %c1 iter_args(%middle = %outer) -> (tensor<72x128xf32>) {
        %inner = mk.fold (%k) in (%M) iter(%s = %middle) combine(add) : tensor<72x128xf32> {
          // expected-remark @+1 {{mk-transpose-dots: passed: computes 72 rows as columns}}
          %p = mk.dot %x, %y, %s transpose_b : tensor<72x64xbf16>, tensor<128x64xbf16>, tensor<72x128xf32>
          mk.yield %p : tensor<72x128xf32>
        }
        scf.yield %inner : tensor<72x128xf32>
      }
      scf.yield %after : tensor<72x128xf32>
    }
    mk.store %both, %c[%c0, %c0] : tensor<72x128xf32>, memref<?x?xf32>
    %other = scf.for %i = %c0 to %M step %c1 iter_args(%outer = %zero) -> (tensor<72x128xf32>) {
      %after = mk.fold (%j) in (%M) iter(%s = %outer) combine(add) : tensor<72x128xf32> {
        // expected-remark @+1 {{mk-transpose-dots: missed: leaves 72 rows as they are}}
        %p = mk.dot %x, %y, %s transpose_b : tensor<72x64xbf16>, tensor<128x64xbf16>, tensor<72x128xf32>
        mk.yield %p : tensor<72x128xf32>
      }
      %twice = arith.addf %after, %after : tensor<72x128xf32>
      scf.yield %twice : tensor<72x128xf32>
    }
    mk.store %other, %c[%c0, %c0] : tensor<72x128xf32>, memref<?x?xf32>
  }
}

// -----

// What places choose of two spread tiles is chosen by the other places: rows and columns of the set change places.
// CHECK: #[[SET:.*]] = affine_set<(d0, d1)[s0] : (-d0 + s0 - 1 >= 0)>
// CHECK-LABEL: mk.kernel @chosen
// CHECK: mk.fold (%{{.*}}) in (%M) iter(%{{.*}} = %{{.*}}) : tensor<128x16xf32> {
// CHECK: %[[MASK:.*]] = mk.mask %{{.*}} where #[[SET]][%c64] else %{{.*}} : tensor<128x16xi1>
// CHECK: %[[LEFT:.*]] = mk.broadcast %{{.*}} dims [0] : tensor<16xf32> -> tensor<128x16xf32>
// CHECK: %[[RIGHT:.*]] = mk.broadcast %{{.*}} dims [0] : tensor<16xf32> -> tensor<128x16xf32>
// CHECK: arith.select %[[MASK]], %[[LEFT]], %[[RIGHT]]
// CHECK-NOT: mk.transpose
// CHECK: mk.yield
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @chosen on @mesh dims(uniform M) (in %a : memref<?x?xf32> [M, M], in %s : memref<?xf32> [M],
                                            out %c : memref<?x?xf32> [M, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %few = arith.constant dense<0.0> : tensor<16x128xf32>
  %all = arith.constant dense<true> : tensor<16x128xi1>
  %false = arith.constant false
  mk.role @gemm ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<16x32xf32>
    %y = mk.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<128x32xf32>
    %l = mk.load %s[%c0] : memref<?xf32> -> tensor<16xf32>
    %r = mk.load %s[%c1] : memref<?xf32> -> tensor<16xf32>
    %sum = mk.fold (%k) in (%M) iter(%before = %few) : tensor<16x128xf32> {
      %left = mk.broadcast %l dims [1] : tensor<16xf32> -> tensor<16x128xf32>
      %right = mk.broadcast %r dims [1] : tensor<16xf32> -> tensor<16x128xf32>
      %is = mk.mask %all where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%c64] else %false : tensor<16x128xi1>
      %scales = arith.select %is, %left, %right : tensor<16x128xi1>, tensor<16x128xf32>
      // expected-remark @+1 {{mk-transpose-dots: passed: computes 16 rows as columns}}
      %p = mk.dot %x, %y, %few transpose_b precision = tf32 : tensor<16x32xf32>, tensor<128x32xf32>, tensor<16x128xf32>
      %scaled = arith.mulf %p, %scales : tensor<16x128xf32>
      %next = arith.addf %before, %scaled : tensor<16x128xf32>
      mk.yield %next : tensor<16x128xf32>
    }
    mk.store %sum, %c[%c0, %c0] : tensor<16x128xf32>, memref<?x?xf32>
  }
}
