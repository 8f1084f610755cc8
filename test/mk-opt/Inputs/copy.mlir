mk.mesh @mesh (node = ? via net, gpu = ? via link)
mk.kernel @copy on @mesh dims(uniform M, rank T) (
    in %a : memref<?x?xf32> [M, T] split [(), (node, gpu)],
    out %b : memref<?x?xf32> [M, T] split [(), (node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %ok = arith.cmpi sge, %M, %c16 : index
  mk.require %ok, "M must be at least 16"
  %tiles = arith.ceildivui %M, %c16 : index
  %columns = arith.ceildivui %T, %c16 : index
  mk.role @copy ctas(rest) {
    mk.foreach (%i, %j) in (%tiles, %columns) schedule(ticket) {
      %r = arith.muli %i, %c16 : index
      %c = arith.muli %j, %c16 : index
      %x = mk.load %a[%r, %c] : memref<?x?xf32> -> tensor<16x16xf32>
      mk.store %x, %b[%r, %c] : tensor<16x16xf32>, memref<?x?xf32>
    }
  }
}
func.func @reference(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  return %a : tensor<?x?xf64>
}
