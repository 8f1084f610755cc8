// Kernels of which nobody can say what they do to memory, one for each reason.

!sig = !mk.signal<1, gpu, arrivals = 200>
mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @data on @mesh dims(uniform M) (in %a : memref<?xf32> [M], in %d : memref<?xindex> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %n = memref.load %d[%c0] : memref<?xindex>
    %l = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
    mk.store %l, %c[%n] : tensor<8xf32>, memref<?xf32>
  }
}

mk.kernel @large on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %l = mk.load %a[%c0] : memref<?xf32> -> tensor<2097152xf32>
    mk.store %l, %c[%c0] : tensor<2097152xf32>, memref<?xf32>
  }
}

mk.kernel @partly on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %s = mk.signals() : !sig
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %c200 step %c1 { mk.signal %s[%c0] : !sig }
    scf.for %i = %c1 to %c200 step %c1 { mk.wait %s[%c0] ge %i : !sig }
    %l = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
    mk.store %l, %c[%c0] : tensor<8xf32>, memref<?xf32>
  }
}

mk.kernel @lower on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %M step %c1 {
      mk.foreach (%j) in (%c1) schedule(ticket) {
        %l = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
        mk.store %l, %c[%c0] : tensor<8xf32>, memref<?xf32>
      }
    }
  }
}

mk.kernel @long on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    scf.for %i = %c0 to %M step %c1 {
      %l = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
      mk.store %l, %c[%c0] : tensor<8xf32>, memref<?xf32>
    }
  }
}

mk.kernel @size on @mesh dims(uniform M) (in %a : memref<?xf32> [M], out %c : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %l = mk.load %a[%c0] : memref<?xf32> -> tensor<8xf32>
    mk.store %l, %c[%c0] : tensor<8xf32>, memref<?xf32>
  }
}
