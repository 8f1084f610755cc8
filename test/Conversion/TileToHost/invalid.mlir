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

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @wide on @mesh (in %a : memref<4xi128> [4], out %b : memref<4xi128, #mk.symmetric> [4]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0] : memref<4xi128> -> tensor<4xi128>
    // expected-error @below {{moves elements of type 'i128', which the host target has no memory format for; use f64, f32, f16, bf16, f8 or an integer of 8 to 64 bits}}
    mk.store %x, %b[%c0] on %c0 : tensor<4xi128>, memref<4xi128, #mk.symmetric>
  }
}

// -----

mk.mesh @mesh (gpu = 2 via link)
mk.kernel @rows on @mesh (in %a : memref<4x4x4xf32> [4, 4, 4], scratch %b : memref<4x4x4xf32, #mk.symmetric> [4, 4, 4], in %list : memref<4xi32> [4]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  mk.role @r ctas(1) {
    %rows = mk.load %list[%c0] : memref<4xi32> -> tensor<4xi32>
    // expected-error @below {{with rows copies between buffers of rank 3 and 3, the host target does it for rank 2 only yet}}
    mk.put %a[%c0, %c0, %c0][%c4, %c4, %c4] rows(%rows : tensor<4xi32>) to %b[%c0, %c0, %c0] on %c0 : memref<4x4x4xf32> to memref<4x4x4xf32, #mk.symmetric>
  }
}
