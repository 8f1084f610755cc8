// What `mk-run --selftest` runs behind its measurements: every rank gives its rows to all
// ranks, across links and networks alike, and ends when it has those of all others.

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @selftest on @mesh dims(uniform M) (
    in %x : memref<?x256xf32, #mk.symmetric> [M, 256] split [(node, gpu), ()],
    out %y : memref<?x256xf32, #mk.symmetric> [M, 256]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %columns = arith.constant 256 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %rows = memref.dim %x, %c0 : memref<?x256xf32, #mk.symmetric>
  %at = arith.muli %me, %shard : index
  %come = mk.signals(%world) : !mk.signal<?, sys, arrivals = 1>

  mk.role @give ctas(1) {
    mk.foreach_peer (%p) along node, gpu including self {
      mk.put %x[%c0, %c0][%rows, %columns] to %y[%at, %c0] on %p signal %come[%me]
          : memref<?x256xf32, #mk.symmetric> to memref<?x256xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
    }
    mk.foreach_peer (%s) along node, gpu including self {
      mk.wait %come[%s] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    }
  }
}

func.func @reference(%x: tensor<?x256xf64>) -> tensor<?x256xf64> {
  return %x : tensor<?x256xf64>
}
