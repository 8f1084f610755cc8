mk.mesh @mesh (gpu = 1 via link)
mk.kernel @splat on @mesh dims(uniform N) (out %q : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %z = arith.constant 0.0 : f32
    %t = tensor.splat %z : tensor<4194304xf32>
    mk.store %t, %q[%c0] : tensor<4194304xf32>, memref<?xf32>
  }
}
