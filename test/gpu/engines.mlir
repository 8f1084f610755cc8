// Copy engines gather the rows of all ranks, the own ones too, the left and the right half of their columns by a put each.
// One element of a signal gets both arrivals. CTAs store what is there, each tile for itself.

!a = memref<?x?xf32, #mk.symmetric>
!there = !mk.signal<?, sys, arrivals = 2>
!tile = tensor<8x16xf32>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @engines on @mesh dims(uniform M, uniform N) (
    in %a : !a [M, N] split [(gpu), ()],
    scratch %b : !a [M, N],
    out %c : memref<?x?xf32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %half = arith.ceildivui %N, %c2 : index
  %rows = memref.dim %a, %c0 : !a
  %at_ = arith.muli %me, %shard : index
  %at = arith.minui %at_, %M : index
  %tile_rows = arith.ceildivui %M, %c8 : index
  %tile_columns = arith.ceildivui %N, %c16 : index
  %there = mk.signals(%world) : !there

  mk.role @copy ctas(engines) {
    mk.foreach (%h) in (%c2) {
      %k = arith.muli %h, %half : index
      %left = arith.subi %N, %k : index
      %n = arith.minsi %left, %half : index
      mk.foreach_peer (%p) along gpu including self {
        mk.put %a[%c0, %k][%rows, %n] to %b[%at, %k] on %p signal %there[%me] : !a to !a, !there
      }
    }
  }
  mk.role @store ctas(rest) {
    mk.foreach (%i, %j) in (%tile_rows, %tile_columns) {
      scf.for %s = %c0 to %world step %c1 {
        mk.wait %there[%s] ge %c2 : !there
      }
      %r = arith.muli %i, %c8 : index
      %k = arith.muli %j, %c16 : index
      %x = mk.load %b[%r, %k] : !a -> !tile
      mk.store %x, %c[%r, %k] : !tile, memref<?x?xf32>
    }
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  return %a : tensor<?x?xf64>
}
