// A store to an index in front of its tile's dimensions, which argument `at` names: one that is not there ends the launch
// with a report on every target, unless nothing is stored. See test/Integration/Host/bounds.test.
mk.mesh @mesh (gpu = ? via link)
!tile = tensor<64x64xf32>
!rows = memref<?x?x?xf32>

mk.kernel @leading on @mesh dims(uniform L, uniform M) (
    in %at : memref<1xi32> [1], in %a : memref<?x?xf32> [M, M], out %c : !rows [L, M, M]) {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  mk.role @store ctas(1) {
    %number = memref.load %at[%c0] : memref<1xi32>
    %i = arith.index_cast %number : i32 to index
    %far = arith.addi %i, %c100 : index
    %x = mk.load %a[%c0, %c0] : memref<?x?xf32> -> !tile
    mk.foreach (%l) in (%L) {
      mk.store %x, %c[%l, %c0, %c0] : !tile, !rows
    }
    mk.store %x, %c[%i, %c0, %c0] : !tile, !rows
    // Nothing of this is in the buffer.
    mk.store %x, %c[%far, %M, %c0] : !tile, !rows
    mk.store %x, %c[%far, %c0, %c0] valid(%c0, %M) : !tile, !rows
  }
}
