// RUN: mk-opt %s -mk-transpose-dots -mk-expand-folds -mk-sm-verify-tiles -mk-sm-split-roles -split-input-file -verify-diagnostics

// Products that are computed transposed: messages speak of tiles as they are written.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh dims(uniform K) (
    in %a : memref<?x?xbf16> [136, K], in %b : memref<?x?xbf16> [384, K], out %c : memref<136x384xf32> [136, 384]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<136x384xf32>
  mk.role @r ctas(1) {
    %acc = mk.fold (%k) in (%K) iter(%sum = %zero) : tensor<136x384xf32> {
      %x = mk.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<136x64xbf16>
      %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> tensor<384x64xbf16>
      // expected-error @+2 {{a thread of 2 warpgroups of sm_90a has 200 for them: use accumulators of at most 128 x 384}}
      // expected-note @+1 {{'tensor<136x384xf32>' takes 204}}
      %next = mk.dot %x, %y, %sum transpose_b : tensor<136x64xbf16>, tensor<384x64xbf16>, tensor<136x384xf32>
      mk.yield %next : tensor<136x384xf32>
    }
    mk.store %acc, %c[%c0, %c0] : tensor<136x384xf32>, memref<136x384xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @wide on @mesh dims(uniform K) (
    in %a : memref<?x?xbf16> [248, K], in %b : memref<?x?xbf16> [192, K], out %c : memref<248x192xf32> [248, 192]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<248x192xf32>
  mk.role @r ctas(1) {
    %acc = mk.fold (%k) in (%K) iter(%sum = %zero) : tensor<248x192xf32> {
      %x = mk.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<248x64xbf16>
      %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> tensor<192x64xbf16>
      // expected-error @+1 {{registers in one instruction of 248 rows, but the 512 threads of 3 warpgroups and a producer of sm_90a begin with 128: use accumulators of at most 200 rows, or of 128 columns}}
      %next = mk.dot %x, %y, %sum transpose_b : tensor<248x64xbf16>, tensor<192x64xbf16>, tensor<248x192xf32>
      mk.yield %next : tensor<248x192xf32>
    }
    mk.store %acc, %c[%c0, %c0] : tensor<248x192xf32>, memref<248x192xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @huge on @mesh dims(uniform K) (
    in %a : memref<?x?xbf16> [136, K], in %b : memref<?x?xbf16> [512, K], out %c : memref<136x512xf32> [136, 512]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<136x512xf32>
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of 136 x 512 elements of 'f32', 272 KiB; an SM has registers of 256 KiB}}
    %acc = mk.fold (%k) in (%K) iter(%sum = %zero) : tensor<136x512xf32> {
      %x = mk.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<136x64xbf16>
      %y = mk.load %b[%c0, %k] : memref<?x?xbf16> -> tensor<512x64xbf16>
      %next = mk.dot %x, %y, %sum transpose_b : tensor<136x64xbf16>, tensor<512x64xbf16>, tensor<136x512xf32>
      mk.yield %next : tensor<136x512xf32>
    }
    mk.store %acc, %c[%c0, %c0] : tensor<136x512xf32>, memref<136x512xf32>
  }
}
