// Rows of fourteen arguments, all of which live at once: with more than one row of 2048 elements registers do not reach.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @many on @mesh dims(uniform M, uniform N) (
    in %a0 : memref<?x?xf32> [M, N],
    in %a1 : memref<?x?xf32> [M, N],
    in %a2 : memref<?x?xf32> [M, N],
    in %a3 : memref<?x?xf32> [M, N],
    in %a4 : memref<?x?xf32> [M, N],
    in %a5 : memref<?x?xf32> [M, N],
    in %a6 : memref<?x?xf32> [M, N],
    in %a7 : memref<?x?xf32> [M, N],
    in %a8 : memref<?x?xf32> [M, N],
    in %a9 : memref<?x?xf32> [M, N],
    in %a10 : memref<?x?xf32> [M, N],
    in %a11 : memref<?x?xf32> [M, N],
    in %a12 : memref<?x?xf32> [M, N],
    in %a13 : memref<?x?xf32> [M, N],
    out %y : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %tm = mk.param "TM" = 1 in [1, 2, 4]
  mk.param "TN" = 2048
  %tiles = arith.ceildivui %M, %tm : index
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%tiles) {
      %r = arith.muli %i, %tm : index
      %x0 = mk.load %a0[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x1 = mk.load %a1[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x2 = mk.load %a2[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x3 = mk.load %a3[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x4 = mk.load %a4[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x5 = mk.load %a5[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x6 = mk.load %a6[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x7 = mk.load %a7[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x8 = mk.load %a8[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x9 = mk.load %a9[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x10 = mk.load %a10[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x11 = mk.load %a11[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x12 = mk.load %a12[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %x13 = mk.load %a13[%r, %c0] : memref<?x?xf32> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %s0 = arith.addf %x0, %x1 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s1 = arith.addf %s0, %x2 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s2 = arith.addf %s1, %x3 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s3 = arith.addf %s2, %x4 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s4 = arith.addf %s3, %x5 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s5 = arith.addf %s4, %x6 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s6 = arith.addf %s5, %x7 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s7 = arith.addf %s6, %x8 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s8 = arith.addf %s7, %x9 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s9 = arith.addf %s8, %x10 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s10 = arith.addf %s9, %x11 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s11 = arith.addf %s10, %x12 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %s12 = arith.addf %s11, %x13 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %row = mk.reduce max %s12 axis 1 : tensor<?x?xf32, #mk.extents<TM, TN>> -> tensor<?xf32, #mk.extents<TM>>
      %b = mk.broadcast %row dims [1] : tensor<?xf32, #mk.extents<TM>> -> tensor<?x?xf32, #mk.extents<TM, TN>>
      %p0 = arith.mulf %b, %x0 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q0 = arith.addf %p0, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p1 = arith.mulf %q0, %x1 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q1 = arith.addf %p1, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p2 = arith.mulf %q1, %x2 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q2 = arith.addf %p2, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p3 = arith.mulf %q2, %x3 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q3 = arith.addf %p3, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p4 = arith.mulf %q3, %x4 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q4 = arith.addf %p4, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p5 = arith.mulf %q4, %x5 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q5 = arith.addf %p5, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p6 = arith.mulf %q5, %x6 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q6 = arith.addf %p6, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p7 = arith.mulf %q6, %x7 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q7 = arith.addf %p7, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p8 = arith.mulf %q7, %x8 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q8 = arith.addf %p8, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p9 = arith.mulf %q8, %x9 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q9 = arith.addf %p9, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p10 = arith.mulf %q9, %x10 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q10 = arith.addf %p10, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p11 = arith.mulf %q10, %x11 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q11 = arith.addf %p11, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p12 = arith.mulf %q11, %x12 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q12 = arith.addf %p12, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      %p13 = arith.mulf %q12, %x13 : tensor<?x?xf32, #mk.extents<TM, TN>>
      %q13 = arith.addf %p13, %b : tensor<?x?xf32, #mk.extents<TM, TN>>
      mk.store %q13, %y[%r, %c0] : tensor<?x?xf32, #mk.extents<TM, TN>>, memref<?x?xf32>
    }
  }
}
