// RUN: mk-opt %s -mk-sm-verify-tiles -split-input-file -verify-diagnostics

// As large as all registers of an SM.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @fits on @mesh (in %a : memref<256x256xf32> [256, 256], out %c : memref<256x256xf32> [256, 256]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<256x256xf32> -> tensor<256x256xf32>
    mk.store %x, %c[%c0, %c0] : tensor<256x256xf32>, memref<256x256xf32>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh (in %a : memref<256x512xf32> [256, 512], out %c : memref<256x512xf32> [256, 512]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    // expected-error @+1 {{has a tile of 256 x 512 elements of 'f32', 512 KiB; an SM has registers of 256 KiB and less shared memory: use smaller extents}}
    %x = mk.load %a[%c0, %c0] : memref<256x512xf32> -> tensor<256x512xf32>
    mk.store %x, %c[%c0, %c0] : tensor<256x512xf32>, memref<256x512xf32>
  }
}
