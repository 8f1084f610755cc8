// Records that one role pushes and another visits: C = X + the number of the record's block, in blocks of
// TM rows. The last blocks are pushed first, each once by whoever draws its ticket; a record is visited
// once for each part of TN columns. A record of no rows is one, too.

!tile = tensor<?x?xi32, #mk.extents<TM, TN>>
!blocks = !mk.queue<?x3xi32>
!ready = !mk.counter<?>

mk.mesh @mesh (gpu = ? via link)

mk.kernel @queue on @mesh dims(uniform M, uniform N) (
    in %x : memref<?x?xi32> [M, N],
    out %c : memref<?x?xi32> [M, N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tm = mk.param "TM" = 16
  %tn = mk.param "TN" = 32
  %blocks = arith.ceildivui %M, %tm : index
  %columns = arith.ceildivui %N, %tn : index
  %records = arith.addi %blocks, %c1 : index
  %first = mk.queue(%records) : !blocks
  %second = mk.queue(%records) : !blocks
  %visits = mk.counters(%records) : !ready

  mk.role @push ctas(1) then @add {
    mk.foreach (%i) in (%records) schedule(ticket) {
      %b = arith.subi %blocks, %i : index
      %row = arith.muli %b, %tm : index
      %left = arith.subi %M, %row : index
      %some = arith.maxsi %left, %c0 : index
      %rows = arith.minsi %some, %tm : index
      mk.push %first, (%b, %row, %rows) : !blocks
    }
  }
  // Whoever visits the last part of a block passes it on.
  mk.role @pass ctas(2) then @add {
    mk.foreach_item (%b, %row, %rows) of %first count(%records), (%n) in (%columns) : !blocks {
      %had = mk.count %visits[%b] add %c1 : !ready
      %has = arith.addi %had, %c1 : index
      %last = arith.cmpi eq, %has, %columns : index
      scf.if %last {
        mk.push %second, (%b, %row, %rows) : !blocks
      }
    }
  }
  mk.role @add ctas(rest) {
    mk.foreach_item (%b, %row, %rows) of %second count(%records), (%n) in (%columns) : !blocks {
      %column = arith.muli %n, %tn : index
      %b32 = arith.index_cast %b : index to i32
      %numbers = tensor.splat %b32[%tm, %tn] : !tile
      %t = mk.load %x[%row, %column] valid(%rows, %tn) : memref<?x?xi32> -> !tile
      %sum = arith.addi %t, %numbers : !tile
      mk.store %sum, %c[%row, %column] valid(%rows, %tn) : !tile, memref<?x?xi32>
    }
  }
}

// What it computes, with TM = 16.
func.func @reference(%x: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi32>
  %n = tensor.dim %x, %c1 : tensor<?x?xi32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xi32>) outs(%empty : tensor<?x?xi32>) {
  ^bb0(%v: i32, %old: i32):
    %row = linalg.index 0 : index
    %block = arith.divui %row, %c16 : index
    %block32 = arith.index_cast %block : index to i32
    %sum = arith.addi %v, %block32 : i32
    linalg.yield %sum : i32
  } -> tensor<?x?xi32>
  return %c : tensor<?x?xi32>
}
