// A role beside another in a kernel that zeroes its output before peers are let in: each rank adds its part to the output of
// all ranks. All CTAs of the grid run mk.prepare, each once, and each runs both roles.

!a = memref<?xf32, #mk.symmetric>
!there = !mk.signal<1, sys, arrivals = ?>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @beside on @mesh dims(uniform M) (
    in %a : !a [M] split [(gpu)],
    out %c : !a [M]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %me = mk.rank
  %world = mk.size
  %tiles = arith.ceildivui %M, %c8 : index
  %shard = arith.ceildivui %M, %world : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %there = mk.signals() arrivals(%world) : !there

  mk.prepare {
    mk.foreach (%i) in (%tiles) {
      %at = arith.muli %i, %c8 : index
      mk.store %zero, %c[%at] : tensor<8xf32>, !a
    }
  }
  mk.role @push ctas(beside @wait) {
    %one = arith.constant 1 : index
    mk.foreach (%i) in (%one) {
      %n = memref.dim %a, %c0 : !a
      %at_ = arith.muli %me, %shard : index
      %at = arith.minui %at_, %M : index
      mk.foreach_peer (%p) along gpu including self {
        mk.put %a[%c0][%n] to %c[%at] on %p signal %there[%c0] reduce(add) : !a to !a, !there
      }
    }
  }
  mk.role @wait ctas(rest) {
    mk.wait %there[%c0] ge %world : !there
  }
}

// What it computes, on whole tensors.
func.func @reference(%a: tensor<?xf64>) -> tensor<?xf64> {
  return %a : tensor<?xf64>
}
