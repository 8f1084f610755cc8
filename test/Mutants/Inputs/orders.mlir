// The ops that order puts and that no example needs: a strong signal behind puts, of a put and of its
// own, and a fence between two puts. Seeds of wrong kernels (scripts/mutants). Each rank doubles its
// shard of x and sends it to all ranks in two pieces, out of a buffer that the next block uses again.
// Parameter: T, elements of a block.

!tile = tensor<?xf32, #mk.extents<T>>
!ready = !mk.signal<?x?, sys, arrivals = 1>
!sym = memref<?xf32, #mk.symmetric>

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @strong_put on @mesh sizes(node, gpu) dims(uniform M) (
    in %x : memref<?xf32> [M] split [(node, gpu)],
    scratch %part : !sym [M ceildiv (node * gpu)],
    scratch %full : !sym [M],
    out %y : memref<?xf32> [M]) {
  %t = mk.param "T" = 16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %blocks = arith.ceildivui %shard, %t : index
  %ready = mk.signals(%world, %blocks) : !ready

  mk.role @send ctas(1) {
    mk.foreach (%i) in (%blocks) {
      %from, %size, %at = func.call @block(%me, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        %a = mk.load %x[%from] : memref<?xf32> -> !tile
        %b = arith.addf %a, %a : !tile
        mk.store %b, %part[%c0] : !tile, !sym
        %first = arith.ceildivui %size, %c2 : index
        %second = arith.subi %size, %first : index
        %middle = arith.addi %at, %first : index
        scf.for %p = %c0 to %world step %c1 {
          mk.put %part[%c0][%first] to %full[%at] on %p : !sym to !sym
          mk.put %part[%first][%second] to %full[%middle] on %p signal strong %ready[%me, %i]
              : !sym to !sym, !ready
        }
        mk.settle
      }
    }
  }

  mk.role @receive ctas(rest) {
    mk.foreach (%s, %i) in (%world, %blocks) {
      %from, %size, %at = func.call @block(%s, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        mk.wait %ready[%s, %i] ge %c1 : !ready
        %a = mk.load %full[%at] valid(%size) : !sym -> !tile
        mk.store %a, %y[%at] valid(%size) : !tile, memref<?xf32>
      }
    }
  }
}

mk.kernel @strong_signal on @mesh sizes(node, gpu) dims(uniform M) (
    in %x : memref<?xf32> [M] split [(node, gpu)],
    scratch %part : !sym [M ceildiv (node * gpu)],
    scratch %full : !sym [M],
    out %y : memref<?xf32> [M]) {
  %t = mk.param "T" = 16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %blocks = arith.ceildivui %shard, %t : index
  %ready = mk.signals(%world, %blocks) : !ready

  mk.role @send ctas(1) {
    mk.foreach (%i) in (%blocks) {
      %from, %size, %at = func.call @block(%me, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        %a = mk.load %x[%from] : memref<?xf32> -> !tile
        %b = arith.addf %a, %a : !tile
        mk.store %b, %part[%c0] : !tile, !sym
        %first = arith.ceildivui %size, %c2 : index
        %second = arith.subi %size, %first : index
        %middle = arith.addi %at, %first : index
        scf.for %p = %c0 to %world step %c1 {
          mk.put %part[%c0][%first] to %full[%at] on %p : !sym to !sym
          mk.put %part[%first][%second] to %full[%middle] on %p : !sym to !sym
          mk.signal strong %ready[%me, %i] on %p : !ready
        }
        mk.settle
      }
    }
  }

  mk.role @receive ctas(rest) {
    mk.foreach (%s, %i) in (%world, %blocks) {
      %from, %size, %at = func.call @block(%s, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        mk.wait %ready[%s, %i] ge %c1 : !ready
        %a = mk.load %full[%at] valid(%size) : !sym -> !tile
        mk.store %a, %y[%at] valid(%size) : !tile, memref<?xf32>
      }
    }
  }
}

mk.kernel @fenced on @mesh sizes(node, gpu) dims(uniform M) (
    in %x : memref<?xf32> [M] split [(node, gpu)],
    scratch %part : !sym [M ceildiv (node * gpu)],
    scratch %full : !sym [M],
    out %y : memref<?xf32> [M]) {
  %t = mk.param "T" = 16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %me = mk.rank
  %world = mk.size
  %shard = arith.ceildivui %M, %world : index
  %blocks = arith.ceildivui %shard, %t : index
  %ready = mk.signals(%world, %blocks) : !ready

  mk.role @send ctas(1) {
    mk.foreach (%i) in (%blocks) {
      %from, %size, %at = func.call @block(%me, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        %a = mk.load %x[%from] : memref<?xf32> -> !tile
        %b = arith.addf %a, %a : !tile
        mk.store %b, %part[%c0] : !tile, !sym
        %first = arith.ceildivui %size, %c2 : index
        %second = arith.subi %size, %first : index
        %middle = arith.addi %at, %first : index
        scf.for %p = %c0 to %world step %c1 {
          mk.put %part[%c0][%first] to %full[%at] on %p : !sym to !sym
          mk.fence
          mk.put %part[%first][%second] to %full[%middle] on %p signal %ready[%me, %i]
              : !sym to !sym, !ready
        }
        mk.settle
      }
    }
  }

  mk.role @receive ctas(rest) {
    mk.foreach (%s, %i) in (%world, %blocks) {
      %from, %size, %at = func.call @block(%s, %i, %t, %shard, %M)
          : (index, index, index, index, index) -> (index, index, index)
      %some = arith.cmpi sgt, %size, %c0 : index
      scf.if %some {
        mk.wait %ready[%s, %i] ge %c1 : !ready
        %a = mk.load %full[%at] valid(%size) : !sym -> !tile
        mk.store %a, %y[%at] valid(%size) : !tile, memref<?xf32>
      }
    }
  }
}

// Block %i of shard %s: its first element in the shard, its elements, its first one in the whole.
func.func private @block(%s: index, %i: index, %t: index, %shard: index, %M: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %begin = arith.muli %s, %shard : index
  %left = arith.subi %M, %begin : index
  %in_shard = arith.minsi %left, %shard : index
  %from = arith.muli %i, %t : index
  %rest = arith.subi %in_shard, %from : index
  %some = arith.maxsi %rest, %c0 : index
  %size = arith.minsi %some, %t : index
  %at = arith.addi %begin, %from : index
  return %from, %size, %at : index, index, index
}

func.func @strong_put_reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = arith.addf %x, %x : tensor<?xf64>
  return %y : tensor<?xf64>
}

func.func @strong_signal_reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = arith.addf %x, %x : tensor<?xf64>
  return %y : tensor<?xf64>
}

func.func @fenced_reference(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = arith.addf %x, %x : tensor<?xf64>
  return %y : tensor<?xf64>
}
